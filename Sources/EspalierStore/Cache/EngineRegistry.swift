import Foundation
import Synchronization

/// The engines of this process, by directory: the second open of a cache is the same engine.
final class EngineRegistry: Sendable {
    static let shared = EngineRegistry()

    private enum Slot {
        case open(Engine)
        case closing(Engine)
    }

    private let slots = Mutex<[CacheDirectory.Identity: Slot]>([:])
    /// Held while an engine is made, so that two threads do not make two.
    private let opening = NSLock()

    func open(path: String, configuration: Configuration, create: Bool) throws(CacheError) -> Engine
    {
        while true {
            if let engine = try openNow(path: path, configuration: configuration, create: create) {
                return engine
            }
            Thread.sleep(forTimeInterval: 0.001)
        }
    }

    /// Nil while the directory's last engine is still closing, which other directories must not
    /// wait for.
    private func openNow(path: String, configuration: Configuration, create: Bool)
        throws(CacheError) -> Engine?
    {
        opening.lock()
        defer { opening.unlock() }
        guard !path.isEmpty else {
            throw CacheError(.badDirectory, "The path is empty. Name a directory.")
        }
        let directory = CacheDirectory(path)
        let identity = try directory.prepare(create: create)
        if let slot = slots.withLock({ $0[identity] }) {
            switch slot {
            case .open(let engine):
                guard engine.configuration == configuration else {
                    throw CacheError(
                        .alreadyOpen,
                        "The cache is open in this process with another configuration. Open it once, or with the same one."
                    )
                }
                engine.retain()
                return engine
            case .closing:
                return nil
            }
        }
        guard create || directory.holdsCache else {
            throw CacheError(.noCache, "There is no cache at this path.")
        }
        do {
            let engine = try Engine(directory, identity, configuration, create: create)
            engine.retain()
            slots.withLock { $0[identity] = .open(engine) }
            return engine
        } catch {
            throw CacheError(error)
        }
    }

    /// Lets go of `engine` if `isLast` says that nobody uses it any more.
    func isLast(_ engine: Engine, _ isLast: () -> Bool) -> Bool {
        opening.lock()
        defer { opening.unlock() }
        guard isLast() else { return false }
        slots.withLock { $0[engine.identity] = .closing(engine) }
        return true
    }

    func closed(_ engine: Engine) {
        slots.withLock { $0[engine.identity] = nil }
    }
}

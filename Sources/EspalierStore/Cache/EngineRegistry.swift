import EspalierLMDB
import Foundation
import Synchronization

/// The engines of this process, by directory. A second open of a cache returns the same engine.
final class EngineRegistry: Sendable {
    static let shared = EngineRegistry()

    private enum Slot {
        case open(Engine)
        case closing(Engine)
    }

    /// The number of forks is part of the key: a child does not use the engines of its parent.
    private struct Key: Hashable {
        let directory: CacheDirectory.Identity
        let fork = ForkCounter.current

        init(_ directory: CacheDirectory.Identity) { self.directory = directory }
    }

    // protected by itself
    private let slots = Mutex<[Key: Slot]>([:])

    /// Held while an engine is created, so that two threads do not create two.
    private let opening = NSLock()

    func open(path: String, configuration: Configuration, create: Bool) throws(CacheError) -> Engine
    {
        let deadline = ContinuousClock.now + configuration.writeDeadline
        while true {
            if let engine = try openNow(path: path, configuration: configuration, create: create) {
                return engine
            }
            guard !AppCodeScope.isInside || ContinuousClock.now < deadline else {
                throw CacheError(
                    .waitInsideRead,
                    """
                    The cache is closing, and waits for the code that opens it. Open it outside of \
                    transactions, and of code that encodes or decodes models.
                    """)
            }
            Thread.sleep(forTimeInterval: 0.001)
        }
    }

    /// Returns the engine of the directory; nil while its last engine is closing, for which callers
    /// that open other directories must not wait.
    private func openNow(path: String, configuration: Configuration, create: Bool)
        throws(CacheError) -> Engine?
    {
        opening.lock()
        defer { opening.unlock() }
        guard !path.isEmpty else {
            throw CacheError(.badDirectory, "The path is empty. Name a directory.")
        }
        // The system would take the path to end before it.
        guard !path.utf8.contains(0) else {
            throw CacheError(.badDirectory, "The path contains the character NUL.")
        }
        let directory = CacheDirectory(path)
        let identity = try directory.prepare(
            create: create, isReadOnly: configuration.isReadOnly)
        let key = Key(identity)
        switch slots.withLock({ $0[key] }) {
        case .open(let engine):
            guard engine.configuration == configuration else {
                throw CacheError(
                    .alreadyOpen,
                    """
                    The cache is open in this process with another configuration. Open it once, or \
                    with the same configuration.
                    """)
            }
            engine.retain()
            return engine
        case .closing: return nil
        case nil: break
        }
        guard create || directory.holdsCache else { throw .noCache }
        try directory.requireNoOtherFiles()
        // The first look starts the count, before an engine notes it.
        ForkCounter.start()
        do {
            let engine = try Engine(directory, identity, configuration, create: create)
            engine.retain()
            slots.withLock { $0[key] = .open(engine) }
            return engine
        } catch {
            throw CacheError(error)
        }
    }

    /// Marks `engine` as closing if `isUnused` returns true, and returns that.
    func markAsClosing(_ engine: Engine, _ isUnused: () -> Bool) -> Bool {
        opening.lock()
        defer { opening.unlock() }
        guard isUnused() else { return false }
        slots.withLock { $0[Key(engine.identity)] = .closing(engine) }
        return true
    }

    /// Lists `engine` under another directory, which has taken the place of its own.
    ///
    /// - Throws: `directoryGone` if another engine uses that directory.
    func move(_ engine: Engine, to identity: CacheDirectory.Identity) throws(CacheError) {
        // A writer calls this. No thread waits for a writer while it holds `opening`.
        opening.lock()
        defer { opening.unlock() }
        let old = engine.identity
        guard identity != old else { return }
        let isFree = slots.withLock { slots in
            guard slots[Key(identity)] == nil else { return false }
            slots[Key(identity)] = slots.removeValue(forKey: Key(old))
            return true
        }
        guard isFree else { throw .directoryGone(cause: nil) }
        engine.identity = identity
    }

    /// Forgets `engine`, which is closed.
    func remove(_ engine: Engine) {
        slots.withLock { $0[Key(engine.identity)] = nil }
    }
}

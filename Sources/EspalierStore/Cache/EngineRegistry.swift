import EspalierLMDB
import Foundation
import Synchronization

/// The engines of this process, by directory. A second open of a cache returns the same engine.
final class EngineRegistry: Sendable {
    static let shared = EngineRegistry()

    private enum Slot {
        /// A thread makes the engine.
        case opening
        case open(Engine)
        case closing(Engine)
    }

    /// The number of forks is part of the key: a child does not use the engines of its parent.
    private struct Key: Hashable {
        let directory: FileIdentity
        let fork = ForkCounter.current

        init(_ directory: FileIdentity) { self.directory = directory }
    }

    /// Held for moments only. Opening a cache may take seconds, and threads that open or close
    /// other caches must not wait for it.
    private let slots = Mutex<[Key: Slot]>([:])

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
                    Another thread opens or closes the cache, and may wait for the code that opens \
                    it here. Open it outside of transactions, and of code that encodes or decodes \
                    models.
                    """)
            }
            Thread.sleep(forTimeInterval: 0.001)
        }
    }

    /// Returns the engine of the directory; nil while another thread makes it, or while its last
    /// engine is closing.
    private func openNow(path: String, configuration: Configuration, create: Bool)
        throws(CacheError) -> Engine?
    {
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
        // The first look starts the count, before an engine notes it.
        ForkCounter.start()
        let (known, isMine) = try slots.withLock { slots throws(CacheError) in
            switch slots[key] {
            case .open(let engine):
                guard engine.configuration == configuration else {
                    throw CacheError(
                        .alreadyOpen,
                        """
                        The cache is open in this process with another configuration. Open it \
                        once, or with the same configuration.
                        """)
                }
                engine.retain()
                return (engine as Engine?, false)
            case .opening, .closing: return (nil, false)
            case nil:
                slots[key] = .opening
                return (nil, true)
            }
        }
        guard isMine else { return known }
        do {
            guard create || directory.holdsCache else { throw CacheError.noCache }
            try directory.requireNoOtherFiles()
            let engine = try Engine(directory, identity, configuration, create: create)
            engine.retain()
            slots.withLock { $0[key] = .open(engine) }
            return engine
        } catch {
            slots.withLock { $0[key] = nil }
            throw CacheError(error)
        }
    }

    /// Marks `engine` as closing if `isUnused` returns true, and returns that.
    func markAsClosing(_ engine: Engine, _ isUnused: () -> Bool) -> Bool {
        slots.withLock { slots in
            guard isUnused() else { return false }
            slots[Key(engine.identity)] = .closing(engine)
            return true
        }
    }

    /// Lists `engine` under another directory, which has taken the place of its own.
    ///
    /// - Throws: `directoryGone` if another engine uses that directory.
    func move(_ engine: Engine, to identity: FileIdentity) throws(CacheError) {
        try slots.withLock { slots throws(CacheError) in
            let old = engine.identity
            guard identity != old else { return }
            guard slots[Key(identity)] == nil else { throw .directoryGone(cause: nil) }
            slots[Key(identity)] = slots.removeValue(forKey: Key(old))
            engine.identity = identity
        }
    }

    /// The number of engines that are being made, for tests.
    var openingCount: Int {
        slots.withLock { slots in
            slots.values.count { if case .opening = $0 { true } else { false } }
        }
    }

    /// Forgets `engine`, which is closed.
    func remove(_ engine: Engine) {
        slots.withLock { $0[Key(engine.identity)] = nil }
    }
}

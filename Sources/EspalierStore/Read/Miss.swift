public import EspalierRecords
import Foundation
import Synchronization

/// A read that missed: what it asked for, and the reason.
///
/// ```swift
/// cache.observeMisses { miss in
///     if case .notFound = miss.reason { return }
///     log("\(miss.type) \(miss.identifier): \(miss.reason)")
/// }
/// ```
///
/// Identifiers are users' data, and the details of a reason may contain values: consider both
/// before they leave the device.
public struct Miss: Sendable, Hashable {
    /// The type that the read asked for, as ``CacheStatistics`` names it; for a collection, the
    /// type of its elements.
    public var type: String
    /// Whether the read asked for a node, a key or a collection.
    public var nameSpace: NameSpace
    /// The identifier or the key that the read asked for.
    public var identifier: String
    /// Why the read missed.
    public var reason: MissReason

    /// Creates a miss.
    ///
    /// - Parameters:
    ///   - type: The name of the type that the read asked for.
    ///   - nameSpace: Whether the read asked for a node, a key or a collection.
    ///   - identifier: The identifier or the key.
    ///   - reason: Why the read missed.
    public init(type: String, nameSpace: NameSpace, identifier: String, reason: MissReason) {
        self.type = type
        self.nameSpace = nameSpace
        self.identifier = identifier
        self.reason = reason
    }
}

/// An observer of misses that is registered with a cache.
///
/// ```swift
/// let observation = cache.observeMisses { log("\($0.identifier): \($0.reason)") }
/// defer { observation.cancel() }
/// ```
///
/// The observer stays when this object is deallocated. It goes with ``cancel()``, or when the cache
/// is closed. Safe from every thread.
public final class MissObservation: Sendable {
    private let observers: MissObservers
    private let key: Int

    init(_ key: Int, of observers: MissObservers) {
        self.key = key
        self.observers = observers
    }

    /// Removes the observer. Reads that begin from now on do not call it; a read that another
    /// thread has begun still may. Further calls do nothing.
    public func cancel() { observers.remove(key) }
}

/// The observers of misses.
///
/// Safe from every thread. Observers run on the thread of the read, in the order in which they were
/// added, without a lock. A miss without observers costs a load; a hit costs nothing.
final class MissObservers: Sendable {
    private typealias Observer = (key: Int, body: @Sendable (Miss) -> Void)

    private struct State {
        var lastKey = 0
        var observers: [Observer] = []
        var isFinished = false
    }

    // protected by `state`
    private let state = Mutex(State())

    // atomic; changes under `state`
    private let count = Atomic<Int>(0)

    /// Adds an observer and returns the key that removes it.
    func add(_ body: @escaping @Sendable (Miss) -> Void) -> Int {
        state.withLock { state in
            state.lastKey += 1
            guard !state.isFinished else { return state.lastKey }
            state.observers.append((state.lastKey, body))
            count.store(state.observers.count, ordering: .relaxed)
            return state.lastKey
        }
    }

    func remove(_ key: Int) { removeAll { $0.key == key } }

    /// Removes all observers, and ignores later ones.
    func finish() {
        state.withLock { $0.isFinished = true }
        removeAll { _ in true }
    }

    private func removeAll(where isRemoved: (Observer) -> Bool) {
        // Objects that an observer retains may be deallocated with it and call this object: the
        // observers must outlive the lock.
        let removed = state.withLock { state in
            let removed = state.observers.filter(isRemoved)
            state.observers.removeAll(where: isRemoved)
            count.store(state.observers.count, ordering: .relaxed)
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    /// Calls the observers with a miss, unless an observer's own read missed: it would call itself
    /// for ever.
    func notify(_ miss: @autoclosure () -> Miss) {
        guard count.load(ordering: .relaxed) > 0, !AppCodeScope.isObserving else { return }
        let bodies = state.withLock { $0.observers.map(\.body) }
        let miss = miss()
        AppCodeScope.run(observing: true) {
            for body in bodies { body(miss) }
        }
    }
}

extension NormalizedCache {
    /// Calls `observer` for every miss from now on: of all reads of this cache in this process,
    /// through every `NormalizedCache` object over it.
    ///
    /// ```swift
    /// cache.observeMisses { miss in
    ///     if case .notFound = miss.reason { return }
    ///     log("\(miss.type) \(miss.identifier): \(miss.reason)")
    /// }
    /// ```
    ///
    /// The observer stays until the observation is cancelled or the last object over the cache is
    /// closed. Let it refer to the cache weakly; otherwise the cache stays open after its last
    /// other reference is gone. Reads of a closed cache do not call it.
    ///
    /// The cache calls the observer on the thread of the read, after the read and before the read
    /// returns; several threads may call it at once. The cache holds no lock and, except for reads
    /// that a model's initialiser makes, no snapshot during the call. So the observer may read and
    /// submit writes. It can't wait for a write, which would fail with `waitInsideRead`; so its
    /// reads should use ``Consistency/snapshot``. Misses of its own reads are counted, but do not
    /// call it.
    ///
    /// - Parameter observer: The function to call.
    /// - Returns: The observation, with which the observer can be removed.
    /// - Complexity: O(1). Hits cost nothing more; a miss takes as much longer as the observer
    ///   takes.
    @discardableResult
    public func observeMisses(_ observer: @escaping @Sendable (Miss) -> Void) -> MissObservation {
        let observers = engine.missObservers
        // No observer has the key 0.
        return MissObservation(isClosed ? 0 : observers.add(observer), of: observers)
    }
}

#if DEBUG
/// Tells a programmer that a type was read with an identifier that it never has: by a message on
/// standard error in debug builds, once for each type.
enum PrefixCheck {
    private static let told = Mutex<Set<ObjectIdentifier>>([])

    static func check(_ identifier: String, of type: Any.Type) {
        guard let message = message(identifier, type) else { return }
        guard told.withLock({ $0.insert(ObjectIdentifier(type)).inserted }) else { return }
        FileHandle.standardError.write(Data((message + "\n").utf8))
    }

    /// Returns nil if the identifier may be one of the type's.
    static func message(_ identifier: String, _ type: Any.Type) -> String? {
        guard let node = type as? any NodeModel.Type,
            !identifier.utf8.starts(with: node.identifierPrefix.utf8)
        else { return nil }
        return """
            Espalier: \(type) was read with an identifier that does not begin with \
            '\(node.identifierPrefix)', so the read misses. Use read(\(type).self, id:).
            """
    }
}
#endif

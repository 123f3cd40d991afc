/// An observer of misses that was registered with `observeMisses`, to be taken out again.
///
/// ```swift
/// let observation = cache.observeMisses { log("\($0.identifier): \($0.reason)") }
/// defer { observation.cancel() }
/// ```
///
/// Letting go of it changes nothing: the observer stays until `cancel()`, or until the cache is
/// closed.
///
/// Threading: safe from every thread. Cost: a few words. Errors: none.
public final class MissObservation: Sendable {
    private let observers: MissObservers
    private let key: Int

    init(_ key: Int, of observers: MissObservers) {
        self.key = key
        self.observers = observers
    }

    /// Reads that begin from here on are not told of; one that is under way on another thread still
    /// may be. Cancelling twice is cancelling once.
    public func cancel() { observers.remove(key) }
}

extension NormalizedCache {
    /// Calls `observer` for every miss from now on: of all reads of this cache in this process,
    /// through whichever object, whatever was read and how.
    ///
    ///     cache.observeMisses { miss in
    ///         if case .notFound = miss.reason { return }
    ///         log("\(miss.type) \(miss.identifier): \(miss.reason)")
    ///     }
    ///
    /// It is called on the thread of the read, when that is over and before its outcome is
    /// returned; several threads may call it at once. No lock is held and, but for a read that a
    /// model's initialiser makes, no snapshot is open, so it may read, and submit writes. It can't
    /// wait for a write, which fails with `.waitInsideRead`: read with `.snapshot` there. Misses of
    /// its own reads are counted, but it is not told of them.
    ///
    /// A hit costs nothing, a miss what the observer does: the read takes that much longer. It
    /// stays until the observation is cancelled or the cache is closed by all who have it open;
    /// reads of a closed cache are not told of. Let it refer to the cache weakly, or the cache is
    /// not closed by letting go of it.
    @discardableResult
    public func observeMisses(_ observer: @escaping @Sendable (Miss) -> Void) -> MissObservation {
        let observers = engine.missObservers
        // No observer has this key.
        return MissObservation(isClosed ? 0 : observers.add(observer), of: observers)
    }
}

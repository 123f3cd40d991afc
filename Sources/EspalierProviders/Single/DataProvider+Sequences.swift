import EspalierModels

extension DataProvider {
    /// What is shown, now and after each change. Whoever is slow gets the latest and misses what
    /// was between. Each call begins a sequence of its own, which ends with the provider.
    ///
    /// ```swift
    /// for await person in provider.values { title = person?.name }
    /// ```
    public var values: AsyncStream<T?> {
        subscribers.subscribe(first: model, buffering: .bufferingNewest(1)) { $0.data }
    }

    /// Each change from now on, the provider's own included. None is left out, however slowly they
    /// are taken.
    public var changes: AsyncStream<DataChange<T>> {
        subscribers.subscribe(buffering: .unbounded) { $0 }
    }
}

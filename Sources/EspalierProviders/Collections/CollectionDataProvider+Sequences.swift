import EspalierModels

/// A change of a collection, for whoever follows one.
public struct CollectionDataChange<T: Sendable>: Sendable {
    /// What was shown before.
    public let previous: [T]
    /// What is shown now.
    public let data: [T]
    /// The steps to it.
    public let change: CollectionChange
    public let origin: ChangeOrigin
    /// What was passed along with the change.
    public let context: (any Sendable)?

    /// The change for whoever goes by differences. Its elements are those before and after.
    public var difference: CollectionDifference<T> { change.difference(from: previous, to: data) }
}

extension CollectionDataProvider {
    /// What is shown, now and after each change. Whoever is slow gets the latest and misses what
    /// was between. Each call begins a sequence of its own, which ends with the provider.
    public var values: AsyncStream<[T]> {
        subscribers.subscribe(first: shown, buffering: .bufferingNewest(1)) { $0.data }
    }

    /// Each change from now on, the provider's own included. None is left out, however slowly they
    /// are taken.
    ///
    /// ```swift
    /// for await change in messages.changes where change.origin != .own { animate(change.change) }
    /// ```
    public var changes: AsyncStream<CollectionDataChange<T>> {
        subscribers.subscribe(buffering: .unbounded) { $0 }
    }
}

extension CollectionDataProvider: @MainActor RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
}

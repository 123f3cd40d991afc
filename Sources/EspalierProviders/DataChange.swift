/// The origin of a change of a provider's data.
public enum ChangeOrigin: Sendable, Hashable {
    /// A function of the provider itself.
    case own
    /// A fetch: from the cache, or from another provider of the same collection.
    case cache
    /// The network, which has answered a fetch with a policy.
    case network
    /// Another provider of the same collection, which edited it.
    case sibling
    /// A model that was updated or deleted elsewhere.
    case update
}

/// A change of a data provider's model.
public struct DataChange<T: Sendable>: Sendable {
    /// The model that was shown before; `nil` if there was none.
    public let previous: T?
    /// The model that is shown now; `nil` if there is none.
    public let data: T?
    /// The identifiers of the nodes in the shown tree that changed.
    ///
    /// For an update: the nodes that were replaced or deleted, and those above them. For a change
    /// of the provider's own, a fetch, and a model that the provider waited for: the root before
    /// and after, because the tree was replaced as a whole and nothing was compared.
    public let changedIdentifiers: Set<String>
    /// The origin of the change.
    public let origin: ChangeOrigin
    /// The context of the change.
    public let context: (any Sendable)?
}

/// A change of a collection.
public struct CollectionDataChange<T: Sendable>: Sendable {
    /// The elements that were shown before.
    public let previous: [T]
    /// The elements that are shown now.
    public let data: [T]
    /// The steps from `previous` to `data`.
    public let change: CollectionChange
    /// The identifiers of the nodes that changed.
    ///
    /// For updates of elements: the nodes that were replaced or deleted, and those above them. For
    /// an edit: the elements that it removed and inserted; for a move, the element. Empty for a
    /// reset and for `replaceData`: any element may have changed.
    public let changedIdentifiers: Set<String>
    /// The origin of the change.
    public let origin: ChangeOrigin
    /// The context of the change.
    public let context: (any Sendable)?

    /// The change as a difference from `previous` to `data`.
    ///
    /// - Complexity: O(*n* + *m* · *s*), where *n* and *m* are the lengths before and after, and
    ///   *s* is the number of steps.
    public var difference: CollectionDifference<T> { change.difference(from: previous, to: data) }
}

/// The asynchronous sequences that follow a provider. Each subscriber has a sequence of its own.
@MainActor
final class Subscribers<Element: Sendable> {
    private var latest = 0
    private var continuations: [Int: @Sendable (Element?) -> Void] = [:]

    nonisolated init() {}

    isolated deinit {
        for send in continuations.values { send(nil) }
    }

    var isEmpty: Bool { continuations.isEmpty }

    /// Returns a sequence of `first`, and of the elements that are sent from now on, transformed.
    func subscribe<Output: Sendable>(
        first: Output? = nil, buffering: AsyncStream<Output>.Continuation.BufferingPolicy,
        _ transform: @escaping @Sendable (Element) -> Output
    ) -> AsyncStream<Output> {
        let (stream, continuation) = AsyncStream<Output>.makeStream(bufferingPolicy: buffering)
        latest += 1
        let number = latest
        if let first { continuation.yield(first) }
        continuations[number] = { element in
            if let element { continuation.yield(transform(element)) } else { continuation.finish() }
        }
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in self?.continuations[number] = nil }
        }
        return stream
    }

    func send(_ element: Element) {
        for send in continuations.values { send(element) }
    }
}

/// The asynchronous sequences that follow a collection.
@MainActor
final class CollectionSubscribers<T: Sendable> {
    private let subscribers = Subscribers<CollectionDataChange<T>>()
    /// The elements after the last change that was sent; empty without subscribers.
    private var published: [T] = []

    nonisolated init() {}

    /// Returns a sequence of the changes from now on, transformed.
    ///
    /// - Parameters:
    ///   - shown: The elements that are shown now.
    ///   - first: The first element of the sequence, if it begins with one.
    func subscribe<Output: Sendable>(
        _ shown: [T], first: Output? = nil,
        buffering: AsyncStream<Output>.Continuation.BufferingPolicy,
        _ transform: @escaping @Sendable (CollectionDataChange<T>) -> Output
    ) -> AsyncStream<Output> {
        if subscribers.isEmpty { published = shown }
        return subscribers.subscribe(first: first, buffering: buffering, transform)
    }

    func send(
        _ shown: @autoclosure () -> [T], _ change: CollectionChange,
        _ identifiers: @autoclosure () -> Set<String>, _ origin: ChangeOrigin,
        _ context: (any Sendable)?
    ) {
        guard !subscribers.isEmpty else { return published = [] }
        let previous = published
        published = shown()
        subscribers.send(
            CollectionDataChange(
                previous: previous, data: published, change: change,
                changedIdentifiers: identifiers(), origin: origin, context: context))
    }
}

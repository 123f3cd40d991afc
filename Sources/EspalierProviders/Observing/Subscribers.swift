/// Who follows a provider by an asynchronous sequence. Everyone has a sequence of their own.
@MainActor
final class Subscribers<Element: Sendable> {
    private var latest = 0
    private var continuations: [Int: @Sendable (Element?) -> Void] = [:]

    nonisolated init() {}

    isolated deinit {
        for send in continuations.values { send(nil) }
    }

    var isEmpty: Bool { continuations.isEmpty }

    /// The elements as `transform` makes them of what is sent, `first` before them.
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

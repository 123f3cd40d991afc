/// Who waits for answers of the cache.
actor Answers {
    private var waiting: [Int: Task<Void, Never>] = [:]
    private var latest = 0

    /// Runs `body` with the answer, whenever it comes; returns at once.
    func wait<Value: Sendable>(
        for answer: AsyncStream<Value>, _ body: @escaping @Sendable (Value) async -> Void
    ) {
        latest += 1
        let number = latest
        waiting[number] = Task {
            for await value in answer {
                await body(value)
                break
            }
            waiting[number] = nil
        }
    }

    /// Returns when everyone who waits now has been answered.
    func flush() async {
        for task in Array(waiting.values) { await task.value }
    }
}

/// An answer to come: the first one given counts, and if the last who could give one forgets to, there is a substitute.
final class Answer<Value: Sendable>: Sendable {
    let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation
    private let substitute: Value

    init(unless substitute: Value) {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        self.substitute = substitute
    }

    deinit { give(substitute) }

    func give(_ value: Value) {
        continuation.yield(value)
        continuation.finish()
    }
}

import EspalierModels
import EspalierTestSupport
import Synchronization
import Testing

@Suite("One request for all callers", .timeLimit(.minutes(1)))
struct SingleFlightTests {
    private let flights = SingleFlight()
    private let key = SingleFlight.Key(.model, Int.self, "1")

    /// A caller who has joined when the function returns.
    private func caller(
        _ network: StepNetwork<Int>, _ key: SingleFlight.Key? = nil, isKept: Bool = false
    ) -> Task<Int, any Error> {
        let passage = flights.join(key ?? self.key, isKept: isKept) { _ in try await network.ask() }
        return Task { try await passage.value }
    }

    /// Waits until no request is left.
    private func end() async { while flights.count > 0 { await Task.yield() } }

    @Test("A hundred callers at once are one request, and the next caller is another one")
    func hundred() async throws {
        let network = StepNetwork<Int>()
        let callers = (0..<100).map { _ in caller(network) }
        await network.calls.reaches(1)
        #expect(flights.passageCount(key) == 100 && flights.isUnderWay(key))
        network.answer(1, with: .success(42))
        for caller in callers { #expect(try await caller.value == 42) }
        #expect(network.calls.count == 1)
        await end()
        let failing = (0..<3).map { _ in caller(network) }
        await network.calls.reaches(2)
        network.answer(2, with: .failure(NetworkFailure()))
        for caller in failing {
            await #expect(throws: NetworkFailure()) { try await caller.value }
        }
        #expect(network.calls.count == 2)
    }

    @Test("Other types, kinds and identifiers are other requests, and one that hangs blocks none")
    func keys() async throws {
        let hanging = StepNetwork<Int>()
        let stuck = caller(hanging)
        await hanging.calls.reaches(1)
        for (value, key) in [
            SingleFlight.Key(.model, Int.self, "2"), SingleFlight.Key(.model, String.self, "1"),
            SingleFlight.Key(.collection, Int.self, "1"), SingleFlight.Key(.refetch, Int.self, "1"),
        ].enumerated() {
            #expect(try await caller(StepNetwork([.success(value)]), key).value == value)
        }
        // One string for Swift, and two identifiers.
        let composed = SingleFlight.Key(.model, Int.self, "\u{E9}")
        #expect(composed != SingleFlight.Key(.model, Int.self, "e\u{301}"))
        #expect(flights.isUnderWay(key))
        stuck.cancel()
        await #expect(throws: CancellationError.self) { try await stuck.value }
        await end()
    }

    @Test("A caller who is cancelled leaves at once, and the request goes on for the others")
    func oneLeaves() async throws {
        let network = StepNetwork<Int>()
        let first = caller(network)
        let others = (0..<9).map { _ in caller(network) }
        await network.calls.reaches(1)
        // The first one has begun the request, and owns it no more than the others do.
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(flights.passageCount(key) == 9 && network.cancellations.count == 0)
        network.answer(1, with: .success(7))
        for other in others { #expect(try await other.value == 7) }
        #expect(network.cancellations.count == 0 && network.calls.count == 1)
    }

    @Test("The last caller who leaves cancels the request, and nobody joins it any more")
    func lastLeaves() async throws {
        let network = StepNetwork<Int>(ignoresCancellation: true)
        let callers = (0..<10).map { _ in caller(network) }
        await network.calls.reaches(1)
        for caller in callers { caller.cancel() }
        for caller in callers {
            await #expect(throws: CancellationError.self) { try await caller.value }
        }
        await network.cancellations.reaches(1)
        // The cancelled request never ends; a new caller gets another one and does not wait for it.
        #expect(!flights.isUnderWay(key) && flights.count == 1)
        let next = caller(network)
        await network.calls.reaches(2)
        network.answer(2, with: .success(3))
        #expect(try await next.value == 3)
        network.answer(1, with: .success(1))
        await end()
    }

    @Test("A place that is released without waiting leaves, too")
    func released() async throws {
        let network = StepNetwork<Int>()
        var passage: Passage<Int>? = flights.join(key) { _ in try await network.ask() }
        #expect(passage != nil)
        await network.calls.reaches(1)
        passage = nil
        await network.cancellations.reaches(1)
        await end()
    }

    @Test("An answer waits for a caller who awaits it late")
    func late() async throws {
        let passage = flights.join(key) { _ in 5 }
        await end()
        #expect(try await passage.value == 5)
    }

    @Test("A request that is kept goes on without callers, and those who come join it")
    func kept() async throws {
        let network = StepNetwork<Int>()
        let first = caller(network)
        await network.calls.reaches(1)
        flights.keep(key) { _ in try await network.ask() }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(flights.isUnderWay(key) && flights.passageCount(key) == 0)
        let second = caller(network)
        network.answer(1, with: .success(9))
        #expect(try await second.value == 9)
        #expect(network.cancellations.count == 0 && network.calls.count == 1)
        await end()
    }

    @Test("Cancelling all requests ends those who wait, whatever keeps them")
    func cancelAll() async throws {
        let network = StepNetwork<Int>()
        let callers = (0..<3).map { _ in caller(network, isKept: true) }
        await network.calls.reaches(1)
        flights.cancelAll()
        for caller in callers {
            await #expect(throws: CancellationError.self) { try await caller.value }
        }
        await end()
    }

    @Test("A late answer of a cancelled request counts unless a later request has answered")
    func order() async throws {
        for answersLast in [false, true] {
            let applied = Mutex<[Int]>([])
            let network = StepNetwork<Int>(ignoresCancellation: true)
            let request: @Sendable (AnswerTurn) async throws -> Int = { turn in
                let answer = try await network.ask()
                return try turn.apply {
                    applied.withLock { $0.append(answer) }
                    return answer
                }
            }
            let first = flights.join(key, request)
            let task = Task { try await first.value }
            await network.calls.reaches(1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let second = flights.join(key, request)
            await network.calls.reaches(2)
            if !answersLast {
                network.answer(1, with: .success(1))
                while flights.count > 1 { await Task.yield() }
            }
            network.answer(2, with: .success(2))
            #expect(try await second.value == 2)
            network.answer(1, with: .success(1))
            await end()
            #expect(applied.withLock { $0 } == (answersLast ? [2] : [1, 2]))
        }
    }

    @TaskLocal private static var mark = 0

    @Test("A request inherits nothing from the task of its first caller")
    func detached() async throws {
        let passage = Self.$mark.withValue(1) { flights.join(key) { _ in Self.mark } }
        #expect(try await passage.value == 0)
    }

    @Test("Callers who come and go at random never wait for ever", arguments: 0..<4)
    func crowd(seed: Int) async throws {
        let network = StepNetwork<Int>(ignoresCancellation: seed % 2 == 0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                let caller = caller(network)
                if (number * 7 + seed) % 3 == 0 { caller.cancel() }
                network.answer(number + 1, with: .success(number))
                group.addTask { _ = try? await caller.value }
            }
        }
        flights.cancelAll()
        await end()
    }
}

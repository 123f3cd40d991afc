import EspalierModels
import EspalierTestSupport
import Testing

@Suite("Policies of retries", .timeLimit(.minutes(1)))
struct RetryPolicyTests {
    @Test("Waits grow by the factor up to the longest one, and end with the last attempt")
    func exponential() {
        let retry = RetryPolicy.exponential(
            maximumAttempts: 7, firstDelay: .milliseconds(500), maximumDelay: .seconds(5))
        let delays = (1...7).map { retry.delay(afterAttempt: $0) }
        #expect(
            delays == [
                .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(5),
                .seconds(5), nil,
            ])
        #expect(retry.delay(afterAttempt: 8) == nil && retry.delay(afterAttempt: .max) == nil)
        #expect(retry.delay(afterAttempt: 0) == .milliseconds(500))
        #expect(retry.delay(afterAttempt: .min) == .milliseconds(500))
        #expect(RetryPolicy.exponential().maximumDelay == .seconds(60))
        #expect(RetryPolicy.exponential(firstDelay: .seconds(90)).maximumDelay == .seconds(90))
    }

    @Test("No policy but one attempt: it gives up at once")
    func none() {
        #expect(RetryPolicy.none.delay(afterAttempt: 1) == nil)
        #expect(RetryPolicy.none == RetryPolicy(maximumAttempts: 1, firstDelay: .zero))
    }

    @Test("Equal waits, and waits of nothing, stay what they are")
    func constant() {
        let equal = RetryPolicy(maximumAttempts: .max, firstDelay: .seconds(3))
        let nothing = RetryPolicy(maximumAttempts: .max, firstDelay: .zero, factor: 2)
        for attempt in [1, 2, 1_000, .max - 1] {
            #expect(equal.delay(afterAttempt: attempt) == .seconds(3))
        }
        for attempt in [1, 2, 10] { #expect(nothing.delay(afterAttempt: attempt) == .zero) }
        #expect(nothing.delay(afterAttempt: 10_000_000) != nil)
    }

    @Test(
        "A policy that never gives up ends at its longest wait, however often it is asked",
        arguments: [1.000_000_1, 1.5, 2, 1e300])
    func endless(factor: Double) {
        let limits: [Duration?] = [.seconds(60), .seconds(Int64.max), nil]
        for limit in limits {
            let retry = RetryPolicy(
                maximumAttempts: .max, firstDelay: .seconds(1), factor: factor, maximumDelay: limit)
            #expect(retry.delay(afterAttempt: 1) == .seconds(1))
            #expect(retry.delay(afterAttempt: .max - 1) == retry.maximumDelay)
            var last = Duration.zero
            for attempt in 1...200 {
                let delay = retry.delay(afterAttempt: attempt) ?? .zero
                #expect(delay >= last && delay <= retry.maximumDelay)
                last = delay
            }
        }
    }

    @Test("Chance shortens a wait by its part at most, and never lengthens it")
    func jitter() throws {
        let retry = RetryPolicy.exponential(
            maximumAttempts: 9, firstDelay: .seconds(8), maximumDelay: .seconds(10), jitter: 0.25)
        var generator = SeededGenerator(seed: 7)
        var delays: [Duration] = []
        for _ in 0..<1_000 {
            let delay = try #require(retry.delay(afterAttempt: 1, using: &generator))
            #expect((.seconds(6) ... .seconds(8)).contains(delay))
            delays.append(delay)
        }
        let (shortest, longest) = (delays.min() ?? .zero, delays.max() ?? .zero)
        #expect(shortest < .seconds(6.1) && longest > .seconds(7.9))
        var again = SeededGenerator(seed: 7)
        #expect(retry.delay(afterAttempt: 1, using: &again) == delays[0])
        #expect(retry.delay(afterAttempt: 9, using: &again) == nil)
    }

    private func run(
        _ retry: RetryPolicy, _ network: StepNetwork<Int>, on clock: StepClock,
        when isWorthRetrying: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> Task<Int, any Error> {
        Task {
            try await retry.run(on: clock, when: isWorthRetrying) { try await network.ask() }
        }
    }

    @Test("Attempts wait exactly as long as the policy says, and the last error is thrown")
    func delays() async throws {
        let clock = StepClock()
        let network = StepNetwork<Int>((1...4).map { .failure(NetworkFailure($0)) })
        let task = run(
            .exponential(maximumAttempts: 4, firstDelay: .seconds(1)), network, on: clock)
        for (attempt, delay) in [(1, 1), (2, 2), (3, 4)] {
            await clock.waitForSleeps(attempt)
            #expect(network.calls.count == attempt)
            // A moment less is not enough.
            clock.advance(by: .seconds(delay) - .nanoseconds(1))
            #expect(network.calls.count == attempt)
            clock.advance(by: .nanoseconds(1))
        }
        await #expect(throws: NetworkFailure(4)) { try await task.value }
        #expect(clock.sleeps == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(network.calls.count == 4)
    }

    @Test("An attempt that succeeds ends it, and so does an error that is not worth another one")
    func ends() async throws {
        let clock = StepClock()
        let good = StepNetwork<Int>([.failure(NetworkFailure(1)), .success(42)])
        let task = run(.exponential(firstDelay: .seconds(1)), good, on: clock)
        await clock.waitForSleeps(1)
        clock.advance(by: .seconds(1))
        #expect(try await task.value == 42)
        let bad = StepNetwork<Int>([.failure(NetworkFailure(1)), .failure(NetworkFailure(404))])
        let other = run(.exponential(firstDelay: .zero), bad, on: clock) {
            ($0 as? NetworkFailure)?.number != 404
        }
        await #expect(throws: NetworkFailure(404)) { try await other.value }
        #expect(bad.calls.count == 2)
        let cancelled = StepNetwork<Int>([.failure(CancellationError())])
        let last = run(.exponential(firstDelay: .zero), cancelled, on: clock)
        await #expect(throws: CancellationError.self) { try await last.value }
    }

    @Test("A task that is cancelled during a wait ends at once and does not ask again")
    func cancelled() async throws {
        let clock = StepClock()
        let network = StepNetwork<Int>([.failure(NetworkFailure())])
        let task = run(.exponential(), network, on: clock)
        await clock.waitForSleeps(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(network.calls.count == 1)
    }
}

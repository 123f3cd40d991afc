/// How often something that failed is tried again, and how long to wait before each attempt.
///
/// ```swift
/// // At most 5 attempts, after waits of 1, 2, 4 and 8 seconds.
/// let retry = RetryPolicy.exponential(maximumAttempts: 5, firstDelay: .seconds(1))
/// let feed = try await cache.fetch(Feed.self, "Feed:1", policy: .cacheThenNetwork, retry: retry) {
///     try await server.feed(1)
/// }
/// ```
///
/// The policy is a value and knows no clock: code that retries asks ``delay(afterAttempt:)`` and
/// waits. Which errors are worth another attempt is not a part of it, because only the app knows
/// its errors: the functions that retry have a parameter for that.
public struct RetryPolicy: Sendable, Hashable {
    /// How many attempts there are at most, the first one included. At least 1.
    public let maximumAttempts: Int
    /// The wait after the first attempt.
    public let firstDelay: Duration
    /// What each wait is multiplied by to get the next one. At least 1.
    public let factor: Double
    /// The longest wait.
    public let maximumDelay: Duration
    /// The part of each wait that is left to chance, from 0 to 1. With 0.25 a wait of 8 seconds
    /// takes 6 to 8 seconds.
    ///
    /// Chance only shortens waits, so ``maximumDelay`` holds in any case. It keeps many devices
    /// that a server has failed at the same moment from coming back at the same moment.
    public let jitter: Double

    /// One attempt, and no other.
    public static let none = RetryPolicy(maximumAttempts: 1, firstDelay: .zero)

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - maximumAttempts: How many attempts there are at most, the first one included. At least
    ///     1, otherwise the call traps. `Int.max` never gives up.
    ///   - firstDelay: The wait after the first attempt. Not negative, otherwise the call traps.
    ///   - factor: What each wait is multiplied by to get the next one. At least 1, otherwise the
    ///     call traps; 1 for waits that are all the same.
    ///   - maximumDelay: The longest wait. Not shorter than the first one, otherwise the call
    ///     traps; nil for no limit but that of a century.
    ///   - jitter: The part of each wait that is left to chance. From 0 to 1, otherwise the call
    ///     traps.
    public init(
        maximumAttempts: Int, firstDelay: Duration, factor: Double = 1,
        maximumDelay: Duration? = nil, jitter: Double = 0
    ) {
        // A longer wait does not fit into the arithmetic of every clock.
        let maximumDelay = maximumDelay ?? max(firstDelay, .seconds(100 * 365 * 86_400))
        precondition(maximumAttempts >= 1, "There is at least one attempt.")
        precondition(firstDelay >= .zero, "A wait can't be negative.")
        precondition(factor >= 1 && factor.isFinite, "Waits grow, by a factor of at least 1.")
        precondition(maximumDelay >= firstDelay, "The longest wait is shorter than the first one.")
        precondition((0...1).contains(jitter), "The part left to chance is from 0 to 1.")
        self.maximumAttempts = maximumAttempts
        self.firstDelay = firstDelay
        self.factor = factor
        self.maximumDelay = maximumDelay
        self.jitter = jitter
    }

    /// Returns a policy whose waits double: after half a second, one, two, and so on.
    ///
    /// - Parameters:
    ///   - maximumAttempts: How many attempts there are at most, the first one included.
    ///   - firstDelay: The wait after the first attempt.
    ///   - factor: What each wait is multiplied by to get the next one.
    ///   - maximumDelay: The longest wait; nil for a minute, or for the first wait if that is
    ///     longer.
    ///   - jitter: The part of each wait that is left to chance, from 0 to 1.
    /// - Returns: The policy. Values out of range trap, as in the initialiser.
    public static func exponential(
        maximumAttempts: Int = 5, firstDelay: Duration = .milliseconds(500), factor: Double = 2,
        maximumDelay: Duration? = nil, jitter: Double = 0
    ) -> RetryPolicy {
        RetryPolicy(
            maximumAttempts: maximumAttempts, firstDelay: firstDelay, factor: factor,
            maximumDelay: maximumDelay ?? max(firstDelay, .seconds(60)), jitter: jitter)
    }

    /// Returns how long to wait after an attempt that failed; nil to give up.
    ///
    /// ```swift
    /// let retry = RetryPolicy.exponential(maximumAttempts: 3, firstDelay: .seconds(1))
    /// retry.delay(afterAttempt: 1)  // 1 second
    /// retry.delay(afterAttempt: 2)  // 2 seconds
    /// retry.delay(afterAttempt: 3)  // nil: that was the last attempt
    /// ```
    ///
    /// - Parameter attempt: The number of the attempt that failed. The first one is 1; a smaller
    ///   number counts as 1.
    /// - Complexity: O(log *n*) in the number.
    public func delay(afterAttempt attempt: Int) -> Duration? {
        var generator = SystemRandomNumberGenerator()
        return delay(afterAttempt: attempt, using: &generator)
    }

    /// Returns how long to wait after an attempt that failed, with the chance of a generator; nil
    /// to give up.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt that failed. The first one is 1; a smaller number
    ///     counts as 1.
    ///   - generator: Decides the part of the wait that is left to chance. Not asked without
    ///     ``jitter``.
    /// - Complexity: O(log *n*) in the number.
    public func delay(
        afterAttempt attempt: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard attempt < maximumAttempts else { return nil }
        let delay = fullDelay(afterAttempt: attempt)
        guard jitter > 0 else { return delay }
        return delay * (1 - jitter * Double.random(in: 0...1, using: &generator))
    }

    /// Returns the wait without chance.
    private func fullDelay(afterAttempt attempt: Int) -> Duration {
        let power = Self.power(factor, max(1, attempt) - 1)
        // Compared before it is multiplied: a duration that is too long would trap.
        guard power.isFinite, firstDelay <= maximumDelay / power else { return maximumDelay }
        return min(firstDelay * power, maximumDelay)
    }

    private static func power(_ base: Double, _ exponent: Int) -> Double {
        var (result, square, rest) = (1.0, base, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result *= square }
            square *= square
            rest >>= 1
        }
        return result
    }
}

extension RetryPolicy {
    /// Calls `body` until it succeeds, fails with an error that is not worth another attempt, or
    /// has used up all attempts.
    ///
    /// - Parameters:
    ///   - clock: The clock by which the waits are measured.
    ///   - isWorthRetrying: Whether to try again after an error. Not asked about
    ///     `CancellationError`, and not after the last attempt.
    ///   - body: The attempt.
    /// - Throws: The error of the last attempt; `CancellationError` if the task is cancelled during
    ///   a wait.
    package func run<Value: Sendable>(
        on clock: any Clock<Duration>, when isWorthRetrying: @Sendable (any Error) -> Bool,
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        var attempt = 1
        while true {
            do {
                return try await body()
            } catch {
                // A cancelled request may fail with any error. No caller wants another attempt.
                guard !Task.isCancelled, !(error is CancellationError),
                    let delay = delay(afterAttempt: attempt), isWorthRetrying(error)
                else { throw error }
                try await clock.sleep(for: delay)
                attempt += 1
            }
        }
    }
}

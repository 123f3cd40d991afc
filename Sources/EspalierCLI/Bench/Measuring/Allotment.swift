/// The time that a suite may take, from when this is made: what is set up counts.
struct Allotment: Sendable {
    let seconds: Double
    private let start = ContinuousClock.now

    /// So little that only the way is tried out: suites set up as little as makes them run.
    var isTrial: Bool { seconds < 2 }

    var left: Double { max(0, seconds - (ContinuousClock.now - start) / .seconds(1)) }
}

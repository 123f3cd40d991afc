/// What a suite came to.
struct SuiteResult: Sendable {
    let suite: BenchSuite
    let timings: [Timing]
    /// The name of the timing that the others are compared with.
    let baseline: String
    /// What was counted, or follows from times.
    var figures: [Report.Fact] = []
    let chart: SuiteChart

    func ratio(of timing: Timing) -> Double? {
        timing.ratio(to: timings.first { $0.name == baseline })
    }
}

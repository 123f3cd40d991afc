/// One thing that a suite did again and again, and how long it took.
struct Timing: Sendable {
    let name: String
    var latencies = Latencies()

    /// All times of results are in microseconds.
    static let unit = "us"

    var median: Double? { latencies.microseconds(at: 50) }

    /// Of the medians.
    func ratio(to baseline: Timing?) -> Double? {
        guard let median, let base = baseline?.median, base > 0 else { return nil }
        return median / base
    }
}

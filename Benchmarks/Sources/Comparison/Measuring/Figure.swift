/// The result of one contender in one workload.
struct Figure: Codable, Sendable {
    let contender: ContenderID
    let unit: Unit
    /// The number of measurements.
    let count: Int
    let median: Double
    /// The spread: the 10th and the 90th percentile; of fewer than 20 values the least and the
    /// greatest.
    let low, high: Double

    /// Summarises values in any order, of which there is at least one.
    init(_ contestant: Contestant, unit: Unit, values: [Double]) {
        contender = contestant.id
        self.unit = unit
        let sorted = values.sorted()
        count = sorted.count
        // Uses the nearest rank.
        func percentile(_ share: Double) -> Double {
            sorted.isEmpty
                ? .nan : sorted[max(0, Int((Double(sorted.count) * share).rounded(.up)) - 1)]
        }
        median = percentile(0.5)
        low = percentile(sorted.count < 20 ? 0 : 0.1)
        high = percentile(sorted.count < 20 ? 1 : 0.9)
    }
}

enum Unit: String, Codable, Sendable {
    case microseconds = "us"
    case bytes
    case perSecond = "a second"
}

/// The result of a workload.
struct Outcome: Codable, Sendable {
    let workload: String
    let title: String
    /// What the workload did, in a sentence or two.
    let meaning: String
    let durability: Durability
    var figures: [Figure]

    func figure(of contender: ContenderID) -> Figure? {
        figures.first { $0.contender == contender }
    }

    /// Returns how many times as long a contender takes as another one.
    func ratio(of contender: ContenderID, to other: ContenderID) -> Double? {
        guard let own = figure(of: contender), let others = figure(of: other), others.median > 0
        else { return nil }
        return own.median / others.median
    }
}

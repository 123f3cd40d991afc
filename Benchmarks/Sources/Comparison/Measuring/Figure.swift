/// What one contender came to in one workload.
struct Figure: Codable, Sendable {
    let contender: String
    let role: Contestant.Role
    let unit: Unit
    /// How many times it was measured.
    let count: Int
    let median: Double
    /// The spread: a tenth of the values is below and a tenth above.
    let low, high: Double

    /// Of values in any order, of which there is at least one.
    init(_ contestant: Contestant, unit: Unit, values: [Double]) {
        contender = contestant.name
        role = contestant.role
        self.unit = unit
        let sorted = values.sorted()
        count = sorted.count
        func rank(_ share: Double) -> Double {
            sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
        }
        median = rank(0.5)
        low = rank(0.1)
        high = rank(0.9)
    }
}

enum Unit: String, Codable, Sendable {
    case microseconds = "us"
    case bytes
    case perSecond = "a second"
    case share = "%"

    /// Whether the better of two is the lower one.
    var isBetterLow: Bool { self == .microseconds || self == .bytes }
}

/// What a workload came to.
struct Outcome: Codable, Sendable {
    let workload: String
    let title: String
    /// What was done, in a sentence or two: what the figures mean.
    let meaning: String
    let durability: Durability
    var figures: [Figure]

    func figure(of contender: String) -> Figure? { figures.first { $0.contender == contender } }

    /// How many times as long as another one takes a contender.
    func ratio(of contender: String, to other: String) -> Double? {
        guard let own = figure(of: contender), let others = figure(of: other), others.median > 0 else { return nil }
        return own.median / others.median
    }
}

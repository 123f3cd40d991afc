/// One way to attack the cache.
protocol Attack: Sendable {
    /// The name by which it is run.
    var name: String { get }
    /// What it has to reach, for the table.
    var goal: String { get }
    /// How many tries `torture short` makes.
    var shortTries: Int { get }

    /// How many tries the first round of a long run makes.
    func tries(minutes: Int) -> Int

    /// Whether the time that a disk takes for a sync matters. Other attacks use memory, which is
    /// four times as fast.
    var needsDisk: Bool { get }

    /// Attacks. Try number `n` depends on `seed + n` only, timing apart.
    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score

    /// Returns what is wrong, if the goal is missed for another reason than a failed try.
    func miss(_ score: Score) -> String?

    /// Returns the attack's results in a few words.
    func summary(_ score: Score) -> String

    /// Attacks something that is broken on purpose. Returns whether each was noticed.
    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)]
}

extension Attack {
    func tries(minutes: Int) -> Int { shortTries }
    var needsDisk: Bool { false }
    func miss(_ score: Score) -> String? { nil }
}

/// What the tries of an attack have come to.
struct Score {
    struct Failure {
        let seed: Int
        let message: String
    }

    var tries = 0
    /// Sums.
    var counts: [String: Int] = [:]
    /// Largest values.
    var largest: [String: Double] = [:]
    var failures: [Failure] = []

    subscript(name: String) -> Int {
        get { counts[name] ?? 0 }
        set { counts[name] = newValue }
    }

    mutating func raise(_ name: String, _ value: Double) {
        largest[name] = max(largest[name] ?? 0, value)
    }

    mutating func fail(_ seed: Int, _ message: String) {
        failures.append(Failure(seed: seed, message: message))
    }

    /// Adds the results of another run.
    mutating func add(_ other: Score) {
        tries += other.tries
        counts.merge(other.counts, uniquingKeysWith: +)
        largest.merge(other.largest, uniquingKeysWith: max)
        failures += other.failures
    }
}

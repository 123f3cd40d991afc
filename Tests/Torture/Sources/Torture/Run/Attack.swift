/// One way to attack the cache.
protocol Attack: Sendable {
    /// The name of the attack in `torture run`.
    var name: String { get }
    /// The goal of the attack, for the table.
    var goal: String { get }
    /// The number of tries of `torture short`.
    var shortTries: Int { get }

    /// Returns the number of tries in the first round of a long run.
    func tries(minutes: Int) -> Int

    /// Whether the time that a disk takes for a sync matters. Other attacks use a directory in
    /// memory, where they are four times as fast.
    var needsDisk: Bool { get }

    /// Attacks. The choices of try number `n` depend only on `seed + n`.
    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score

    /// Returns why the goal is missed although no try has failed; `nil` if it is reached.
    func miss(_ score: Score) -> String?

    /// Returns the attack's results in a few words.
    func summary(_ score: Score) -> String

    /// Attacks caches and workers that are broken on purpose. Returns whether each was noticed.
    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)]
}

extension Attack {
    func tries(minutes: Int) -> Int { shortTries }
    var needsDisk: Bool { false }
    func miss(_ score: Score) -> String? { nil }
}

/// The results of the tries of an attack.
struct Score {
    struct Failure {
        let seed: Int
        let message: String
    }

    var tries = 0
    /// Counts by name, which are added up over all tries.
    var counts: [String: Int] = [:]
    /// The largest values of all tries, by name.
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

import Foundation
import Glibc

/// Lets two processes write ten times the budget, while a third one holds a read open for a second
/// every one and a half, and looks at the size of the directory twice in a millisecond.
struct StreamAttack: Attack {
    let name = "stream"
    let goal = "no write runs out of pages; 0 bytes over the budget; clean"
    /// Each try has the next of the budgets.
    let shortTries = 3
    let needsDisk = true

    /// In KiB: 1, 1.5, 8 and 50 MiB.
    private static let budgets = [1_024, 1_536, 8_192, 51_200].map { $0 << 10 }
    /// The bytes that eight trees take in a cache, about.
    private static let bytesOfWrite = 16 << 10

    func tries(minutes: Int) -> Int { Self.budgets.count }

    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score {
        var score = Score()
        for number in 0..<tries {
            score.tries += 1
            let budget = Self.budgets[number % Self.budgets.count]
            let crew = try Crew(scratch, budget: budget)
            if let failure = try Self.play(on: crew, seed: seed + number, junk: 0, &score) {
                score.fail(seed + number, "\(failure), \(crew.place)")
            } else {
                crew.remove()
            }
        }
        return score
    }

    func summary(_ score: Score) -> String {
        "\(score["writes"]) writes of 8 trees, \(score["held"]) reads of a second,"
            + " \(score["samples"]) samples of the size, up to"
            + " \(String(rounding: score.largest["fill"] ?? 0)) of the budget,"
            + " \(score.failures.count) failed"
    }

    /// - Parameter junk: The bytes of a file that a canary puts beside those of the cache.
    private static func play(
        on crew: Crew, seed: Int, junk: Int, _ score: inout Score
    ) throws -> String? {
        let operations = ["--operations", "\(10 * crew.budget / bytesOfWrite / 2)"]
        let children = try [
            crew.worker(0, .stream, seed: seed, operations),
            crew.worker(1, .stream, seed: seed, operations),
        ]
        let holder = try crew.worker(2, .hold, seed: seed)
        let watch = SizeWatch(crew)
        _ = watch.wait(seconds: 1) { false }
        if junk > 0 { try Files.write(Data(count: junk), to: crew.directory + "/junk") }
        let hasEnded = watch.wait(seconds: 900) { children.allSatisfy { $0.poll() != nil } }
        try crew.progress(2)[.stop] = 1
        _ = holder.wait(seconds: 20)
        score["samples"] += watch.samples
        score.raise("fill", Double(watch.most) / Double(crew.budget))
        score["held"] += try crew.progress(2)[.writes]
        for owner in 0..<2 {
            let progress = try crew.progress(owner)
            score["writes"] += progress[.writes]
            if hasEnded, progress[.writes] < 10 * crew.budget / bytesOfWrite / 2 {
                return "worker \(owner) has stored only \(progress[.writes]) writes"
            }
            if progress[.findings] + progress[.failures] > 0 {
                return "worker \(owner) says \(crew.output(owner))"
            }
        }
        guard hasEnded else { return "the workers do not end" }
        for (owner, child) in children.enumerated() where child.wait(seconds: 1) != .exited(0) {
            return "worker \(owner) ended: \(crew.output(owner))"
        }
        guard watch.most <= crew.budget else {
            return "\(watch.most - crew.budget) bytes over the budget"
        }
        return try crew.finding(owners: 0)
    }

    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)] {
        let crew = try Crew(scratch, budget: 1 << 20)
        defer { crew.remove() }
        var score = Score()
        let failure = try Self.play(on: crew, seed: seed, junk: 1 << 20, &score)
        return [("a file beside the cache", failure?.contains("over the budget") == true)]
    }
}

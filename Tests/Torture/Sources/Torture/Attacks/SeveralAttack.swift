import Foundation
import Glibc

/// Lets many processes with many threads read the cache at the same moment.
struct SeveralAttack: Attack {
    let name = "several"
    let goal = "12 processes with 40 readers each all open and read"
    let shortTries = 1

    static let processes = 12
    static let readers = 40

    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score {
        var score = Score()
        for number in 0..<tries {
            score.tries += 1
            let crew = try Crew(scratch, budget: 8 << 20)
            if let failure = try Self.play(on: crew, flaw: false, &score) {
                score.fail(seed + number, "\(failure), \(crew.place)")
            } else {
                crew.remove()
            }
        }
        return score
    }

    func summary(_ score: Score) -> String {
        "\(score["opened"]) of \(score["processes"]) processes opened, \(score["hits"]) of"
            + " \(score["reads"]) reads at the same time were hits"
    }

    private static func play(on crew: Crew, flaw: Bool, _ score: inout Score) throws -> String? {
        guard try crew.work(0, .fill, seed: 1, operations: 24) == .exited(0) else {
            return "the cache can't be filled: \(crew.output(0))"
        }
        var children: [Child] = []
        for owner in 1...processes {
            children.append(
                try crew.reader(owner, flaw && owner == processes ? ["--name", "G:none"] : []))
        }
        let progress = try (1...processes).map { try crew.progress($0) }
        let end = Moment.now + 20
        while Moment.now < end,
            zip(children, progress).contains(where: { $0.poll() == nil && $1[.state] == 0 })
        {
            usleep(2_000)
        }
        // From now on they read, all at the same time.
        for progress in progress { progress[.stop] = 1 }
        var failure: String?
        for (index, child) in children.enumerated() {
            let ending = child.wait(seconds: 30)
            score["processes"] += 1
            score["opened"] += progress[index][.state] > 0 ? 1 : 0
            score["hits"] += progress[index][.operations]
            score["reads"] += readers
            if ending != .exited(0) {
                failure = "process \(index + 1): \(ending), \(crew.output(index + 1))"
            }
        }
        return try failure ?? crew.finding(owners: 1)
    }

    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)] {
        let crew = try Crew(scratch, budget: 8 << 20)
        defer { crew.remove() }
        var score = Score()
        return [
            (
                "a process whose reads miss",
                try Self.play(on: crew, flaw: true, &score)?.contains("miss") == true
            )
        ]
    }
}

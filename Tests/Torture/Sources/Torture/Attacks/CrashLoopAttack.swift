import CFaults
import Glibc

/// Lets a process crash again and again while it opens the cache and writes for the first time.
struct CrashLoopAttack: Attack {
    let name = "crash loops"
    let goal = "the cache opens, and nothing acknowledged is lost"
    let shortTries = 50

    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score {
        var score = Score()
        for number in 0..<tries {
            score.tries += 1
            let crew = try Self.crew(scratch)
            if let failure = try Self.play(seed + number, .none, on: crew, &score) {
                score.fail(seed + number, "\(failure), \(crew.place)")
            } else {
                crew.remove()
            }
        }
        return score
    }

    func summary(_ score: Score) -> String {
        "\(score["crashes"]) crashes, \(score.failures.count) failed"
    }

    private static func crew(_ scratch: Scratch) throws -> Crew {
        try Crew(scratch, budget: 8 << 20, options: ["--durability", "sync"])
    }

    private static func play(
        _ seed: Int, _ flaw: Worker.Flaw, on crew: Crew, _ score: inout Score
    ) throws -> String? {
        var random = Random(seed: seed)
        for number in 0..<(3 + random.below(5)) {
            let action = random.pick([faults_die, faults_die_after, faults_abort])
            let call = 1 + random.below(random.happens(0.6) ? 25 : 120)
            let ending = try crew.work(
                0, .keep, seed: seed + number, operations: 15,
                [
                    "--fault", "\(faults_all.rawValue):\(call):\(action.rawValue):0",
                    "--flaw", flaw.rawValue,
                ])
            switch ending {
            case .killed(SIGKILL), .killed(SIGABRT): score["crashes"] += 1
            case .exited(0): break
            default: return "\(ending) at call \(call), \(crew.output(0))"
            }
        }
        if try crew.progress(0)[.findings] > 0, flaw == .none { return crew.output(0) }
        return try crew.finding(owners: 1)
    }

    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)] {
        var isCaught = false
        for number in 0..<20 where !isCaught {
            let crew = try Self.crew(scratch)
            defer { crew.remove() }
            var score = Score()
            isCaught =
                try Self.play(seed + number, .early, on: crew, &score)?
                .contains("lost") == true
        }
        return [("acknowledges before it commits", isCaught)]
    }
}

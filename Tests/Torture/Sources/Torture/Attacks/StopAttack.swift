import Glibc

/// Stops a process while it opens the cache or writes. Another process gets `busy` in time, and
/// both write again when the first one continues.
struct StopAttack: Attack {
    let name = "stop"
    let goal = "others get busy or go on in time, and all go on after SIGCONT"
    let shortTries = 12
    let needsDisk = true

    /// The deadline of writes in seconds, and how much longer a call may take on a busy machine.
    private static let deadline = 0.3
    private static let margin = 2.0

    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score {
        var score = Score()
        for number in 0..<tries {
            score.tries += 1
            let crew = try Self.crew(scratch, deadline: Self.deadline)
            if let failure = try Self.play(seed + number, on: crew, &score) {
                score.fail(seed + number, "\(failure), \(crew.place)")
            } else {
                crew.remove()
            }
        }
        return score
    }

    func summary(_ score: Score) -> String {
        "\(score["blocked"]) stops blocked others, longest wait"
            + " \(String(rounding: score.largest["wait"] ?? 0)) s, \(score.failures.count) failed"
    }

    private static func crew(_ scratch: Scratch, deadline: Double) throws -> Crew {
        try Crew(
            scratch, budget: 16 << 20, options: ["--deadline", "\(Int(deadline * 1_000))"])
    }

    private static func play(_ seed: Int, on crew: Crew, _ score: inout Score) throws -> String? {
        var random = Random(seed: seed)
        // A worker that changes the budget is also stopped while it copies a generation.
        let flavour = random.pick([Worker.Flavour.keep, .keep, .reopen, .reopen, .budgets])
        let stopped = try crew.worker(0, flavour, seed: seed)
        let other = try crew.worker(1, random.happens(0.7) ? .keep : .reopen, seed: seed)
        let progress = try [crew.progress(0), crew.progress(1)]
        guard wait(10, until: { progress.allSatisfy { $0[.writes] > 3 } }) else {
            return "the workers do not begin"
        }
        usleep(UInt32(1_000 + random.below(20_000)))
        stopped.send(SIGSTOP)
        let busy = progress[1][.busy]
        let opener = try crew.check(
            owners: 0, ["--verify", "no"], seconds: deadline + margin)
        let isOpenerFine =
            opener.ending == .exited(0)
            || opener.ending == .exited(Verdict.failedStatus) && opener.line.contains("Another")
        // As long as the first one is stopped, no call of the other one takes longer than it may.
        let isLate = wait(deadline * 2) {
            let began = progress[1][.began]
            let waited = began == 0 ? 0 : Double(Int(Moment.nanoseconds) - began) / 1e9
            score.raise("wait", waited)
            return waited > deadline + margin
        }
        let waited =
            progress[1][.began] == 0
            ? 0 : Double(Int(Moment.nanoseconds) - progress[1][.began]) / 1e9
        if progress[1][.busy] > busy { score["blocked"] += 1 }
        stopped.send(SIGCONT)
        if !isOpenerFine { return "opening: \(opener.ending), \(opener.line)" }
        if isLate || waited > deadline + margin { return "a call waits for the stopped process" }
        let before = progress.map { $0[.writes] }
        guard wait(5, until: { zip(progress, before).allSatisfy { $0[.writes] > $1 + 1 } }) else {
            return "the workers do not go on: \(crew.output(0)), \(crew.output(1))"
        }
        for child in [stopped, other] {
            if let ending = child.poll() { return "a worker ended: \(ending)" }
            child.send(SIGKILL)
            _ = child.wait(seconds: 5)
        }
        if progress.contains(where: { $0[.findings] > 0 }) {
            return crew.output(0) + crew.output(1)
        }
        // A process that is stopped inside a read keeps all pages that others free meanwhile, so
        // that these have to evict.
        return try crew.finding(
            owners: 2, [flavour == .budgets ? "--may-miss" : "--may-evict", "yes"])
    }

    private static func wait(_ seconds: Double, until condition: () -> Bool) -> Bool {
        let end = Moment.now + seconds
        while !condition() {
            if Moment.now > end { return false }
            usleep(1_000)
        }
        return true
    }

    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)] {
        var isCaught = false
        for number in 0..<20 where !isCaught {
            // With this deadline the others wait as if they had none.
            let crew = try Self.crew(scratch, deadline: 60)
            defer { crew.remove() }
            var score = Score()
            let failure = try Self.play(seed + number, on: crew, &score) ?? ""
            isCaught = failure.contains("a call waits") || failure.contains("opening: a hang")
        }
        return [("waits without a deadline", isCaught)]
    }
}

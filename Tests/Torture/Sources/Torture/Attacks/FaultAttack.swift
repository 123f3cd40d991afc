import CFaults
import Glibc

/// Lets the n-th system call of a process fail, from the opening of the cache to its end.
struct FaultAttack: Attack {
    let name = "faults"
    let goal = "0 crashes, hangs, wrong values, acknowledged losses"
    let shortTries = 150

    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score {
        var score = Score()
        for number in 0..<tries {
            score.tries += 1
            let crew = try Crew(scratch, budget: 8 << 20)
            if let failure = try Self.play(seed + number, on: crew, &score) {
                score.fail(seed + number, "\(failure), \(crew.place)")
            } else {
                crew.remove()
            }
        }
        return score
    }

    func summary(_ score: Score) -> String {
        "\(score["struck"]) faults struck, \(score["told"]) were told as errors,"
            + " \(score.failures.count) failed"
    }

    /// Plays a fault. Returns what has gone wrong.
    private static func play(_ seed: Int, on crew: Crew, _ score: inout Score) throws -> String? {
        var random = Random(seed: seed)
        let isCalm = random.happens(0.6)
        if random.happens(0.5) {
            let ending = try crew.work(0, .keep, seed: seed, operations: 20)
            guard ending == .exited(0) else { return "without a fault: \(ending)" }
        }
        var fault = Fault(&random)
        let progress = try crew.progress(0)
        for _ in 0..<2 {
            let ending = try crew.work(
                0, isCalm ? .keep : .rough, seed: seed, operations: isCalm ? 30 : 60,
                ["--fault", fault.argument])
            let told = "fault \(fault.argument): \(ending), \(crew.output(0))"
            guard ending == .exited(0) || ending == .exited(1) else { return told }
            if progress[.findings] > 0 { return told }
            if progress[.failures] > 0 || ending == .exited(1) { score["told"] += 1 }
            let more = isCalm && !fault.isDamage ? [] : ["--may-miss", "yes"]
            if let finding = try crew.finding(owners: 1, more) {
                return "\(finding), after \(told)"
            }
            if progress[.calls] >= fault.number {
                score["struck"] += 1
                break
            }
            // The worker made fewer such calls, or none. A second run chooses one that it makes.
            if progress[.calls] == 0 { fault.kinds = faults_changes }
            fault.number = 1 + random.below(max(progress[.calls], 10))
        }
        return nil
    }

    /// A fault as `faults_plan` takes it.
    private struct Fault {
        var kinds: faults_kind
        var number: Int
        let action: faults_action
        let error: Int32

        init(_ random: inout Random) {
            kinds = random.pick([
                faults_open, faults_write, faults_write, faults_sync, faults_sync, faults_size,
                faults_map, faults_rename, faults_remove, faults_folder, faults_lock, faults_read,
                faults_changes, faults_changes, faults_changes,
            ])
            action = random.pick([faults_fail_once, faults_fail_once, faults_fail_on, faults_short])
            var errors = [EIO, EIO, ENOSPC, ENOSPC, EMFILE, ENOMEM, EACCES, EDQUOT, ENOLCK, EROFS]
            // No system interrupts a call for ever.
            if action == faults_fail_once { errors += [EINTR, EINTR, EAGAIN] }
            // Reads do not fail for want of space.
            if kinds == faults_read { errors = [EIO] }
            error = random.pick(errors)
            number = 1 + random.below(random.happens(0.5) ? 20 : 150)
        }

        /// A page that can't be read is damage, because LMDB would die of it. The cache then begins
        /// anew.
        var isDamage: Bool { kinds == faults_read }

        var argument: String { "\(kinds.rawValue):\(number):\(action.rawValue):\(error)" }
    }

    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)] {
        var isCaught = false
        for number in 0..<30 where !isCaught {
            let crew = try Crew(scratch, budget: 8 << 20)
            defer { crew.remove() }
            // A disk that loses a write and says that it has stored it.
            let fault = "\(faults_write.rawValue):\(20 + number * 3):\(faults_lie.rawValue):0"
            let ending = try crew.work(0, .keep, seed: seed, operations: 40, ["--fault", fault])
            let findings = try crew.progress(0)[.findings]
            isCaught =
                try ending.isCrash || findings > 0 || crew.check(owners: 1).ending != .exited(0)
        }
        return [("a disk that loses a write", isCaught)]
    }
}

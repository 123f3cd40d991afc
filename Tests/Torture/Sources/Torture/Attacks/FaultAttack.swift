import CFaults
import Glibc

/// Lets the n-th system call of a process fail, from the opening of the cache to its end.
struct FaultAttack: Attack {
    let name = "faults"
    let goal = "0 crashes, hangs, wrong values, acknowledged losses"
    let shortTries = 300

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
        let (number, fault) = fault(&random)
        let ending = try crew.work(
            0, isCalm ? .keep : .rough, seed: seed, operations: isCalm ? 30 : 60,
            ["--fault", fault])
        let told = "fault \(fault): \(ending), \(crew.output(0))"
        let progress = try crew.progress(0)
        switch ending {
        case .exited(0), .exited(1): break
        default: return told
        }
        if progress[.findings] > 0 { return told }
        if progress[.calls] >= number { score["struck"] += 1 }
        if progress[.failures] > 0 || ending == .exited(1) { score["told"] += 1 }
        return try crew.finding(owners: 1, isCalm ? [] : ["--may-miss", "yes"])
            .map { "\($0), after \(told)" }
    }

    private static func fault(_ random: inout Random) -> (Int, String) {
        let kinds = random.pick([
            faults_open, faults_write, faults_write, faults_sync, faults_sync, faults_size,
            faults_map, faults_rename, faults_remove, faults_folder, faults_lock, faults_read,
            faults_all, faults_all, faults_all,
        ])
        let action = random.pick([faults_fail_once, faults_fail_once, faults_fail_on, faults_short])
        // A lock that is interrupted for ever is no fault that a system has.
        var errors = [EIO, EIO, ENOSPC, ENOSPC, EMFILE, ENOMEM, EACCES, EDQUOT, ENOLCK, EROFS]
        if action == faults_fail_once { errors += [EINTR, EINTR, EAGAIN] }
        let number = 1 + random.below(random.happens(0.5) ? 20 : 150)
        let error = random.pick(errors)
        return (number, "\(kinds.rawValue):\(number):\(action.rawValue):\(error)")
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
            isCaught = try ending.isCrash || findings > 0 || crew.check(owners: 1).ending != .exited(0)
        }
        return [("a disk that loses a write", isCaught)]
    }
}

import Foundation
import Glibc

/// Lets two processes work on a small cache for a long time. One of them compacts it.
struct SoakAttack: Attack {
    let name = "soak"
    let goal = "memory grows to 1.2 times at most (1.5 in a short run); 0 bytes over; clean"
    /// Here a try is a second.
    let shortTries = 60
    let needsDisk = true

    /// Memory in the last part of a run, divided by that in an early part, may be this at most.
    private static let ratios = (long: 1.2, short: 1.5)
    /// The seconds from which on a run is long.
    private static let long = 300

    func tries(minutes: Int) -> Int { max(60, min(600, minutes * 10)) }

    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score {
        try Self.play(seconds: tries, seed: seed, .none, in: scratch)
    }

    func summary(_ score: Score) -> String {
        let before = Int(score.largest["before"] ?? 0) >> 10
        return "\(score["operations"]) operations, memory \(before) KiB, later"
            + " \(String(rounding: score.largest["ratio"] ?? 0)) times as much,"
            + " \(score["samples"]) samples of the size, \(score.failures.count) failed"
    }

    private static func play(
        seconds: Int, seed: Int, _ flaw: Worker.Flaw, in scratch: Scratch
    ) throws -> Score {
        var score = Score()
        score.tries = seconds
        let crew = try Crew(scratch, budget: 4 << 20)
        let children = try [
            crew.worker(0, .compact, seed: seed, ["--flaw", flaw.rawValue]),
            crew.worker(1, .rough, seed: seed),
        ]
        let watch = SizeWatch(crew)
        let progress = try [crew.progress(0), crew.progress(1)]
        var memory: [[Int]] = []
        for _ in 0..<seconds * 10 {
            _ = watch.wait(seconds: 0.1) { false }
            memory.append(children.map { Self.residentBytes($0.process) })
            if let dead = children.firstIndex(where: { $0.poll() != nil }) {
                score.fail(seed, "worker \(dead) ended: \(crew.output(dead)), \(crew.place)")
                return score
            }
        }
        for progress in progress { progress[.stop] = 1 }
        for child in children where child.wait(seconds: 20) != .exited(0) {
            score.fail(seed, "a worker does not end, \(crew.place)")
        }
        // Of ten minutes, the early part is that around the end of the first. In a short run, the
        // processes need a larger part of it until they have all their memory.
        let first = seconds >= long ? 8 : 30
        let early = memory[memory.count * first / 100..<memory.count * (first + 5) / 100]
        let late = memory[(memory.count * 9 / 10)...]
        for index in children.indices {
            let before = early.map { $0[index] }.reduce(0, +) / early.count
            let after = late.map { $0[index] }.reduce(0, +) / late.count
            score.raise("before", Double(before))
            score.raise("ratio", Double(after) / Double(max(before, 1)))
        }
        let (ratio, limit) = (
            score.largest["ratio"] ?? 0, seconds >= long ? ratios.long : ratios.short
        )
        if ratio > limit { score.fail(seed, "memory grew \(String(rounding: ratio)) times") }
        score["samples"] = watch.samples
        score["operations"] = progress.reduce(0) { $0 + $1[.operations] }
        if watch.most > crew.budget {
            score.fail(seed, "\(watch.most - crew.budget) bytes over the budget, \(crew.place)")
        }
        for (owner, progress) in progress.enumerated()
        where progress[.findings] + progress[.failures] > 0 {
            score.fail(seed, "worker \(owner) says \(crew.output(owner)), \(crew.place)")
        }
        if let finding = try crew.finding(owners: 0) {
            score.fail(seed, "\(finding), \(crew.place)")
        }
        if score.failures.isEmpty { crew.remove() }
        return score
    }

    private static func residentBytes(_ process: pid_t) -> Int {
        let text = String(decoding: Files.readStream("/proc/\(process)/statm"), as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4_096
    }

    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)] {
        let score = try Self.play(seconds: 4, seed: seed, .leak, in: scratch)
        return [("a process that leaks", score.failures.contains { $0.message.contains("memory") })]
    }
}

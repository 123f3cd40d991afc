import Foundation
import Glibc

/// Runs attacks one after the other, and prints a table of their results.
struct Campaign {
    static let attacks: [any Attack] = [
        KillAttack(), StopAttack(), FaultAttack(), PowerAttack(), DamageAttack(),
        CrashLoopAttack(), InputAttack(), SeveralAttack(), StreamAttack(), SoakAttack(),
    ]

    /// A line of the table.
    private struct Line {
        let attack: any Attack
        var score: Score
        let canaries: [(name: String, isCaught: Bool)]
        let seconds: Double

        var miss: String? {
            if !score.failures.isEmpty { return "\(score.failures.count) tries failed" }
            if let canary = canaries.first(where: { !$0.isCaught }) {
                return "it does not notice: \(canary.name)"
            }
            return attack.miss(score)
        }
    }

    private let seed: Int
    private let scratch: Scratch
    /// A directory in memory, for attacks that need no disk.
    private let memory: Scratch

    private static let memoryRoot = "/dev/shm"
    /// The caches of the attacks that use memory take a few MiB.
    private static let leastMemory = 256 << 20

    init(_ arguments: Arguments) throws {
        seed = try arguments.number("seed", 1)
        scratch = try Scratch(
            arguments["scratch"] ?? "\(NSTemporaryDirectory())torture-\(getpid())")
        let hasMemory = Files.freeBytes(of: Self.memoryRoot) > Self.leastMemory
        memory =
            hasMemory ? try Scratch("\(Self.memoryRoot)/torture-\(getpid())") : scratch
        if let tool = arguments["tool"] { setenv(Tool.variable, tool, 1) }
        Console.say("torture: seed \(seed), in \(scratch.root) and \(memory.root)")
    }

    func runShort() throws -> Bool {
        try report(Self.attacks.map { try play($0, tries: $0.shortTries, seed: seed) })
    }

    /// - Parameter processes: The number of processes of `kill`, instead of 1, 2 and 4.
    func runOne(_ name: String, _ tries: String?, processes: Int?) throws -> Bool {
        guard var attack = Self.attacks.first(where: { $0.name == name }) else {
            throw Mistake("there is no attack \(name)")
        }
        if let processes {
            guard (1...4).contains(processes), var kill = attack as? KillAttack else {
                throw Mistake("--processes takes 1 to 4, for the attack kill")
            }
            kill.processes = [processes]
            attack = kill
        }
        let count = tries.map { Int($0) ?? 0 } ?? attack.shortTries
        return report([try play(attack, tries: count, seed: seed)])
    }

    /// Repeats all attacks with other seeds until the time is over. The canaries run once.
    func runLong(minutes: Int) throws -> Bool {
        let end = Moment.now + Double(minutes) * 60
        var lines = try Self.attacks.map {
            try play($0, tries: $0.tries(minutes: minutes), seed: seed)
        }
        var round = 1
        while Moment.now < end {
            for index in lines.indices where Moment.now < end {
                let attack = lines[index].attack
                lines[index].score.add(
                    try attack.run(
                        tries: attack.shortTries, seed: seed + round * 10_000,
                        in: attack.needsDisk ? scratch : memory))
                Console.say("torture: \(attack.name): \(attack.summary(lines[index].score))")
            }
            round += 1
        }
        return report(lines)
    }

    private func play(_ attack: any Attack, tries: Int, seed: Int) throws -> Line {
        let start = Moment.now
        let scratch = attack.needsDisk ? scratch : memory
        let canaries = try attack.canaries(seed: seed, in: scratch)
        let middle = Moment.now
        let score = try attack.run(tries: tries, seed: seed, in: scratch)
        let seconds = Moment.now - start
        Console.say(
            "torture: \(attack.name): \(attack.summary(score));"
                + " \(Int(seconds)) s, \(Int(middle - start)) of them for canaries")
        return Line(attack: attack, score: score, canaries: canaries, seconds: seconds)
    }

    /// Prints the table, and for each attack with failures the command that repeats the first one.
    /// Returns whether all goals are reached.
    private func report(_ lines: [Line]) -> Bool {
        Console.say("\n| attack | tries | goal | reached | canaries |\n|---|---|---|---|---|")
        for line in lines {
            let caught = line.canaries.count { $0.isCaught }
            Console.say(
                "| \(line.attack.name) | \(line.score.tries) | \(line.attack.goal)"
                    + " | \(line.miss == nil ? "yes" : "**no**"): \(line.attack.summary(line.score))"
                    + " | \(caught) of \(line.canaries.count) |")
        }
        Console.say("")
        for line in lines {
            guard let miss = line.miss else { continue }
            Console.say("torture: \(line.attack.name) misses its goal: \(miss)")
            for failure in line.score.failures.prefix(20) {
                Console.say("    seed \(failure.seed): \(failure.message)")
            }
            if let seed = line.score.failures.first?.seed {
                Console.say(
                    "    repeat it: torture run '\(line.attack.name)' --tries 1 --seed \(seed)")
            }
        }
        let isReached = lines.allSatisfy { $0.miss == nil }
        if isReached { Files.remove(scratch.root) }
        if isReached { Files.remove(memory.root) }
        Console.say("torture: \(isReached ? "all goals are reached" : "a goal is missed")")
        return isReached
    }
}

extension String {
    /// Formats a number with two digits after the point, or three if it is below 0.1.
    init(rounding value: Double) {
        self = String(format: value < 0.1 ? "%.3f" : "%.2f", value)
    }
}

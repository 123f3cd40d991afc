import Foundation
import Glibc

/// Kills one or several of 1, 2 or 4 processes that write, evict, compact, train dictionaries,
/// change the budget and empty the cache. The others have to go on, and the cache has to be whole.
struct KillAttack: Attack {
    let name = "kill"
    let goal = "0 lost, mixed, wrong or unclean; 0 bytes over; survivors go on"
    let shortTries = 150
    let needsDisk = true
    /// The numbers of processes, one after the other.
    var processes = [1, 2, 4]

    /// How long a survivor may take for its next writes, in seconds: the deadline of writes and a
    /// margin for a busy machine.
    private static let patience = 7.0
    /// The number of tries that use one cache, one after the other.
    private static let triesOfCache = 20

    /// The choices of one try.
    struct Cycle {
        var seed: Int
        var processes: Int
        /// Whether everything acknowledged has to stay. Otherwise workers evict trees and empty the
        /// cache.
        var isCalm: Bool
        var patience = KillAttack.patience
        var flaw = Worker.Flaw.none
        /// Whether to put a file into the directory for which the budget has no room.
        var isOver = false
    }

    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score {
        var score = Score()
        var crew: Crew?
        for number in 0..<tries {
            let isCalm = (seed + number) / Self.triesOfCache % 2 == 0
            if number % Self.triesOfCache == 0 || crew == nil {
                crew?.remove()
                crew = try Self.crew(isCalm, scratch)
            }
            guard let current = crew else { break }
            let cycle = Cycle(
                seed: seed + number, processes: processes[(seed + number) % processes.count],
                isCalm: isCalm)
            score.tries += 1
            if let failure = try Self.play(cycle, on: current, &score) {
                score.fail(seed + number, "\(failure), \(current.place)")
                crew = nil
            }
        }
        crew?.remove()
        return score
    }

    func summary(_ score: Score) -> String {
        let wait = String(rounding: score.largest["wait"] ?? 0)
        return "\(score["kills"]) kills, \(score["samples"]) samples of the size, longest wait of a"
            + " survivor \(wait) s, \(score["busy"]) busy, \(score.failures.count) failed"
    }

    private static func crew(_ isCalm: Bool, _ scratch: Scratch) throws -> Crew {
        try Crew(scratch, budget: isCalm ? 16 << 20 : 1 << 20)
    }

    /// Runs a cycle. Returns what has gone wrong.
    private static func play(_ cycle: Cycle, on crew: Crew, _ score: inout Score) throws -> String?
    {
        var random = Random(seed: cycle.seed)
        let changesBudget = !cycle.isCalm && random.happens(0.5)
        if changesBudget { crew.largestBudget = 2 << 20 }
        let limit = crew.largestBudget
        var workers: [(owner: Int, child: Child)] = []
        for owner in 0..<cycle.processes {
            let rough: Worker.Flavour = changesBudget && owner % 2 == 0 ? .budgets : .rough
            let child = try crew.worker(
                owner, cycle.isCalm ? .keep : rough, seed: cycle.seed,
                ["--flaw", cycle.flaw.rawValue])
            workers.append((owner, child))
        }
        let watch = SizeWatch(crew)
        defer { score["samples"] += watch.samples }
        if random.happens(0.75) || cycle.isOver {
            let isOpen = try watch.wait(seconds: 10) {
                try workers.allSatisfy { try crew.progress($0.owner)[.state] == 1 }
            }
            guard isOpen else { return "a worker does not open the cache: \(crew.output(0))" }
        }
        if cycle.isOver { try Files.write(Data(count: 3 << 20), to: crew.directory + "/large") }
        _ = watch.wait(seconds: Double(random.below(30)) / 1_000) { false }
        workers.shuffle(using: &random)
        let killed = 1 + random.below(cycle.processes)
        for (owner, child) in workers.prefix(killed) {
            if let ending = child.poll() {
                return "a worker ended: \(ending), \(crew.output(owner))"
            }
            child.send(SIGKILL)
            score["kills"] += 1
        }
        let survivors = workers.dropFirst(killed)
        if let failure = try outlive(survivors, cycle, crew, watch, &score) { return failure }
        for (_, child) in workers.prefix(killed) { _ = child.wait(seconds: 10) }
        if let failure = try end(survivors, gently: random.happens(0.5), cycle, crew) {
            return failure
        }
        for (owner, _) in workers {
            let progress = try crew.progress(owner)
            score["busy"] += progress[.busy]
            if progress[.findings] + progress[.failures] > 0, cycle.flaw == .none {
                return "worker \(owner) says \(crew.output(owner))"
            }
        }
        if watch.most > limit { return "\(watch.most - limit) bytes over the budget" }
        let more = cycle.isCalm ? [] : ["--may-miss", "yes"]
        return try crew.finding(owners: 4, more)
    }

    /// Waits until each survivor has written twice.
    private static func outlive(
        _ survivors: ArraySlice<(owner: Int, child: Child)>, _ cycle: Cycle, _ crew: Crew,
        _ watch: SizeWatch, _ score: inout Score
    ) throws -> String? {
        let start = Moment.now
        let before = try survivors.map { try crew.progress($0.owner)[.writes] }
        let areAlive = try watch.wait(seconds: cycle.patience) {
            try zip(survivors, before).allSatisfy { try crew.progress($0.owner)[.writes] >= $1 + 2 }
        }
        for (owner, child) in survivors {
            if let ending = child.poll() {
                return "survivor \(owner) ended: \(ending), \(crew.output(owner))"
            }
            score.raise("wait", Double(try crew.progress(owner)[.longest]) / 1e9)
        }
        score.raise("wait", survivors.isEmpty ? 0 : Moment.now - start)
        return areAlive ? nil : "a survivor does not go on within \(cycle.patience) s"
    }

    /// Ends the survivors: in good order, or all at once.
    private static func end(
        _ survivors: ArraySlice<(owner: Int, child: Child)>, gently: Bool, _ cycle: Cycle,
        _ crew: Crew
    ) throws -> String? {
        for (owner, child) in survivors {
            if gently { try crew.progress(owner)[.stop] = 1 } else { child.send(SIGKILL) }
        }
        let endings = survivors.map { $0.child.wait(seconds: cycle.patience) }
        guard gently, let ending = endings.first(where: { $0 != .exited(0) }) else { return nil }
        return "a survivor does not go on to its end: \(ending)"
    }

    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)] {
        func isCaught(_ cycle: Cycle, _ word: String) throws -> Bool {
            for number in 0..<60 {
                var cycle = cycle
                cycle.seed = seed + number
                let crew = try Self.crew(cycle.isCalm, scratch)
                defer { crew.remove() }
                var score = Score()
                if try Self.play(cycle, on: crew, &score)?.contains(word) == true { return true }
            }
            return false
        }
        let calm = Cycle(seed: 0, processes: 2, isCalm: true)
        var (early, torn, stall, over) = (calm, calm, calm, calm)
        early.flaw = .early
        torn.flaw = .torn
        (stall.flaw, stall.patience) = (.stall, 1)
        (over.isCalm, over.isOver) = (false, true)
        return [
            ("acknowledges before it commits", try isCaught(early, "lost")),
            ("writes a tree in two commits", try isCaught(torn, "mixed")),
            ("waits for ever", try isCaught(stall, "does not go on")),
            ("leaves a file over the budget", try isCaught(over, "over the budget")),
        ]
    }
}

/// Adds up the sizes of all files of a cache again and again.
final class SizeWatch {
    private let crew: Crew
    private(set) var samples = 0
    /// The most bytes that were seen.
    private(set) var most = 0

    init(_ crew: Crew) { self.crew = crew }

    /// Watches until the condition holds. Returns whether it does within the time.
    func wait(seconds: Double, until condition: () throws -> Bool) rethrows -> Bool {
        let end = Moment.now + seconds
        while true {
            most = max(most, crew.bytes)
            samples += 1
            if try condition() { return true }
            if Moment.now >= end { return false }
            usleep(500)
        }
    }
}

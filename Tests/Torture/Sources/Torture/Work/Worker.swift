import CFaults
import Espalier
import Glibc

/// The process that is attacked: it opens a cache and works on it until it is killed.
///
/// A worker owns trees that no other worker writes. It notes in its `Progress` which versions of
/// these it has submitted and which tickets have succeeded, so that a check knows what must be
/// stored. All workers also share trees, which each of them may write, evict and delete.
struct Worker {
    /// The work of a worker.
    enum Flavour: String {
        /// Writes and reads its own trees, and waits for each ticket. Nothing may be lost.
        case keep
        /// Writes and reads shared trees, evicts, compacts, pins, deletes, empties the cache.
        /// Every tree that it reads has to be right.
        case rough
        /// Like `rough`, and also changes the budget.
        case budgets
        /// Opens the cache, writes a tree and closes it, over and over.
        case reopen
        /// Like `rough`, and compacts every few operations.
        case compact
        /// Writes each of its own trees once, to fill a cache.
        case fill
        /// Writes ever new trees, eight together. None may run out of pages.
        case stream
        /// Reads a model whose initializer takes a second, so that the read holds pages.
        case hold
    }

    /// The mistake of a canary, by which an attack proves that it would notice it.
    enum Flaw: String {
        case none
        /// Notes that a write was acknowledged before it submits it.
        case early
        /// Writes a tree in several writes.
        case torn
        /// Stops working after a while, as if it waited for ever.
        case stall
        /// Keeps 2 MB more of memory at each operation.
        case leak
    }

    /// The owner of the trees that all workers write.
    static let shared = 99
    /// The owner of the trees that only the child writes that checks a cache.
    static let checker = 98

    private let plan: Plan
    private let progress: Progress
    private let owner: Int
    private let flavour: Flavour
    private let flaw: Flaw
    private let operations: Int
    private var random: Random
    private var leaked: [[UInt8]] = []

    init(_ arguments: Arguments) throws {
        owner = try arguments.number("owner", 0)
        operations = try arguments.number("operations", .max)
        guard let flavour = Flavour(rawValue: arguments["flavour"] ?? "keep"),
            let flaw = Flaw(rawValue: arguments["flaw"] ?? "none")
        else { throw Mistake("unknown flavour or flaw") }
        (self.flavour, self.flaw) = (flavour, flaw)
        random = Random(seed: try arguments.number("seed", 1), UInt64(owner))
        progress = try Progress(try arguments.required("progress"))
        progress[.state] = 0
        plan = try Plan(arguments)
    }

    /// Works until the operations are done or the parent says stop.
    mutating func run() throws {
        if flavour == .reopen { return reopenAlways() }
        defer { progress[.calls] = Int(faults_count()) }
        let cache: NormalizedCache
        do {
            cache = try plan.open()
        } catch let error as CacheError where error.code == .busy {
            progress[.busy] += 1
            throw error
        }
        progress[.state] = 1
        var number = 0
        while number < operations, progress[.stop] == 0 {
            switch flavour {
            case .fill: writeOwn(cache, number % Progress.trees)
            case .stream: stream(cache, number)
            case .hold: hold(cache)
            default: work(on: cache)
            }
            number += 1
            if flaw == .leak { leaked.append([UInt8](repeating: 1, count: 2_000_000)) }
            if flaw == .stall, number > 2 { while true { sleep(1) } }
        }
        try? WaitingFlush.flush(cache)
        if flavour == .stream { noteLackOfPages(in: try cache.statistics()) }
        faults_note(3, 0, 0)
        cache.close()
        faults_finish()
        progress[.state] = 2
    }

    /// Opening is an operation here, which has to end in time as well.
    private mutating func reopenAlways() {
        while progress[.stop] == 0 {
            let cache = progress.time { () -> NormalizedCache? in
                do { return try plan.open() } catch { note(error, "open") }
                return nil
            }
            guard let cache else { continue }
            progress[.state] = 1
            writeOwn(cache, random.below(Progress.trees))
            progress.time { cache.close() }
        }
        progress[.state] = 2
    }

    private mutating func work(on cache: NormalizedCache) {
        switch flavour {
        case .keep, .reopen, .fill, .stream, .hold:
            let tree = random.below(Progress.trees)
            if random.happens(0.2) { readOwn(cache, tree) } else { writeOwn(cache, tree) }
        case .rough: rough(cache, budgets: false)
        case .budgets: rough(cache, budgets: true)
        case .compact:
            if random.happens(0.02) {
                wait(cache.compact(), "compact")
            } else {
                rough(cache, budgets: false)
            }
        }
    }

    // MARK: Own trees

    private func writeOwn(_ cache: NormalizedCache, _ chosen: Int) {
        // A tree can only be torn when it is written again.
        let tree = flaw == .torn ? chosen % 2 : chosen
        let version = progress.submitted(tree) + 1
        progress.submit(tree, version)
        faults_note(1, Int64(tree), Int64(version))
        if flaw == .early {
            progress.acknowledge(tree, version)
            usleep(3_000)
        }
        let value = Tree(owner: owner, number: tree, version: version)
        if flaw == .torn {
            wait(cache.set(value.branches[0]), "set")
            usleep(3_000)
        }
        guard wait(cache.set(value), "set") else { return }
        progress.acknowledge(tree, version)
        progress[.writes] += 1
        faults_note(2, Int64(tree), Int64(version))
    }

    private func readOwn(_ cache: NormalizedCache, _ tree: Int) {
        let atLeast = flaw == .none ? progress.acknowledged(tree) : 0
        progress.time {
            guard let value = cache.read(Tree.self, Tree.identifier(owner, tree)) else { return }
            note(value.verdict(owner: owner, number: tree))
            if value.version < atLeast { note(.lost("\(value.id) is older than acknowledged")) }
        }
    }

    // MARK: Shared trees

    private mutating func rough(_ cache: NormalizedCache, budgets: Bool) {
        let tree = random.below(Progress.trees)
        let name = Tree.identifier(Self.shared, tree)
        switch random.below(200) {
        case 0..<110: writeShared(cache, tree)
        case 110..<150:
            progress.time {
                cache.read(Tree.self, name).map {
                    note($0.verdict(owner: Self.shared, number: tree))
                }
            }
        case 150..<160:
            let leaf = Leaf("C:\(owner):\(random.below(500))", version: random.below(1_000))
            wait(cache.append([leaf], toCollection: "list:\(tree % 4)"), "append")
        case 160..<165: wait(cache.deleteCollection(forKey: "list:\(tree % 4)"), "deleteCollection")
        case 165..<173: wait(cache.evict(name), "evict")
        case 173: wait(cache.evict(to: ByteCount(600_000)), "evict to")
        case 174..<179: wait(cache.compact(), "compact")
        case 179..<183: wait(cache.pin(name), "pin")
        case 183..<189: wait(cache.unpin(name), "unpin")
        case 189..<193: wait(cache.delete(name), "delete")
        case 193..<195: wait(cache.collectCycles(), "collectCycles")
        case 195 where random.below(5) == 0: wait(cache.removeAll(), "removeAll")
        case 196..<199 where budgets:
            wait(cache.setBudget(.mebibytes(1 + random.below(2))), "setBudget")
        default: progress.time { _ = try? cache.statistics() }
        }
    }

    private mutating func writeShared(_ cache: NormalizedCache, _ tree: Int) {
        let value = Tree(owner: Self.shared, number: tree, version: 1 + random.below(1 << 30))
        // Trees that nobody reads fill the budget, so that the cache evicts all the time.
        let filler = (0..<8).map { _ in
            Tree(owner: owner + 100, number: random.below(100_000), version: 1)
        }
        let ticket = cache.set(value)
        guard random.happens(0.5) else { return }
        if wait(ticket, "set"), wait(cache.set(filler), "set") { progress[.writes] += 1 }
    }

    // MARK: Streams

    private mutating func stream(_ cache: NormalizedCache, _ number: Int) {
        let trees = (0..<8).map {
            Tree(owner: owner + 100, number: number * 8 + $0, version: 1)
        }
        // A write that is refused because of the held read is repeated.
        for _ in 0..<2_000 where progress[.stop] == 0 {
            if wait(cache.set(trees), "set") {
                progress[.writes] += 1
                break
            }
            usleep(2_000)
        }
        let tree = random.below(number * 8 + 8)
        guard random.happens(0.1) else { return }
        progress.time {
            cache.read(Tree.self, Tree.identifier(owner + 100, tree)).map {
                note($0.verdict(owner: owner + 100, number: tree))
            }
        }
    }

    private func hold(_ cache: NormalizedCache) {
        if cache.read(Held.self, "H:1", consistency: .snapshot) != nil {
            progress[.writes] += 1
        } else {
            wait(cache.set(Held(id: "H:1")), "set")
        }
        usleep(500_000)
    }

    private func noteLackOfPages(in statistics: CacheStatistics) {
        let dropped = statistics.droppedWrites["full"] ?? 0
        guard statistics.mapFullRecoveries + dropped > 0 else { return }
        note(.failed("\(statistics.mapFullRecoveries) ran out of pages, \(dropped) were dropped"))
    }

    // MARK: Outcomes

    /// Waits for a ticket. Returns whether it has succeeded.
    @discardableResult
    private func wait(_ ticket: WriteTicket, _ name: String) -> Bool {
        progress.time {
            do {
                try ticket.wait()
                return true
            } catch {
                note(error, name)
                return false
            }
        }
    }

    /// Counts an error. Errors that a caller has to expect are no failures.
    private func note(_ error: any Error, _ name: String) {
        switch (error as? CacheError)?.code {
        case .busy: progress[.busy] += 1
        case .full, .pagesHeld, .pinnedFull, .referenced, .notFound, .dropped, .treeTooLarge: break
        default:
            progress[.failures] += 1
            Console.say("\(name): \(error)")
        }
    }

    private func note(_ verdict: Verdict) {
        guard verdict != .fine, flaw == .none else { return }
        progress[.findings] += 1
        Console.say(verdict.detail)
    }
}

/// A model whose initializer takes a second.
private struct Held: NormalizedModel {
    var id: String
    var modelIdentifier: String? { id }

    init(id: String) { self.id = id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        usleep(1_000_000)
    }

    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(id, forKey: "id") }
}

/// Waits for all writes of a cache, from a thread that can wait.
enum WaitingFlush {
    /// Waits for a ticket that succeeds after those of all earlier writes. It does not call
    /// `NormalizedCache.flush()`, which is asynchronous.
    static func flush(_ cache: NormalizedCache) throws {
        try cache.unpin("nothing").wait()
    }
}

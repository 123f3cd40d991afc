import EspalierLMDB
import EspalierRecords
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Accesses")
struct AccessTests {
    private static let configuration = Configuration.forTests(budget: .mebibytes(1))

    private let text = String(repeating: "x", count: 600)

    @Test(
        "A tree that is read now and then stays whole; one that is only peeked at, or missed, goes"
    )
    func reading() throws {
        try withCache(Self.configuration) { cache in
            for name in ["read", "key", "collection", "transaction", "peeked", "missed"] {
                cache.set(Message("m:\(name)", from: Person("p:\(name)", text)))
            }
            try cache.setModel(Message("m:key", from: Person("p:key", text)), forKey: "k").wait()
            try cache.setCollection(
                [Message("m:collection", from: Person("p:collection", text))], forKey: "c"
            ).wait()
            try cache.overfill {
                #expect(cache.read(Message.self, "m:read") != nil)
                #expect(cache.modelOutcome(Message.self, forKey: "k").value != nil)
                #expect(cache.collection(of: Message.self, forKey: "c") != nil)
                let isHit = try cache.transaction {
                    $0.read(Message.self, "m:transaction") != nil
                }
                #expect(isHit)
                _ = cache.read(Message.self, "m:peeked", access: .peek)
                _ = cache.modelOutcome(Message.self, forKey: "m:peeked", access: .peek)
                // A read as another type is a miss.
                #expect(cache.read(Feed.self, "m:missed") == nil)
            }
            for name in ["read", "key", "collection", "transaction"] {
                #expect(cache.read(Message.self, "m:\(name)", access: .peek) != nil)
                #expect(cache.read(Person.self, "p:\(name)", access: .peek) != nil)
            }
            for name in ["peeked", "missed"] {
                #expect(cache.read(Message.self, "m:\(name)", access: .peek) == nil)
                #expect(cache.read(Person.self, "p:\(name)", access: .peek) == nil)
            }
        }
    }

    @Test("Synchronous and asynchronous reads touch, and peeks do not")
    func stamps() async throws {
        try await withCache { cache in
            try await cache.set([Person("p:1", "Anna"), Person("p:2", "Ben"), Person("p:3", "Cem")])
                .committed
            let before = try (1...3).map { try cache.state("p:\($0)").stamp }
            _ = await cache.read(Person.self, "p:1", access: .peek)
            #expect(await cache.read(Person.self, "p:2", consistency: .snapshot) != nil)
            let name = cache.engine.inspectName(of: "p:3")
            #expect(name == "Cem")
            try await cache.set(Person("next", "")).committed
            let after = try (1...3).map { try cache.state("p:\($0)").stamp }
            #expect(after[0] == before[0])
            #expect(after[1] > before[1])
            #expect(after[2] > after[1])
        }
    }

    @Test("Touches are stored with the next commit, in the order of the reads, before its writes")
    func withCommits() throws {
        try withCache { cache in
            for number in 0..<6 { try cache.set(Person("p:\(number)", "Anna")).wait() }
            for number in [4, 1, 4, 0, 1] { #expect(cache.read(Person.self, "p:\(number)") != nil) }
            try cache.set(Person("p:5", "next")).wait()
            let order = try (0..<6).sorted {
                try cache.state("p:\($0)").stamp < cache.state("p:\($1)").stamp
            }
            #expect(order == [2, 3, 4, 0, 1, 5])
        }
    }

    @Test("Touches that no commit took are stored when the cache is closed")
    func closing() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(Self.configuration)
        let people = (0..<400).map { "p:\($0)" }
        for name in people { try cache.set(Person(name, text)).wait() }
        let before = try cache.state("p:7").stamp
        #expect(cache.read(Person.self, "p:7") != nil)
        cache.close()
        cache = try scratch.open(Self.configuration)
        #expect(try cache.state("p:7").stamp > before)
        try cache.evict(to: ByteCount(200_000)).wait()
        let isPresent = try cache.arePresent(people)
        let kept = try #require(isPresent.indices.first { $0 != 7 && isPresent[$0] })
        #expect(kept > 100)
        #expect(isPresent == people.indices.map { $0 >= kept || $0 == 7 })
        try expectClean(cache)
        cache.close()
    }

    @Test("Many touches are stored without any write")
    func many() throws {
        try withCache { cache in
            let people = (0...AccessLog.flushCount).map { Person("p:\($0)", "") }
            for start in stride(from: 0, to: people.count, by: 500) {
                try cache.set(Array(people[start..<min(start + 500, people.count)])).wait()
            }
            let before = (try cache.lastTransaction, try cache.state("p:0").stamp)
            for person in people { _ = cache.read(Person.self, person.id) }
            let end = ContinuousClock.now + AccessLog.flushDelay / 2
            while try cache.lastTransaction == before.0, .now < end {
                Thread.sleep(forTimeInterval: 0.005)
            }
            #expect(try cache.lastTransaction > before.0)
            #expect(try cache.state("p:0").stamp > before.1)
        }
    }

    @Test("Reading the same tree over and over writes only what is due after a delay")
    func overAndOver() throws {
        try withCache { cache in
            try cache.set(Message("m:1", from: Person("p:1", "Anna"))).wait()
            // Otherwise the writer may still go on with what the last commit has left.
            try cache.waitForEvictor()
            let start = (transaction: try cache.lastTransaction, time: ContinuousClock.now)
            for _ in 0..<20_000 where cache.read(Message.self, "m:1") == nil {
                Issue.record("a miss")
            }
            let flushes = Int((ContinuousClock.now - start.time) / AccessLog.flushDelay) + 1
            #expect(try cache.lastTransaction - start.transaction <= UInt64(flushes))
            #expect(try cache.statistics().hits == 20_000)
        }
    }

    @Test("When everything was read since the last commit, what was read longest ago is evicted")
    func allRead() throws {
        try withCache(Self.configuration) { cache in
            let names = try cache.overfill(budgets: 0.4, bytes: 100)
            for name in names {
                #expect(cache.read(Person.self, name, consistency: .snapshot) != nil)
            }
            try cache.evict(to: ByteCount(300_000)).wait()
            let isPresent = try cache.arePresent(names)
            #expect(isPresent.first == false && isPresent.last == true)
            for name in names.reversed() {
                _ = cache.read(Person.self, name, consistency: .snapshot)
            }
            try cache.evict(to: ByteCount(0)).wait()
            #expect(try cache.statistics().nodes == 0)
        }
    }

    /// One commit can't move all of them to the young end. The next one must not begin with the
    /// same records again.
    @Test(
        "A write needs few commits, even if more was read since the last commit than one can store",
        arguments: [40, 600, 3_000])
    func moreReadThanCommitted(bytes: Int) throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            let names = try cache.overfill(budgets: 1.5, bytes: bytes)
            let left = names.filter { cache.read(Person.self, $0, access: .peek) != nil }
            // Of many small records, so many that the writer does not store the touches by itself.
            let read = left.suffix(AccessLog.flushCount - 100)
            for name in read {
                #expect(cache.read(Person.self, name, consistency: .snapshot) != nil)
            }
            let before = try cache.lastTransaction
            let added = (0..<20).map { "y:\($0)" }
            for name in added {
                try cache.set(Person(name, String(repeating: "y", count: 20_000))).wait()
            }
            // A few for each write and, with some slack, one for every sixteen touches.
            let commits = try cache.lastTransaction - before
            #expect(commits < 400 + read.count / 16, "\(commits) commits")
            // The touches of small records take more pages than a commit may change: those that had
            // to wait count as later than the write.
            if bytes > 40 { #expect(try cache.arePresent(added) == added.map { _ in true }) }
            // What was read last is evicted last.
            let kept = try cache.arePresent(Array(read))
            #expect(kept == kept.sorted { !$0 && $1 })
            try expectClean(cache)
        }
    }

    /// To make room for a write, a transaction stores no touches at first. If it finds only touched
    /// records left, it has to follow the order of the reads, which is not that of the writes.
    @Test("What was read last is evicted last, whatever the order of the writes")
    func readInReverse() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            let names = try cache.overfill(budgets: 1.5)
            let people = names.reversed().filter {
                cache.read(Person.self, $0, access: .peek) != nil
            }
            for name in people {
                #expect(cache.read(Person.self, name, consistency: .snapshot) != nil)
            }
            var isPresent: [Bool] = []
            for number in 0..<20 {
                let text = String(repeating: "y", count: 20_000 + 3_000 * number)
                try cache.set(Person("y:\(number)", text)).wait()
                isPresent = try cache.arePresent(people)
                #expect(isPresent == isPresent.sorted { !$0 && $1 }, "after write \(number)")
            }
            #expect(isPresent.contains(false))
            try expectClean(cache)
        }
    }

    /// What an evicted tree referred to was accessed with it. It does not outlast the trees that
    /// were read later.
    @Test("A tree goes with its parts when all have been read since the last commit")
    func partsInOrderOfReads() throws {
        let rig = try CommitterRig(Self.configuration)
        for number in 0..<8 {
            try rig.set(Branch("tree:\(number)", "", [Branch("part:\(number)", "")]))
        }
        while rig.committer.maintain(isIdle: true) {}
        for number in [6, 1, 4, 0, 7, 2, 5, 3] { #expect(try rig.read(.node, "tree:\(number)")) }
        // Eight steps that spare all trees, and six that remove three of them with their parts.
        let request = CommitTransaction.Request(
            operations: [], goal: .pages(0, .explicit), evictionSteps: 14, logs: .accesses(0))
        let progress = try rig.committer.commitOnce(request, in: rig.holder.current())
        #expect(progress.removals == 6)
        for number in 0..<8 {
            let isEvicted = [6, 1, 4].contains(number)
            #expect(try (rig.handle("tree:\(number)") == nil) == isEvicted, "tree \(number)")
            #expect(try (rig.handle("part:\(number)") == nil) == isEvicted, "part \(number)")
        }
        #expect(try rig.verify().isClean)
    }

    /// The list, and then the record, is what was used longest ago.
    @Test(
        "Room for an edit is not made by evicting what it edits, expired or not",
        arguments: [false, true])
    func roomForEdits(expires: Bool) throws {
        let clock = LateClock()
        var configuration = Configuration.forTests(budget: .mebibytes(1))
        configuration.clock = WallClock(of: clock) { $0.date.withLock { $0 } }
        let maxAge: Duration? = expires ? .seconds(60) : nil
        try withCache(configuration) { cache in
            let high = PagePlan(capacity: try cache.statistics().pageCapacity).highWatermark
            var count = 0
            func fill() throws {
                while try cache.statistics().pagesUsed < high - 4 {
                    count += 1
                    try cache.set(Person("x:\(count)", text)).wait()
                }
            }
            let list = (0..<20).map { Person("e:\($0)", "old") }
            try cache.setCollection(list, forKey: "list", maxAge: maxAge).wait()
            try cache.set(Card("card", name: "Anna", badge: nil), maxAge: maxAge).wait()
            try fill()
            clock.date.withLock { $0 += 60 }
            #expect(try cache.statistics().evictions.records == 0)
            let large = Person("e:20", String(repeating: "y", count: 120_000))
            try cache.append([large], toCollection: "list").wait()
            #expect(try cache.statistics().evictions.records > 10)
            let edited = cache.collection(of: Person.self, forKey: "list", accepting: .stale)
            #expect(edited?.count == 21)

            try cache.evict(to: ByteCount(500_000)).wait()
            try cache.set(Card("card", name: "Anna", badge: nil), maxAge: maxAge).wait()
            try fill()
            clock.date.withLock { $0 += 60 }
            let cards = (0..<150).map { Card("new:\($0)", name: text, badge: 1) }
            try cache.set(cards + [Card("card", name: nil, badge: 1)], policy: .merge).wait()
            #expect(cache.read(Card.self, "card", accepting: .stale)?.name == "Anna")
            try expectClean(cache)
        }
    }

    @Test("Closing a cache stores all touches, even if one commit has no pages for them")
    func manyBeforeClosing() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(.forTests(budget: .mebibytes(1)))
        let names = try cache.overfill(budgets: 1.2, bytes: 20)
        let isPresent = try cache.arePresent(names)
        let left = names.indices.filter { isPresent[$0] }.map { names[$0] }
        let read = Array(left.prefix(3_000).reversed())
        for name in read {
            #expect(cache.read(Person.self, name, consistency: .snapshot) != nil)
        }
        cache.close()
        cache = try scratch.open(.forTests(budget: .mebibytes(1)))
        let stamps = try read.map { try cache.state($0).stamp }
        #expect(stamps == stamps.sorted())
        let others = try left.dropFirst(3_000).map { try cache.state($0).stamp }
        #expect(try #require(others.max()) < stamps[0])
        try expectClean(cache)
        cache.close()
    }

    @Test("What large cycles refer to is evicted in the order of the reads, too")
    func cyclesInOrderOfReads() throws {
        let rig = try CommitterRig(Self.configuration)
        // Cycles of more records than are evicted as one, with a part each that is on none.
        for ring in 0..<3 {
            let members = (0...EvictionPolicy.memberLimit).map {
                Branch("m\(ring):\($0)", "", [Branch(stub: "r\(ring)")])
            }
            try rig.set(Branch("r\(ring)", "", [Branch("part:\(ring)", "")] + members))
        }
        for ring in [1, 2, 0] { #expect(try rig.read(.node, "r\(ring)")) }
        rig.committer.flushLogs()
        for ring in [2, 0, 1] { #expect(try rig.read(.node, "r\(ring)")) }
        // Three steps spare the cycles. Some detach the one that was read first. One evicts its
        // part.
        let request = CommitTransaction.Request(
            operations: [], goal: .pages(0, .explicit), evictionSteps: 30, logs: .accesses(0))
        _ = try rig.committer.commitOnce(request, in: rig.holder.current())
        #expect(try rig.handle("part:2") == nil)
        #expect(try rig.handle("part:0") != nil)
        #expect(try rig.handle("part:1") != nil)
        #expect(try rig.verify().isClean)
    }

    @Test("Touches that wait while the contents are copied to a new file are not lost")
    func copied() throws {
        let rig = try CommitterRig(Self.configuration)
        for name in ["a", "b"] { try rig.set(Branch(name, "text")) }
        while rig.committer.maintain(isIdle: true) {}
        #expect(try rig.read(.node, "a"))
        let before = try rig.holder.current()
        try rig.holder.move(to: nil, room: .mebibytes(100))
        let generation = try rig.holder.current()
        #expect(generation.name != before.name)
        #expect(try rig.read(.node, "b"))
        // As by a read that began before the copy.
        let handles = try ["a", "b"].map { try #require(try rig.handle($0)) }
        _ = rig.committer.logs.accesses.touch(handles[0], in: before.lineageName)
        for handle in handles {
            #expect(
                rig.committer.logs.accesses.touchTime(of: handle, in: generation.lineageName)
                    != nil)
        }
        rig.committer.flushLogs()
        #expect(rig.committer.logs.accesses.deadline == nil)
    }

    @Test("The writer stores no touches before they are due")
    func due() throws {
        let rig = try CommitterRig(Self.configuration)
        try rig.set(Branch("a", "text"))
        while rig.committer.maintain(isIdle: true) {}
        let environment = try rig.holder.current().environment
        let before = try environment.lastTransaction
        #expect(try rig.read(.node, "a"))
        #expect(rig.committer.logs.accesses.deadline != nil)
        #expect(rig.committer.maintain(isIdle: true) == false)
        #expect(try environment.lastTransaction == before)
        rig.committer.flushLogs()
        #expect(try environment.lastTransaction == before + 1)
        #expect(rig.committer.logs.accesses.deadline == nil)
    }

    @Test("A touch of a record that was deleted meanwhile brings nothing back")
    func gone() throws {
        try withCache { cache in
            cache.set(Message("m:1", from: Person("p:1", "Anna")))
            #expect(cache.read(Message.self, "m:1") != nil)
            #expect(cache.read(Person.self, "p:1") != nil)
            cache.delete("p:1")
            try cache.delete("m:1").wait()
            #expect(try cache.statistics().records == 0)
        }
    }

    @Test("What was read last stays when the budget is made smaller, even without a commit between")
    func beforeShrinking() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: .mebibytes(4)))
        for number in 0..<20 { try cache.set(Person("p:\(number)", text)).wait() }
        #expect(cache.read(Person.self, "p:3") != nil)
        try cache.setBudget(.mebibytes(1)).wait()
        try cache.set(Person("next", "")).wait()
        let latest = try (0..<20).max {
            try cache.state("p:\($0)").stamp < cache.state("p:\($1)").stamp
        }
        #expect(latest == 3)
        try expectClean(cache)
        cache.close()
    }
}

extension Engine {
    /// Reads as the delegate does. That is an access, too.
    fileprivate func inspectName(of identifier: String) -> String? {
        var person: Person?
        _ = read(.node(Person.self, identifier), as: Person.self, .latest, .touch) {
            try $0.node(Person.self, identifier, into: &person)
        }
        return person?.name
    }
}

private final class LateClock: Sendable {
    let date = Mutex(Date())
}

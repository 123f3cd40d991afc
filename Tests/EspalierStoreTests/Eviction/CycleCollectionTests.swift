import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("Cycle collection")
struct CycleCollectionTests {
    private static let configuration = Configuration.forTests(budget: .mebibytes(1))

    /// Makes a ring of three records with a record below it. No record refers to it from outside,
    /// and no flag marks it.
    private func makeHiddenCycle(_ cache: NormalizedCache) throws {
        cache.set(
            Ring("a", left: Ring("b", left: Ring("c", left: Ring("a")), right: Ring("below"))))
        try cache.set(Person("p:1", "Anna")).wait()
        try hide(["a", "b", "c"], in: cache)
        #expect(try cache.verify().isClean)
        #expect(try cache.state("a").recencyStamp == nil)
    }

    /// Removes the flags of cycles.
    private func hide(_ names: [String], in cache: NormalizedCache) throws {
        let states = try names.map { (try cache.handle($0), try cache.state($0)) }
        try cache.tamper { transaction, keyspaces in
            for (handle, state) in states {
                guard let handle else { throw Missing() }
                try transaction.move(handle, from: state.recencyStamp, keyspaces)
                var state = state
                state.flags.subtract([.onCycle, .blocked])
                try transaction.put(state.isDefault ? nil : state, of: handle, keyspaces)
            }
        }
    }

    private func isThere(_ name: String, in cache: NormalizedCache) throws -> Bool {
        try cache.handle(name) != nil
    }

    @Test("Writes one by one leave no cycle without a flagged record, however they are linked")
    func friends() throws {
        try withCache(Self.configuration) { cache in
            var random = SeededGenerator(quietly: 11)
            let count = 1_500
            var friends: [Int: [Int]] = [:]
            for number in (0..<count).shuffled(using: &random) {
                let pair = (0..<2).map { _ in Int.random(in: 0..<count, using: &random) }
                friends[number] = pair
                let (left, right) = (Ring("f:\(pair[0])"), Ring("f:\(pair[1])"))
                cache.set(Ring("f:\(number)", left: left, right: right), policy: .merge)
            }
            try cache.set(Person("p:1", "Anna")).wait()
            try expectClean(cache)
            var flagged: Set<Int> = []
            for number in 0..<count where try cache.state("f:\(number)").flags.contains(.onCycle) {
                flagged.insert(number)
            }
            // No cycle may be left without the flagged records. The loop removes records that refer
            // to no record that is left.
            var left = friends.filter { !flagged.contains($0.key) }
            while true {
                let ends = left.filter { $0.value.allSatisfy { left[$0] == nil } }
                guard !ends.isEmpty else { break }
                for number in ends.keys { left[number] = nil }
            }
            #expect(left.isEmpty)
            #expect(flagged.count < count / 2)
            try cache.overfill(budgets: 3)
            let kept = try (0..<count).filter { try isThere("f:\($0)", in: cache) }
            #expect(kept == [])
            try expectClean(cache)
        }
    }

    @Test("A cycle that takes in the record outside which has blocked it is evicted in its turn")
    func blockedCycle() throws {
        try withCache(Self.configuration) { cache in
            try cache.set(Ring("f", left: Ring("y", left: Ring("f")))).wait()
            try cache.overfill(budgets: 0.3, prefix: "a")
            try cache.set(Ring("x", left: Ring("f")), policy: .merge).wait()
            // The evictor judges the cycle, to which x refers.
            var isBlocked = false
            for step in 0..<40 where !isBlocked {
                try cache.overfill(budgets: 0.05, prefix: "b\(step)")
                isBlocked = try ["f", "y"].contains {
                    try cache.state($0).flags.isSuperset(of: [.onCycle, .blocked])
                }
            }
            try #require(isBlocked)
            try cache.set(Ring("y", right: Ring("x")), policy: .merge).wait()
            try cache.set(Person("after", "written after the cycle")).wait()
            var isAfterThere = true
            try cache.overfill(budgets: 3, prefix: "c") {
                guard isAfterThere else { return }
                isAfterThere = try isThere("after", in: cache)
                if !isAfterThere {
                    for name in ["f", "y", "x"] { #expect(try !isThere(name, in: cache)) }
                }
            }
            #expect(!isAfterThere)
            try expectClean(cache)
        }
    }

    @Test("A cycle without a flag is evicted in its turn once a scan has found it")
    func hiddenCycle() throws {
        try withCache(Self.configuration) { cache in
            try makeHiddenCycle(cache)
            // Not full, so the cycle is not evicted as soon as it has a flag.
            try cache.overfill(budgets: 0.5)
            #expect(try isThere("a", in: cache))
            try cache.collectCycles().wait()
            let flags = try ["a", "b", "c"].map { try cache.state($0).flags.contains(.onCycle) }
            #expect(flags.contains(true))
            let statistics = try cache.statistics().evictions
            #expect(statistics.cycleCollections == 1 && statistics.cycleRecordsFound >= 1)
            try cache.overfill(prefix: "y")
            for name in ["a", "b", "c", "below"] { #expect(try !isThere(name, in: cache)) }
            #expect(try cache.statistics().evictions.groups == 1)
        }
    }

    @Test("A scan for cycles runs by itself once a budget's worth of bytes has been written")
    func byItself() throws {
        try withCache(Self.configuration) { cache in
            try makeHiddenCycle(cache)
            try cache.overfill(budgets: 4)
            for name in ["a", "b", "c", "below"] { #expect(try !isThere(name, in: cache)) }
            #expect(try cache.statistics().evictions.cycleCollections >= 1)
        }
    }

    @Test("A cycle that a scan has found stays as long as something refers to it")
    func referred() throws {
        try withCache(Self.configuration) { cache in
            cache.set(Ring("top", left: Ring("a", left: Ring("b", left: Ring("a")))))
            try cache.set(Person("p:1", "Anna")).wait()
            try hide(["a", "b"], in: cache)
            try cache.collectCycles().wait()
            try cache.overfill { #expect(cache.read(Ring.self, "top")?.outline == "top(a(b -) -)") }
            #expect(cache.read(Ring.self, "top", access: .peek)?.outline == "top(a(b -) -)")
            try cache.overfill(prefix: "y")
            for name in ["top", "a", "b"] { #expect(try !isThere(name, in: cache)) }
        }
    }

    @Test("Collecting cycles changes nothing in a clean cache")
    func clean() throws {
        try withCache(Self.configuration) { cache in
            cache.set(Ring("a", left: Ring("b", left: Ring("a"))))
            cache.setCollection((0..<600).map { Person("p:\($0)", "Anna") }, forKey: "c")
            try cache.delete("p:3").wait()
            try cache.pin("a").wait()
            let before = try cache.statistics()
            let contents = try cache.entries()
            try cache.collectCycles().wait()
            let after = try cache.statistics()
            #expect(try cache.entries() == contents)
            #expect(
                (after.records, after.tombstones, after.roots) == (
                    before.records, before.tombstones, before.roots
                ))
            #expect(after.evictions.cycleCollections == 1 && after.evictions.cycleRecordsFound == 0)
            #expect(after.evictions.records == 0)
        }
    }

    @Test(
        "Collecting cycles removes stale names, restores lost ones, and counts references anew",
        arguments: Breakage.all.filter {
            !$0.invariants.isDisjoint(with: [4]) && !$0.invariants.contains(0)
        })
    func mending(breakage: Breakage) throws {
        try withCache { cache in
            let anna = Person("p:anna", "Anna")
            cache.set(Person("p:cem", "Cem"))
            cache.set(Message("m:1", from: anna, to: Person("p:ben", "Ben")))
            cache.set(Message("m:2", from: anna, to: Person("p:cem", "Cem")))
            try cache.delete("p:ben").wait()
            let scene = try Breakage.scene(of: cache)
            try breakage.apply(to: cache, scene)
            #expect(try !cache.verify().isClean)
            try cache.collectCycles().wait()
            try expectClean(cache)
            #expect(cache.read(Person.self, "p:anna") == anna)
            #expect(cache.read(Message.self, "m:2")?.sender == anna)
        }
    }

    @Test("Of two names for a record, collecting cycles keeps its own", arguments: ["p:0", "p:2"])
    func wrongName(wrong: String) throws {
        try withCache { cache in
            let person = Person("p:1", "Anna")
            try cache.set(person).wait()
            let handle = try present(cache.handle("p:1"))
            try cache.tamperIndex { $0.set(wrong, to: handle) }
            try cache.collectCycles().wait()
            #expect(cache.read(Person.self, "p:1") == person)
            #expect(cache.read(Person.self, wrong) == nil)
        }
    }

    @Test("A damaged name leads to its record again after collecting cycles")
    func name() throws {
        try withCache { cache in
            let message = Message("m:1", from: Person("p:1", "Anna"))
            try cache.set(message).wait()
            try cache.tamperIndex { $0.damageGroup(of: "m:1") }
            #expect(cache.read(Message.self, "m:1") == nil)
            try cache.collectCycles().wait()
            #expect(cache.read(Message.self, "m:1") == message)
        }
    }

    @Test("A record whose name another record has taken is evicted when nothing refers to it")
    func twoOfAName() throws {
        try withCache(Self.configuration) { cache in
            try cache.set(Person("p:1", "old")).wait()
            let old = try #require(try cache.handle("p:1"))
            try cache.tamperIndex { $0.remove("p:1") }
            let new = Person("p:1", "new")
            try cache.set(new).wait()
            try cache.collectCycles().wait()
            #expect(cache.read(Person.self, "p:1") == new)
            try cache.overfill { #expect(cache.read(Person.self, "p:1") == new) }
            #expect(try cache.record(old) == nil)
        }
    }

    @Test("Collecting cycles finds what was there before, while others write")
    func busy() throws {
        try withCache(Self.configuration) { cache in
            try makeHiddenCycle(cache)
            let tickets = (0..<5).map { _ in cache.collectCycles() }
            try cache.overfill(prefix: "y") { cache.collectCycles() }
            for ticket in tickets { #expect(code(ticket) == nil) }
            #expect(try !isThere("a", in: cache))
        }
    }
}

@Suite("The progress of a scan for cycles")
struct ScanProgressTests {
    @Test("A failed commit keeps the progress of a scan, and the next one stores it once")
    func failedCommit() throws {
        let rig = try CommitterRig(.forTests(budget: .mebibytes(1)))
        let generation = try rig.holder.current()
        let collector = rig.committer.logs.cycleCollector
        func scanHandle() throws -> UInt64 {
            try generation.environment.read { try $0.counters(generation.keyspaces) }
                .cycleScanHandle
        }
        var progress: ScanProgress?
        let text = String(repeating: "x", count: 2_000)
        for number in 0..<4_000 where progress == nil {
            try rig.set(Branch("b:\(number)", text))
            let start = try scanHandle()
            for _ in 0..<1_000 where start != 0 && progress == nil {
                Thread.sleep(forTimeInterval: 0.005)
                progress = collector.progress(from: start, in: generation)
            }
        }
        let taken = try #require(progress)
        // Fits the map, but not without the pages that are reserved for eviction.
        let pages = try RoomMaker.freePages(of: generation).allocatable - 24
        let flattener = Flattener()
        let long = Branch("long", String(repeating: "x", count: pages * 4_000))
        let draft = try flattener.value { try ModelStorage.encode(long, into: $0) }
        let tooLarge = WriteOperation.nodes(
            flattener.finish(), roots: draft.children)
        #expect(throws: NoRoom.self) {
            try rig.committer.commitOnce(.init(operations: [tooLarge]), in: generation)
        }
        #expect(try scanHandle() == taken.start)
        #expect(collector.progress(from: taken.start, in: generation) == taken)
        try rig.committer.commitOnce(.init(operations: []), in: generation)
        #expect(try scanHandle() == taken.reached)
        #expect(collector.progress(from: taken.start, in: generation) != taken)
    }

    @Test("Progress from another generation, or from where no scan is, is dropped")
    func outOfDate() throws {
        let rig = try CommitterRig(.forTests(budget: .mebibytes(1)))
        let generation = try rig.holder.current()
        let collector = rig.committer.logs.cycleCollector
        for (name, start) in [("another", 1), (generation.name, 7)] as [(String, UInt64)] {
            collector.keep(
                ScanProgress(generation: name, start: start, reached: 9, found: 1))
            #expect(collector.progress(from: 1, in: generation) == nil)
        }
        let valid = ScanProgress(generation: generation.name, start: 1, reached: 9, found: 1)
        collector.keep(valid)
        #expect(collector.progress(from: 1, in: generation) == valid)
        #expect(collector.progress(from: 1, in: generation) == valid)
        collector.finish(valid)
        #expect(collector.progress(from: 1, in: generation) == nil)
    }
}

extension Breakage {
    /// Returns the records that a breakage damages.
    static func scene(of cache: NormalizedCache) throws -> Scene {
        func handle(_ name: String) throws -> Handle {
            guard let handle = try cache.handle(name) else { throw Missing() }
            return handle
        }
        guard let message = try cache.record(handle("m:1")), let ben = message.children.last else {
            throw Missing()
        }
        return Scene(
            message: try handle("m:1"), anna: try handle("p:anna"), ben: ben,
            cem: try handle("p:cem"))
    }
}

extension NormalizedCache {
    /// Returns all entries of the cache apart from its counters.
    fileprivate func entries() throws -> [[UInt8]] {
        try readStorage { transaction, keyspaces in
            var entries: [[UInt8]] = []
            for keyspace in [
                keyspaces.index, keyspaces.nodes, keyspaces.long, keyspaces.state,
                keyspaces.recency, keyspaces.pins,
            ] {
                try transaction.forEach(in: keyspace) { key, value in
                    let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
                    entries.append(
                        key + (try ByteReader.reading(value) { try $0.bytes(count: $0.end) }))
                    return true
                }
            }
            return entries
        }
    }
}

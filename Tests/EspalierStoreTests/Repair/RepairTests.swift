import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Repair by writing a tree again")
struct RepairTests {
    private static let anna = Person(
        "p:1", "Anna, who lives in the house on the hill, in the house on the hill")
    private static let ben = Person("p:2", "Ben")
    private static let message = Message("m:1", from: anna, to: ben)
    private static let tree = Feed("f:1", messages: [message], people: ["a": anna], pinned: message)
    /// The records of the tree, leaves first.
    private static let identifiers = ["p:1", "p:2", "m:1", "f:1"]

    /// Without compression, and with the default compression.
    enum Packing: CaseIterable {
        case uncompressed, compressed

        var configuration: Configuration {
            self == .uncompressed
                ? .uncompressed : Configuration(budget: .mebibytes(50), durability: .noSync)
        }
    }

    private func write(_ cache: NormalizedCache) throws { try cache.set(Self.tree).wait() }

    /// Expects the tree to be readable and the cache to be clean. `except` lists invariants that
    /// the damage has broken and that no write of the tree can repair.
    private func expectWhole(_ cache: NormalizedCache, _ what: String, except: [Int] = []) throws {
        #expect(cache.read(Feed.self, "f:1") == Self.tree, "\(what)")
        #expect(cache.read(Message.self, "m:1") == Self.message, "\(what)")
        #expect(cache.read(Person.self, "p:1") == Self.anna, "\(what)")
        #expect(cache.read(Person.self, "p:2") == Self.ben, "\(what)")
        let problems = try cache.verify().problems.filter { problem in
            !except.contains { "\(problem)".hasPrefix("invariant \($0):") }
        }
        #expect(problems.isEmpty, "\(what): \(problems)")
    }

    @Test("The segments of a lost collection are removed, and the collection can be written again")
    func lostCollection() throws {
        try withCache(.uncompressed) { cache in
            let people = (0..<200).map { Person("e:\($0)", "Element") }
            // The nodes keep the record of the collection apart from its segments.
            try cache.setCollection([Person](), forKey: "c").wait()
            for person in people { try cache.set(person).wait() }
            try cache.setCollection(people, forKey: "c").wait()
            let segments = try cache.verify().segments
            #expect(segments > 0)
            try cache.damage("c", in: .collection)
            #expect(cache.collection(of: Person.self, forKey: "c") == nil)
            for _ in 0..<4 { try cache.set(Person("p:1", "Anna")).wait() }
            try cache.flushAndWait()
            #expect(try cache.verify().segments == 0)
            try cache.setCollection(people, forKey: "c").wait()
            #expect(cache.collection(of: Person.self, forKey: "c") == people)
            #expect(try cache.verify().segments == segments)
            try expectClean(cache)
            cache.deleteCollection(forKey: "c")
            for person in people { cache.delete(person.id) }
            try cache.flushAndWait()
            #expect(try cache.verify().tombstones == 0)
        }
    }

    /// Writes the tree, damages it and writes it again: at once, after a read that found the
    /// damage, and after reopening.
    private func repair(
        _ packing: Packing, _ what: String, except: [Int] = [],
        damaging damage: (NormalizedCache) throws -> Void
    ) throws {
        for isRead in [false, true] {
            for isReopened in [false, true] {
                let scratch = try Scratch()
                var cache = try scratch.open(packing.configuration)
                try write(cache)
                try write(cache)
                try damage(cache)
                if isRead { for id in Self.identifiers { _ = cache.readOutcome(Knot.self, id) } }
                if isRead { _ = cache.read(Feed.self, "f:1") }
                if isReopened {
                    cache.close()
                    cache = try scratch.open(packing.configuration)
                }
                try write(cache)
                try expectWhole(
                    cache, "\(what), read: \(isRead), reopened: \(isReopened)", except: except)
                cache.close()
            }
        }
    }

    @Test(
        "Writing a tree again repairs every fault of a record", arguments: Packing.allCases,
        Fault.allCases)
    func faults(packing: Packing, fault: Fault) throws {
        // These faults change the record but not the counters, so the check of
        // invariant 5 fails.
        let uncounted: [Fault] = [.malformed, .missingValue, .mismatch, .missingField, .lost]
        try repair(packing, "\(fault)", except: uncounted.contains(fault) ? [5] : []) {
            try $0.forge(fault)
        }
    }

    @Test(
        "Writing a tree again repairs any flipped bit in a record", arguments: Packing.allCases,
        identifiers)
    func flippedValues(packing: Packing, identifier: String) throws {
        let scratch = try Scratch()
        let cache = try scratch.open(packing.configuration)
        defer { cache.close() }
        try write(cache)
        let handle = try present(cache.handle(identifier))
        var count = 0
        try cache.tamperWithFrame(of: handle) { count = $0?.count ?? 0 }
        for bit in stride(from: 8, to: count * 8, by: 3) {
            // Each write stores the record in a frame that has other bytes.
            try cache.tamperWithFrame(of: handle) { frame in
                guard let count = frame?.count else { throw Missing() }
                frame?[bit / 8 % count] ^= 1 << UInt8(bit % 8)
            }
            try write(cache)
            guard cache.read(Feed.self, "f:1") != Self.tree else { continue }
            Issue.record("bit \(bit) of \(identifier)")
        }
        try expectWhole(cache, identifier)
    }

    @Test(
        "A container under a key of another length stops no write, and a repair removes it",
        .timeLimit(.minutes(1)), arguments: [[], [0, 0], [1, 2, 3]] as [[UInt8]])
    func keyLengths(key: [UInt8]) throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.uncompressed)
        defer { cache.close() }
        try write(cache)
        try cache.tamper { transaction, keyspaces in
            // Empty: the key of the only container gets a ninth byte.
            guard key.isEmpty else { return try transaction.put(keyspaces.nodes, key, [1]) }
            var (first, bytes): ([UInt8], [UInt8]) = ([], [])
            try transaction.forEach(in: keyspaces.nodes) { key, value in
                (first, bytes) = ([UInt8](copying: key), [UInt8](copying: value))
                return true
            }
            try transaction.delete(keyspaces.nodes, first)
            try transaction.put(keyspaces.nodes, first + [0], bytes)
        }
        try cache.set(Person("p:3", "Cem")).wait()
        try write(cache)
        #expect(cache.read(Feed.self, "f:1") == Self.tree)
        #expect(cache.read(Person.self, "p:3") == Person("p:3", "Cem"))
        try cache.repair().wait()
        try expectWhole(cache, "\(key)")
        #expect(cache.read(Person.self, "p:3") == Person("p:3", "Cem"))
    }

    @Test(
        "Writing a tree again restores a missing record", arguments: Packing.allCases, identifiers)
    func goneRecords(packing: Packing, identifier: String) throws {
        try repair(packing, identifier) { cache in
            let handle = try present(cache.handle(identifier))
            try cache.removeBytes(of: handle)
        }
    }

    @Test(
        "Writing a tree again restores a missing index entry", arguments: Packing.allCases,
        identifiers)
    func goneEntries(packing: Packing, identifier: String) throws {
        try repairIndex(packing, identifier) { $0.remove(identifier) }
    }

    @Test(
        "Writing a tree again repairs an index entry that leads to another record",
        arguments: Packing.allCases, identifiers)
    func otherEntries(packing: Packing, identifier: String) throws {
        for other in Self.identifiers where other != identifier {
            try repairIndex(packing, "\(identifier) leads to \(other)") {
                $0.set(identifier, toRecordOf: other)
            }
        }
    }

    @Test(
        "Writing a tree again repairs an index entry that leads nowhere, and a damaged group",
        arguments: Packing.allCases, identifiers)
    func strayEntries(packing: Packing, identifier: String) throws {
        for handle in [Handle(0), Handle(0x3E7)] {
            try repairIndex(packing, "\(identifier) leads to \(handle)") {
                $0.set(identifier, to: handle)
            }
        }
        try repairIndex(packing, "\(identifier) in a damaged group") {
            $0.damageGroup(of: identifier)
        }
    }

    /// Damages an index entry and writes the tree again. The record that the entry led to may stay
    /// without an index entry (invariant 4).
    private func repairIndex(
        _ packing: Packing, _ what: String, _ damage: (inout IndexTampering) throws -> Void
    ) throws {
        for isReopened in [false, true] {
            let scratch = try Scratch()
            var cache = try scratch.open(packing.configuration)
            defer { cache.close() }
            try write(cache)
            try cache.tamperIndex(damage)
            if isReopened {
                cache.close()
                cache = try scratch.open(packing.configuration)
            }
            try write(cache)
            #expect(cache.read(Feed.self, "f:1") == Self.tree, "\(what)")
            try cache.collectCycles().wait()
            try write(cache)
            try expectWhole(cache, "\(what), reopened: \(isReopened)", except: [4])
        }
    }

    @Test("A repair leaves entries alone that were written after they were found damaged")
    func lateRepair() throws {
        try withCache(.uncompressed, isDamaged: true) { cache in
            let long = Person("p:long", String(repeating: "t", count: 20_000))
            let message = Message("m:1", from: long)
            cache.set(message)
            try cache.set(Self.anna).wait()
            let handle = try present(cache.handle("p:long"))
            let nowhere = Handle(1 << 40)
            try cache.tamperIndex { $0.set("p:1", to: nowhere) }
            try cache.tamper { try $0.delete($1.long, ChunkKey(handle.rawValue, 0)) }
            let repair = try cache.readStorage { transaction, _ in
                try IndexRepair(in: transaction, of: cache.generation)
            }
            #expect(repair.stale.contains { $0.handle == nowhere })
            #expect(!repair.looseChunks.isEmpty)
            // Another commit comes first.
            cache.set(long)
            try cache.set(Self.anna).wait()
            try cache.submit(isDroppable: false) { _ in .repair(repair) }.wait()
            #expect(cache.read(Person.self, "p:1") == Self.anna)
            #expect(cache.read(Message.self, "m:1") == message)
        }
    }

    @Test(
        "A repair keeps neither of two names of a record that can't be read",
        arguments: [false, true])
    func doubtfulNames(isLost: Bool) throws {
        try withCache { cache in
            // The wrong name comes first in the index.
            cache.set(Message("m:1", from: Self.ben))
            try cache.set(Person("p:9", "Zoe")).wait()
            let handle = try present(cache.handle("p:2"))
            try cache.damage(handle)
            if isLost {
                #expect(cache.read(Person.self, "p:2") == nil)
                try cache.set(Person("p:9", "again")).wait()
            }
            try cache.tamperIndex { $0.set("p:1", to: handle) }
            try cache.collectCycles().wait()
            for name in ["p:1", "p:2"] { #expect(try cache.handle(name) == nil) }
            #expect(try cache.state(handle).flags == [.lost, .nameless])
            try cache.set(Self.anna).wait()
            #expect(cache.readOutcome(Message.self, "m:1").reason == .lost(path: "m:1.sender"))
            try cache.set(Message("m:1", from: Self.ben)).wait()
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: Self.ben))
            #expect(cache.read(Person.self, "p:1") == Self.anna)
        }
    }

    @Test(
        "Writing a tree again repairs a missing or damaged shape", arguments: Packing.allCases,
        [false, true])
    func shapes(packing: Packing, isGone: Bool) throws {
        let scratch = try Scratch()
        var cache = try scratch.open(packing.configuration)
        defer { cache.close() }
        try write(cache)
        let handle = try present(cache.handle("p:1"))
        let number = try #require(try cache.record(handle)?.shapeNumber)
        try cache.tamper { transaction, keyspaces in
            if isGone { return _ = try transaction.delete(keyspaces.shapes, number) }
            guard var bytes = try transaction.value(keyspaces.shapes, number) else {
                throw Missing()
            }
            bytes[bytes.count / 2] ^= 4
            try transaction.put(keyspaces.shapes, number, bytes)
        }
        cache.close()
        cache = try scratch.open(packing.configuration)
        try write(cache)
        #expect(cache.read(Feed.self, "f:1") == Self.tree)
        try cache.collectCycles().wait()
        #expect(cache.read(Feed.self, "f:1") == Self.tree)
    }

    @Test("A repair leaves no damaged shape behind", arguments: Packing.allCases)
    func repairsShapes(packing: Packing) throws {
        let scratch = try Scratch()
        var cache = try scratch.open(packing.configuration)
        defer { cache.close() }
        try write(cache)
        let number = try #require(try cache.record(present(cache.handle("p:1")))?.shapeNumber)
        try cache.tamper { transaction, keyspaces in
            guard var bytes = try transaction.value(keyspaces.shapes, number) else {
                throw Missing()
            }
            bytes[bytes.count / 2] ^= 4
            try transaction.put(keyspaces.shapes, number, bytes)
        }
        cache.close()
        cache = try scratch.open(packing.configuration)
        #expect(try !cache.verify().isClean)
        try cache.repair().wait()
        try expectClean(cache)
        try write(cache)
        #expect(cache.read(Feed.self, "f:1") == Self.tree)
        try expectClean(cache)
    }
}

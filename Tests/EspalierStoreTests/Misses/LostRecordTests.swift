import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Damaged records become lost")
struct LostRecordTests {
    private let anna = Person("p:1", "Anna")
    private let ben = Person("p:2", "Ben")
    private let other = Person("p:9", "Zoe")

    private func isLost(_ identifier: String, in cache: NormalizedCache) throws -> Bool {
        guard let handle = try cache.handle(identifier) else { return false }
        let hasBytes = try cache.inspect { try $0.storedByteCount(of: handle) } != nil
        return try cache.state(handle).flags.contains(.lost) && !hasBytes
    }

    @Test("A lost record keeps handle and count, and its parents miss until it is written again")
    func child() throws {
        try withCache { cache in
            let message = Message("m:1", from: ben, to: anna)
            cache.set(message)
            try cache.set(Message("m:2", from: ben, to: anna)).wait()
            let before = try cache.state("p:1")
            let handle = try cache.handle("p:1")
            try cache.damage("p:1")
            #expect(
                cache.readOutcome(Message.self, "m:1").reason
                    == .damaged(path: "m:1.reader", detail: "the check does not match"))
            #expect(try !cache.verify().isClean)
            try cache.set(other).wait()
            try expectClean(cache)
            #expect(try isLost("p:1", in: cache))
            #expect(try cache.state("p:1").referenceCount == before.referenceCount)
            // The field is optional: if the reader were deleted, it would be nil.
            #expect(cache.readOutcome(Message.self, "m:1").reason == .lost(path: "m:1.reader"))
            #expect(cache.readOutcome(Person.self, "p:1").reason == .lost(path: "p:1"))
            try cache.set(anna).wait()
            #expect(cache.read(Message.self, "m:1") == message)
            #expect(try cache.handle("p:1") == handle)
            #expect(try cache.state("p:1").flags == [])
        }
    }

    @Test("A record is lost, and not deleted, if its state is damaged while it is removed as lost")
    func removal() throws {
        try withCache { cache in
            try cache.set(Message("m:1", from: ben, to: anna)).wait()
            let handle = try present(cache.handle("p:1"))
            // What eviction leaves of a long record on a large cycle.
            try cache.tamperIndex { $0.remove("p:1") }
            try cache.tamper { transaction, keyspaces in
                let state = StateEntry(
                    referenceCount: 1, flags: [.pendingRemoval, .lost, .nameless])
                try transaction.put(state, of: handle, keyspaces)
                try transaction.move(handle, to: .never, keyspaces)
                let key = try #require(transaction.stateRange(keyspaces, around: handle).group?.key)
                var group = try #require(try transaction.value(keyspaces.state, key.rawValue))
                group[group.count / 2] ^= 0x10
                try transaction.put(keyspaces.state, key.rawValue, group)
            }
            try cache.set(other).wait()
            #expect(try cache.statistics().evictions.records == 0)
            #expect(cache.readOutcome(Message.self, "m:1").reason == .lost(path: "m:1.reader"))
            try cache.set(Message("m:1", from: ben, to: anna)).wait()
            #expect(cache.read(Message.self, "m:1")?.reader == anna)
        }
    }

    @Test("The children of several lost records lose the references, counted once for all")
    func references() throws {
        try withCache { cache in
            for number in 1...3 { cache.set(Message("m:\(number)", from: anna, to: ben)) }
            try cache.set(Message("m:4", from: anna)).wait()
            for number in 1...3 {
                try cache.damage("m:\(number)")
                #expect(cache.read(Message.self, "m:\(number)") == nil)
            }
            try cache.set(other).wait()
            try expectClean(cache)
            for number in 1...3 { #expect(try isLost("m:\(number)", in: cache)) }
            #expect(try cache.state("p:1").referenceCount == 1)
            #expect(try cache.state("p:2").referenceCount == 0)
            try cache.set((1...3).map { Message("m:\($0)", from: anna, to: ben) }).wait()
            #expect(try cache.state("p:2").referenceCount == 3)
        }
    }

    @Test(
        "The next commit makes exactly the records of a damaged frame or container lost",
        arguments: NormalizedCache.DamagedPart.allCases)
    func frame(part: NormalizedCache.DamagedPart) throws {
        try withCache(.uncompressed) { cache in
            // Some records have their parent in the same frame, some in another one.
            let shared = (0..<10).map { Person("s:\($0)", "shared \($0)") }
            cache.set(shared)
            var messages: [Message] = []
            for number in 0..<200 {
                let sender = Person("p:\(number)", "Person \(number)")
                messages.append(Message("m:\(number)", from: sender, to: shared[number % 10]))
            }
            try cache.set(messages).wait()
            try cache.delete("p:51").wait()
            try cache.pin("m:52").wait()
            let handle = try present(cache.handle("m:52"))
            let damaged = try cache.damage(part, around: handle)
            #expect((part == .frame ? 2...8 : 20...150).contains(damaged.count))
            #expect(cache.readOutcome(Message.self, "m:52").reason?.name == "damaged")
            try cache.set(Person("z:1", "Zoe")).wait()
            try expectClean(cache)
            for message in messages where message.id != "m:51" {
                let places = [
                    (message.id, message.id), (message.sender.id, "\(message.id).sender"),
                    (message.reader?.id ?? "", "\(message.id).reader"),
                ]
                let lost = try places.first { try damaged.contains(present(cache.handle($0.0))) }
                let reason = cache.readOutcome(Message.self, message.id).reason
                #expect(reason == lost.map { .lost(path: $0.1) })
            }
            let isLost = try damaged.contains(present(cache.handle("m:51")))
            #expect(
                cache.readOutcome(Message.self, "m:51").reason
                    == (isLost ? .lost(path: "m:51") : .deleted))
            // Nothing but the damaged records is lost, and all are found again.
            let nodes = try cache.statistics().nodes
            #expect(nodes == 10 + 200 + 200 - 1 + 1 - damaged.count)
            try cache.set(messages.filter { $0.id != "m:51" }).wait()
            for message in messages where message.id != "m:51" {
                #expect(cache.read(Message.self, message.id) == message)
            }
        }
    }

    @Test(
        "Every kind of damage makes a record lost with the next commit",
        arguments: Fault.allCases.filter(\.isDamage))
    func kinds(fault: Fault) throws {
        try withCache { cache in
            try cache.set(Message("m:1", from: anna)).wait()
            try cache.forge(fault)
            #expect(cache.readOutcome(Message.self, "m:1").reason?.name == "damaged")
            try cache.set(other).wait()
            #expect(cache.readOutcome(Message.self, "m:1").reason == .lost(path: "m:1.sender"))
            try expectClean(cache)
        }
    }

    @Test(
        "A record that does not fit the type, or of a later version, does not become lost",
        arguments: [Fault.mismatch, .newer])
    func stays(fault: Fault) throws {
        try withCache(isDamaged: true) { cache in
            try cache.set(Message("m:1", from: anna)).wait()
            try cache.forge(fault)
            let bytes = try cache.readStorage {
                try $0.value($1.nodes, try present(cache.handle("p:1")).rawValue)
            }
            let reason = cache.readOutcome(Message.self, "m:1").reason
            try cache.set(other).wait()
            #expect(cache.readOutcome(Message.self, "m:1").reason == reason)
            #expect(
                try cache.readStorage {
                    try $0.value($1.nodes, try present(cache.handle("p:1")).rawValue)
                }
                    == bytes)
        }
    }

    @Test("A damaged record that a later version replaces before the commit is not lost")
    func newerMeanwhile() throws {
        try withCache(isDamaged: true) { cache in
            try cache.set(Message("m:1", from: anna)).wait()
            try cache.damage("p:1")
            #expect(cache.readOutcome(Message.self, "m:1").reason?.name == "damaged")
            try cache.forge(.newer)
            try cache.set(other).wait()
            #expect(
                cache.readOutcome(Message.self, "m:1").reason
                    == .newerVersion(path: "m:1.sender", version: 3))
        }
    }

    @Test("A record that one projection could not read stays readable for another one")
    func projections() throws {
        try withCache { cache in
            try cache.set(Box("b:1", "text")).wait()
            #expect(cache.readOutcome(Box<Int>.self, "b:1").reason?.name == "undecodable")
            try cache.set(other).wait()
            #expect(cache.read(Box<String>.self, "b:1")?.value == "text")
        }
    }

    @Test("A referenced record without bytes is lost, and an index entry that leads nowhere is not")
    func dangling() throws {
        try withCache(isDamaged: true) { cache in
            cache.set(Message("m:1", from: anna))
            try cache.set(ben).wait()
            try cache.forge(.dangling)
            try cache.tamperIndex { $0.set("p:2", to: Handle(1 << 40)) }
            #expect(cache.readOutcome(Person.self, "p:2").reason == .dangling(path: "p:2"))
            #expect(cache.readOutcome(Person.self, "p:1").reason == .dangling(path: "p:1"))
            try cache.set(other).wait()
            #expect(cache.readOutcome(Person.self, "p:1").reason == .dangling(path: "p:1"))
            #expect(cache.readOutcome(Message.self, "m:1").reason == .dangling(path: "m:1.sender"))
            try cache.set(Person("p:9", "again")).wait()
            #expect(cache.readOutcome(Message.self, "m:1").reason == .lost(path: "m:1.sender"))
            cache.set(anna)
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: anna))
        }
    }

    @Test("An index entry that leads to another record does not make that record lost")
    func misledIndex() throws {
        try withCache(isDamaged: true) { cache in
            cache.set(Message("m:1", from: anna))
            try cache.set(ben).wait()
            let wrong = try present(cache.handle("p:1"))
            try cache.tamperIndex { $0.set("p:2", to: wrong) }
            #expect(cache.readOutcome(Person.self, "p:2").reason == .notFound)
            try cache.set(other).wait()
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: anna))
            #expect(cache.read(Person.self, "p:1") == anna)
        }
    }

    @Test("A damaged record that two index entries lead to is refilled under neither")
    func twoNames() throws {
        try withCache(isDamaged: true) { cache in
            cache.set(Message("m:1", from: anna))
            try cache.set(ben).wait()
            let handle = try present(cache.handle("p:1"))
            try cache.tamperIndex { $0.set("p:2", to: handle) }
            try cache.damage(handle)
            #expect(cache.read(Person.self, "p:1") == nil)
            try cache.set(other).wait()
            try cache.set(ben).wait()
            #expect(cache.read(Person.self, "p:2") == ben)
            #expect(cache.readOutcome(Message.self, "m:1").reason == .lost(path: "m:1.sender"))
        }
    }

    @Test(
        "Keys, collections, segments and records in chunks are lost like nodes",
        arguments: ["k", "c", "segment", "chunked", "first chunk"])
    func entries(what: String) throws {
        try withCache(.uncompressed) { cache in
            let people = (0..<700).map { Person("x:\($0)", "n") }
            let long = Person("l:1", String(repeating: "t", count: 20_000))
            cache.setModel(anna, forKey: "k")
            cache.setCollection(people, forKey: "c")
            try cache.set(Message("m:1", from: long)).wait()
            switch what {
            case "k": try cache.damage("k", in: .key)
            case "c": try cache.damage("c", in: .collection)
            case "segment":
                let collection = try present(cache.handle("c", in: .collection))
                try cache.damage(try #require(try cache.record(collection)?.children.last))
            case "chunked":
                let handle = try present(cache.handle("l:1")).rawValue
                try cache.tamper { try $0.put($1.long, ChunkKey(handle, 2), [1, 2, 3]) }
            default:
                let handle = try present(cache.handle("l:1")).rawValue
                try cache.tamper { try $0.delete($1.long, ChunkKey(handle, 0)) }
            }
            func reasons() -> [String] {
                [
                    cache.modelOutcome(Person.self, forKey: "k").reason,
                    cache.collectionOutcome(of: Person.self, forKey: "c").reason,
                    cache.readOutcome(Message.self, "m:1").reason,
                ].compactMap { $0?.description }
            }
            #expect(reasons().count == 1)
            try cache.set(other).wait()
            let path = what == "k" ? "k" : what == "c" || what == "segment" ? "c" : "m:1.sender"
            #expect(reasons() == [MissReason.lost(path: path).description])
            try expectClean(cache)
            cache.setModel(anna, forKey: "k")
            cache.setCollection(people, forKey: "c")
            try cache.set(long).wait()
            #expect(reasons().isEmpty)
        }
    }

    @Test("Records on cycles, pinned records and roots become lost, and can be deleted and evicted")
    func surroundings() throws {
        try withCache { cache in
            cache.set(Ring("r:1", left: Ring("r:2", left: Ring("r:1"))))
            cache.set(Message("m:1", from: anna))
            try cache.pin("m:1").wait()
            try cache.set(ben).wait()
            for identifier in ["r:1", "m:1", "p:2"] {
                try cache.damage(identifier)
                #expect(cache.readOutcome(Ring.self, identifier).reason?.name == "damaged")
            }
            try cache.set(other).wait()
            try expectClean(cache)
            for identifier in ["r:1", "m:1", "p:2"] {
                #expect(cache.readOutcome(Ring.self, identifier).reason == .lost(path: identifier))
            }
            #expect(code(cache.evict("m:1")) == .referenced)
            try cache.unpin("m:1").wait()
            try cache.evict("m:1").wait()
            #expect(cache.readOutcome(Message.self, "m:1").reason == .notFound)
            try cache.delete("p:2").wait()
            #expect(cache.readOutcome(Person.self, "p:2").reason == .notFound)
            try expectClean(cache)
            #expect(cache.readOutcome(Ring.self, "r:2").reason == .lost(path: "r:2.left"))
            try cache.set(Ring("r:1", left: Ring("r:2", left: Ring("r:1")))).wait()
            #expect(cache.read(Ring.self, "r:1") != nil)
        }
    }

    @Test("A damaged record that a write of the same commit replaces is not lost")
    func replacedMeanwhile() throws {
        try withCache { cache in
            try cache.set(Message("m:1", from: anna)).wait()
            try cache.damage("p:1")
            #expect(cache.readOutcome(Message.self, "m:1").reason?.name == "damaged")
            try cache.set(anna).wait()
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: anna))
            try cache.set(other).wait()
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: anna))
        }
    }

    @Test("A peek makes no record lost, and neither does opening and closing a cache")
    func peeking() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        try cache.set(anna).wait()
        try cache.damage("p:1")
        #expect(cache.readOutcome(Person.self, "p:1", access: .peek).reason?.name == "damaged")
        try cache.set(other).wait()
        #expect(try !isLost("p:1", in: cache))
        cache.close()
        cache = try scratch.open()
        #expect(cache.readOutcome(Person.self, "p:1").reason?.name == "damaged")
        cache.close()
        cache = try scratch.open()
        #expect(try !isLost("p:1", in: cache))
        #expect(try cache.statistics().misses == ["damaged": 2])
        cache.close()
    }

    @Test("An idle cache makes a damaged record lost in one commit, and reading it makes no other")
    func byItself() throws {
        try withCache { cache in
            try cache.set(Message("m:1", from: anna)).wait()
            try cache.damage("p:1")
            #expect(cache.read(Message.self, "m:1") == nil)
            let commits = try cache.statistics().commits
            let deadline = ContinuousClock.now + .seconds(60)
            while try !isLost("p:1", in: cache), ContinuousClock.now < deadline {
                Thread.sleep(forTimeInterval: 0.05)
            }
            #expect(try isLost("p:1", in: cache))
            for _ in 0..<100 { #expect(cache.read(Message.self, "m:1") == nil) }
            #expect(try cache.statistics().commits == commits + 1)
        }
    }
}

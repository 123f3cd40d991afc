import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Damage is a miss, and the next write repairs it")
struct DamageTests {
    private let anna = Person("p:1", "Anna")
    private let ben = Person("p:2", "Ben")

    @Test(
        """
        A damaged record is a miss of every tree that needs it, and the next write of it repairs \
        it
        """
    )
    func record() throws {
        try withCache { cache in
            cache.set(Message("m:1", from: anna, to: ben))
            try cache.damage("p:1")
            #expect(cache.readOutcome(Person.self, "p:1").reason?.name == "damaged")
            #expect(cache.readOutcome(Message.self, "m:1").reason?.name == "damaged")
            #expect(cache.read(Person.self, "p:2") == ben)
            #expect(try !cache.verify().isClean)
            try cache.set(anna).wait()
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: anna, to: ben))
        }
    }

    @Test("Overwriting a damaged record recounts the references that it had")
    func parent() throws {
        try withCache { cache in
            cache.set(Feed("f:1", messages: [Message("m:1", from: anna, to: ben)]))
            try cache.damage("m:1")
            #expect(cache.readOutcome(Feed.self, "f:1").reason?.name == "damaged")
            try cache.set(Message("m:1", from: anna)).wait()
            #expect(cache.read(Feed.self, "f:1")?.messages == [Message("m:1", from: anna)])
            #expect(try cache.state("p:1").referenceCount == 1)
            #expect(try cache.state("p:2").referenceCount == 0)
        }
    }

    @Test(
        """
        Flipping any byte of a record gives a miss or the same model, never a crash or another \
        model
        """
    )
    func everyByte() throws {
        try withCache { cache in
            let message = Message("m:1", from: anna, to: ben)
            try cache.set(message).wait()
            let handle = try #require(try cache.handle("m:1"))
            let key = try cache.readStorage { transaction, keyspaces in
                try transaction.withCursor(keyspaces.nodes) { cursor in
                    _ = try cursor.seek(atOrBefore: handle.rawValue)
                    return try cursor.withKey { try Handle(stored: $0).rawValue }
                }
            }
            let bytes = try #require(try cache.readStorage { try $0.value($1.nodes, key) })
            for position in bytes.indices {
                for bit in [0, 3, 7] {
                    var damaged = bytes
                    damaged[position] ^= 1 << UInt8(bit)
                    try cache.tamper { try $0.put($1.nodes, key, damaged) }
                    #expect(
                        cache.read(Message.self, "m:1", access: .peek) == nil,
                        "byte \(position), bit \(bit)")
                }
                try cache.tamper { try $0.put($1.nodes, key, Array(bytes[..<position])) }
                #expect(
                    cache.read(Message.self, "m:1", access: .peek) == nil, "cut off at \(position)")
            }
            try cache.tamper { try $0.put($1.nodes, key, bytes) }
            #expect(cache.read(Message.self, "m:1") == message)
        }
    }

    @Test("The next write of a record removes its damaged chunks, whether first, middle or missing")
    func chunks() throws {
        try withCache(.uncompressed) { cache in
            let long = Person("p:1", String(repeating: "t", count: 20_000))
            for round in 0..<4 {
                try cache.set(long).wait()
                let handle = try #require(try cache.handle("p:1")).rawValue
                try cache.tamper { transaction, keyspaces in
                    switch round {
                    case 0: try transaction.put(keyspaces.long, ChunkKey(handle, 2), [1, 2, 3])
                    case 1: try transaction.delete(keyspaces.long, ChunkKey(handle, 1))
                    case 2:
                        try transaction.put(
                            keyspaces.long, ChunkKey(handle, 0),
                            [2, 0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F])
                    default: try transaction.delete(keyspaces.long, ChunkKey(handle, 0))
                    }
                }
                #expect(cache.read(Person.self, "p:1") == nil)
                try cache.set(round % 2 == 0 ? anna : long).wait()
                #expect(cache.read(Person.self, "p:1") != nil)
            }
        }
    }

    @Test("A damaged record can be deleted")
    func deleting() throws {
        try withCache { cache in
            cache.set(Message("m:1", from: anna, to: ben))
            try cache.damage("p:2")
            cache.delete("p:2")
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: anna))
            try cache.damage("m:1")
            try cache.delete("m:1").wait()
            #expect(cache.readOutcome(Message.self, "m:1").reason == .notFound)
        }
    }

    @Test(
        "Damaged keys and collections are misses until they are set again",
        arguments: [NameSpace.key, .collection, .segment])
    func entries(nameSpace: NameSpace) throws {
        try withCache { cache in
            for _ in 0..<2 {
                cache.setModel(anna, forKey: "x")
                try cache.setCollection([anna, ben], forKey: "x").wait()
                #expect(cache.modelOutcome(Person.self, forKey: "x").value == anna)
                #expect(cache.collection(of: Person.self, forKey: "x") == [anna, ben])
                if nameSpace == .segment {
                    let collection = try #require(try cache.handle("x", in: .collection))
                    try cache.damage(try #require(try cache.record(collection)?.children.first))
                } else {
                    try cache.damage("x", in: nameSpace)
                }
                let names = [
                    cache.modelOutcome(Person.self, forKey: "x").reason?.name,
                    cache.collectionOutcome(of: Person.self, forKey: "x").reason?.name,
                ]
                #expect(names == (nameSpace == .key ? ["damaged", nil] : [nil, "damaged"]))
            }
            cache.deleteModel(forKey: "x")
            try cache.deleteCollection(forKey: "x").wait()
            #expect(cache.collectionOutcome(of: Person.self, forKey: "x").reason == .notFound)
        }
    }

    @Test(
        """
        An index entry that leads to another record is a miss, and writes and deletes leave that \
        record alone
        """
    )
    func misledIndex() throws {
        try withCache(isDamaged: true) { cache in
            cache.set(Message("m:1", from: anna, to: ben))
            try cache.set(Person("p:3", "Cem")).wait()
            let wrong = try present(cache.handle("p:2"))
            for identifier in ["p:3", "m:1"] {
                try cache.tamperIndex { $0.set(identifier, to: wrong) }
            }
            #expect(cache.readOutcome(Person.self, "p:3").reason == .notFound)
            cache.delete("m:1")
            #expect(cache.readOutcome(Message.self, "m:1").reason == .notFound)
            #expect(cache.read(Person.self, "p:2") == ben)
            cache.set(Message("m:2", from: Person("p:3", "new"), to: ben))
            #expect(
                cache.read(Message.self, "m:2")
                    == Message("m:2", from: Person("p:3", "new"), to: ben))
            #expect(cache.read(Person.self, "p:2") == ben)
            // The only problems are the records that lost their index entries.
            #expect(try Set(cache.verify().problems.map(\.invariant)) == [4])
        }
    }

    @Test("An index entry that leads to a record of the same name in another name space is a miss")
    func misledToNamesake() throws {
        try withCache(isDamaged: true) { cache in
            cache.set(Leaflet(id: "x", text: "a leaflet"))
            cache.setModel(anna, forKey: "x")
            try cache.setCollection([anna, ben], forKey: "x").wait()
            let spaces: [NameSpace] = [.node, .key, .collection]
            let handles = try spaces.map { try present(try cache.handle("x", in: $0)) }
            for (target, handle) in zip(spaces, handles) {
                for space in spaces {
                    try cache.tamperIndex { $0.set("x", in: space, to: handle) }
                }
                let hits: [NameSpace: Bool] = [
                    .node: cache.read(Leaflet.self, "x", access: .peek) != nil,
                    .key: cache.modelOutcome(Person.self, forKey: "x", access: .peek).value != nil,
                    .collection: cache.collectionOutcome(
                        of: Person.self, forKey: "x", access: .peek
                    ).value
                        != nil,
                ]
                #expect(hits.filter(\.value).map(\.key) == [target])
            }
        }
    }

    @Test("An index entry without a valid handle is a miss, and the next write repairs it")
    func brokenIndex() throws {
        try withCache(isDamaged: true) { cache in
            for handle in [Handle(0), Handle(1 << 40), Handle(.max)] {
                try cache.set(anna).wait()
                try cache.tamperIndex { $0.set("p:1", to: handle) }
                #expect(
                    ["damaged", "dangling"].contains(
                        cache.readOutcome(Person.self, "p:1").reason?.name))
                #expect(code(cache.set(anna)) == nil)
                #expect(cache.read(Person.self, "p:1") == anna)
                #expect(code(cache.set(Person("new \(handle)", "new"))) == nil)
                try cache.tamperIndex { $0.set("p:1", to: handle) }
                #expect(code(cache.delete("p:1")) == nil)
            }
        }
    }

    @Test("The next write that needs a damaged group of states replaces it")
    func states() throws {
        try withCache { cache in
            cache.set(Message("m:1", from: anna, to: ben))
            cache.set(Message("m:2", from: anna, to: ben))
            cache.set(Ring("r:1", left: Ring("r:2", left: Ring("r:1"))))
            try cache.delete("p:2").wait()
            let message = try #require(try cache.handle("m:1"))
            let tombstone = try #require(try cache.record(message)?.children.last)
            let handles = try ["p:1", "m:1", "r:1"].map { try present(try cache.handle($0)) }
            let before = try handles.map { try cache.state($0).flags }
            try cache.tamper { transaction, keyspaces in
                let key = try transaction.stateRange(keyspaces, around: tombstone).first
                try transaction.put(keyspaces.state, key.rawValue, [1, 2, 3, 4, 5, 6, 7, 8, 9])
            }
            // Without its state, nothing tells whether p:2 was deleted or is lost.
            #expect(cache.read(Message.self, "m:2", consistency: .snapshot) == nil)
            #expect(cache.read(Person.self, "p:1") == anna)
            #expect(try !cache.verify().isClean)
            // The second write splits a cycle, and the third closes it.
            cache.set(Message("m:1", from: Person("p:9", "Zoe")))
            cache.set(Ring("r:1"))
            try cache.set(Ring("r:1", left: Ring("r:2", left: Ring("r:1")))).wait()
            #expect(try handles.map { try cache.state($0).flags } == before)
            #expect(try cache.state(tombstone).flags == [.lost, .nameless])
            #expect(cache.readOutcome(Message.self, "m:2").reason?.name == "lost")
            try cache.set(Message("m:2", from: anna, to: ben)).wait()
            #expect(cache.read(Message.self, "m:2") == Message("m:2", from: anna, to: ben))
        }
    }

    @Test("Rebuilt states keep counts, pins, the order of eviction, and what is lost")
    func rebuiltStates() throws {
        try withCache { cache in
            for number in 0..<300 {
                cache.set(Message("m:\(number)", from: Person("p:\(number % 90)", "")))
            }
            cache.set(Message("m:gone", from: Person("gone", "")))
            cache.set(Message("m:lost", from: Person("lost", "")))
            try cache.delete("gone").wait()
            try cache.pin("m:7").wait()
            #expect(cache.read(Message.self, "m:3") != nil)
            let lost = try present(cache.handle("lost"))
            try cache.damage(lost)
            #expect(cache.read(Message.self, "m:lost") == nil)
            try cache.set(Person("other", "")).wait()
            let before = try storedStates(of: cache)
            #expect(before[lost]?.flags.contains(.lost) == true)
            #expect(before.values.contains { $0.flags == .tombstone })

            func damageAndRepair(_ groups: [UInt64]) throws {
                try damage(groups: groups, in: cache)
                #expect(try !cache.verify().isClean)
                try cache.repair().wait()
                #expect(try cache.verify().isClean)
                expect(try storedStates(of: cache), isRebuiltFrom: before)
            }
            let groups = try keys(of: before, in: cache)
            #expect(groups.count > 1)
            for group in groups {
                // A repaired group that is less than half full takes in the next one.
                guard try keys(of: before, in: cache).contains(group) else { continue }
                try damageAndRepair([group])
            }
            try damageAndRepair(keys(of: before, in: cache))
            #expect(cache.readOutcome(Message.self, "m:lost").reason?.name == "lost")
        }
    }

    /// A record without bytes counts as lost. It may have lost its name, too.
    private func expect(
        _ after: [Handle: StateEntry], isRebuiltFrom before: [Handle: StateEntry]
    ) {
        for handle in Set(before.keys).union(after.keys) {
            let before = before[handle] ?? .default
            let after = after[handle] ?? .default
            let missing: StateEntry.Flags = [.lost, .tombstone]
            if before.flags.isDisjoint(with: missing) {
                #expect(after.flags == before.flags, "\(handle)")
            } else {
                #expect(!after.flags.isDisjoint(with: missing), "\(handle)")
            }
            #expect(after.referenceCount == before.referenceCount, "\(handle)")
            #expect(after.recencyStamp == before.recencyStamp, "\(handle)")
        }
    }

    private func keys(
        of states: [Handle: StateEntry], in cache: NormalizedCache
    ) throws -> [UInt64] {
        try cache.readStorage { transaction, keyspaces in
            let keys = try states.keys.map {
                try transaction.stateRange(keyspaces, around: $0).first.rawValue
            }
            return Set(keys).sorted()
        }
    }

    private func damage(groups: [UInt64], in cache: NormalizedCache) throws {
        try cache.tamper { transaction, keyspaces in
            for key in groups {
                guard var bytes = try transaction.value(keyspaces.state, key) else {
                    throw Missing()
                }
                bytes[bytes.count / 2] ^= 0x20
                try transaction.put(keyspaces.state, key, bytes)
            }
        }
    }

    private func storedStates(of cache: NormalizedCache) throws -> [Handle: StateEntry] {
        try cache.readStorage { transaction, keyspaces in
            var states: [Handle: StateEntry] = [:]
            try transaction.forEachState(keyspaces) { states[$0] = $1 }
            return states
        }
    }

    @Test(
        """
        Records of a damaged shape are misses, at the latest after reopening, until they are \
        written again
        """
    )
    func shapes() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        try cache.set(anna).wait()
        let handle = try #require(try cache.handle("p:1"))
        let number = try #require(try cache.record(handle)?.shapeNumber)
        try cache.tamper { try $0.put($1.shapes, number, [9, 9, 9, 9, 9, 9, 9, 9, 9, 9]) }
        cache.close()
        cache = try scratch.open()
        #expect(cache.readOutcome(Person.self, "p:1").reason?.name == "damaged")
        #expect(code(cache.set(anna)) == nil)
        #expect(cache.read(Person.self, "p:1") == anna)
        // No record with that shape could be read, so the write has deleted the damaged entry.
        try expectClean(cache)
        cache.close()
    }

    @Test("Damaged counters leave reads alone, and the next write starts a new generation")
    func counters() throws {
        try withCache { cache in
            try cache.set(anna).wait()
            try cache.tamper {
                try $0.put($1.info, Counters.key, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
            }
            #expect(code { _ = try cache.statistics() } == .damaged)
            #expect(cache.read(Person.self, "p:1") == anna)
            #expect(code(cache.set(ben)) == nil)
            #expect(cache.read(Person.self, ben.id) == ben)
            #expect(cache.read(Person.self, "p:1") == nil)
            #expect(try cache.statistics().generationsReplaced == ["damaged": 1])
        }
    }
}

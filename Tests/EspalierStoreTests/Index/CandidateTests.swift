import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Names of which the index holds the beginning")
struct CandidateTests {
    private static let stored = "user:3F2504E0-4F89-11D3-9A0C-0305E82C3301"
    /// Begins like the stored one.
    private static let similar = "user:3F9A11B2-0000-4111-8222-933344445555"
    private let anna = Person(stored, "Anna")
    private let other = Person(similar, "Zoe")

    private func isCut(_ identifier: String, in cache: NormalizedCache) throws -> Bool {
        var isCut = false
        let handle = try present(cache.handle(identifier))
        try cache.readStorage { transaction, keyspaces in
            try transaction.forEachIndexEntry(keyspaces) { entry in
                if entry.handle == handle { isCut = !entry.isWhole }
                return true
            }
        }
        return isCut
    }

    @Test(
        "A name that begins like a stored one is not found, written, deleted or pinned in its place"
    )
    func mistaken() throws {
        try withCache { cache in
            cache.setModel(anna, forKey: Self.stored)
            cache.setCollection([anna], forKey: Self.stored)
            try cache.set(Message("message:1", from: anna)).wait()
            #expect(try isCut(Self.stored, in: cache))
            let similar = Self.similar
            #expect(cache.readOutcome(Person.self, similar).reason == .notFound)
            #expect(cache.modelOutcome(Person.self, forKey: similar).reason == .notFound)
            #expect(
                cache.collectionOutcome(of: Person.self, forKey: similar).reason == .notFound)
            try cache.delete(similar).wait()
            try cache.evict(similar).wait()
            #expect(code(cache.pin(similar)) == .notFound)
            #expect(cache.read(Person.self, Self.stored) == anna)
            try cache.set(other).wait()
            #expect(cache.read(Person.self, Self.stored) == anna)
            #expect(cache.read(Person.self, similar) == other)
            // The key stands for the node, because there is no entry of the key.
            #expect(cache.modelOutcome(Person.self, forKey: similar).value == other)
            #expect(cache.read(Message.self, "message:1")?.sender == anna)
            try cache.delete(Self.stored).wait()
            #expect(cache.read(Person.self, similar) == other)
            #expect(cache.read(Person.self, Self.stored) == nil)
        }
    }

    @Test("A transaction sees its own names, and tells them from similar ones that are stored")
    func transaction() throws {
        try withCache { cache in
            try cache.set(anna).wait()
            try cache.transaction { transaction in
                #expect(transaction.read(Person.self, Self.similar) == nil)
                try transaction.set(other)
                #expect(transaction.read(Person.self, Self.similar) == other)
                #expect(transaction.read(Person.self, Self.stored) == anna)
                try transaction.delete(Self.stored)
                #expect(transaction.read(Person.self, Self.stored) == nil)
                #expect(transaction.read(Person.self, Self.similar) == other)
            }
            #expect(cache.read(Person.self, Self.similar) == other)
        }
    }

    @Test(
        "A damaged record whose name is cut is not filled by a write of any name",
        arguments: [stored, similar], [false, true])
    func damaged(written: String, isFound: Bool) throws {
        try withCache { cache in
            let message = Message("message:1", from: anna)
            try cache.set(message).wait()
            let handle = try present(cache.handle(Self.stored))
            try cache.damage(handle)
            if isFound {
                #expect(cache.readOutcome(Message.self, "message:1").reason?.name == "damaged")
                try cache.set(Person("p:9", "later")).wait()
                #expect(try cache.handle(Self.stored) == nil)
            }
            let person = Person(written, "new")
            try cache.set(person).wait()
            #expect(cache.read(Person.self, written) == person)
            #expect(try cache.handle(written) != handle)
            #expect(cache.readOutcome(Message.self, "message:1").reason?.name == "lost")
            #expect(try cache.state(handle).flags == [.lost, .nameless])
            try expectClean(cache)
            try cache.set(message).wait()
            #expect(cache.read(Message.self, "message:1") == message)
        }
    }

    @Test("Deleting a name that may be that of a damaged record makes it lost, not deleted")
    func deleted() throws {
        try withCache { cache in
            let message = Message("message:1", from: Person("p:1", ""), to: anna)
            try cache.set(message).wait()
            try cache.damage(Self.stored)
            try cache.delete(Self.similar).wait()
            // If the reader were deleted, it would be nil.
            #expect(cache.readOutcome(Message.self, "message:1").reason?.name == "lost")
        }
    }

    @Test("A pinned record that is damaged keeps its name, and is filled by the next write of it")
    func pinned() throws {
        try withCache { cache in
            let message = Message("message:1", from: anna)
            cache.set(message)
            try cache.pin(Self.stored).wait()
            #expect(try isCut(Self.stored, in: cache))
            try cache.damage(Self.stored)
            #expect(cache.read(Message.self, "message:1") == nil)
            try cache.set(Person("p:9", "later")).wait()
            #expect(cache.readOutcome(Message.self, "message:1").reason?.name == "lost")
            try cache.set(anna).wait()
            #expect(cache.read(Message.self, "message:1") == message)
        }
    }

    @Test("A write that meets a damaged group keeps the records of all its names")
    func recovered() throws {
        try withCache { cache in
            let people = (0..<800).map { Person("person:\($0 * 7_919)", "\($0)") }
            try cache.set(people).wait()
            let before = try people.map { try present(cache.handle($0.modelIdentifier ?? "")) }
            try cache.tamperIndex { $0.damageGroup(of: "person:0") }
            #expect(cache.readOutcome(Person.self, "person:0").reason?.name == "damaged")
            try cache.set(Person("person:0", "new")).wait()
            try expectClean(cache)
            let after = try people.map { try present(cache.handle($0.modelIdentifier ?? "")) }
            #expect(after == before)
            #expect(cache.read(Person.self, "person:0")?.name == "new")
            #expect(cache.read(Person.self, "person:7919")?.name == "1")
        }
    }

    @Test("A write that meets the second of two damaged groups keeps the names of both")
    func neighbours() throws {
        try withCache { cache in
            let people = (0..<3_000).map { Person("person:\($0 * 7_919)", "\($0)") }
            try cache.set(people).wait()
            let names = people.map { $0.modelIdentifier ?? "" }
            let before = try names.map { try present(cache.handle($0)) }
            let (groups, keys) = try cache.readStorage { transaction, keyspaces in
                var groups: [[UInt8]] = []
                try transaction.forEachKey(in: keyspaces.index, from: [] as [UInt8]) {
                    groups.append([UInt8](copying: $0))
                    return true
                }
                return (groups, names.map { keyspaces.indexKey(.node, $0) })
            }
            try #require(groups.count > 4)
            /// Returns a name that one of the groups holds.
            func name(in group: Int) throws -> String {
                let place = keys.firstIndex { key in
                    !key.lexicographicallyPrecedes(groups[group])
                        && key.lexicographicallyPrecedes(groups[group + 1])
                }
                return names[try #require(place)]
            }
            let (first, second) = (try name(in: 1), try name(in: 2))
            try cache.tamperIndex {
                $0.damageGroup(of: first)
                $0.damageGroup(of: second)
            }
            try cache.set(Person(second, "new")).wait()
            #expect(try names.map { try present(cache.handle($0)) } == before)
            #expect(cache.read(Person.self, first) != nil)
            try expectClean(cache)
        }
    }

    @Test("An index that is rebuilt from the records is equal to the one that was lost")
    func rebuilt() throws {
        try withCache { cache in
            let people = (0..<3_000).map { Person("person:\($0 * 7_919)-\($0 * 31 % 97)", "") }
            cache.set(people)
            cache.setModel(people[0], forKey: "key")
            try cache.setCollection(people, forKey: "collection").wait()
            func names() throws -> Set<String> {
                try cache.inspect { inspection throws in
                    var names: Set<String> = []
                    for nameSpace in [NameSpace.node, .key, .collection] {
                        try inspection.forEachEntry(of: nameSpace) {
                            names.insert("\(nameSpace) \($0.identifier) \($0.handle)")
                            return true
                        }
                    }
                    return names
                }
            }
            let before = try names()
            #expect(before.count == 3_002)
            try cache.tamper { transaction, keyspaces in
                var keys: [[UInt8]] = []
                try transaction.forEachKey(in: keyspaces.index, from: [UInt8]()) { key in
                    keys.append(try ByteReader.reading(key) { try $0.bytes(count: $0.end) })
                    return true
                }
                for (number, key) in keys.enumerated() {
                    if number % 2 == 0 {
                        try transaction.delete(keyspaces.index, key)
                    } else {
                        try transaction.put(keyspaces.index, key, [1, 2, 3] as [UInt8])
                    }
                }
            }
            #expect(try !cache.verify().isClean)
            try cache.repair().wait()
            try expectClean(cache)
            #expect(try names() == before)
        }
    }
}

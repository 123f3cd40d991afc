import EspalierRecords
import EspalierStore
import EspalierTestSupport
import Testing

@Suite("Collections")
struct CollectionTests {
    private let people = (0..<5).map { Person("p:\($0)", "Person \($0)") }

    private func identifiers(_ cache: NormalizedCache, _ key: String = "c") -> [String]? {
        cache.collection(of: Person.self, forKey: key)?.map(\.id)
    }

    @Test("An append to a damaged collection fails, as if a part of it were damaged")
    func appendToDamaged() throws {
        try withCache { cache in
            let people = (0..<3).map { Person("e:\($0)", "x") }
            try cache.setCollection(people, forKey: "c").wait()
            try cache.damage("c", in: .collection)
            #expect(code(cache.append([Person("e:3", "x")], toCollection: "c")) == .notFound)
            #expect(cache.collection(of: Person.self, forKey: "c") == nil)
            // Now it is lost.
            #expect(code(cache.append([Person("e:3", "x")], toCollection: "c")) == .notFound)
            try cache.setCollection(people, forKey: "c").wait()
            try cache.append([Person("e:3", "x")], toCollection: "c").wait()
            #expect(cache.collection(of: Person.self, forKey: "c")?.count == 4)
            try cache.deleteCollection(forKey: "c").wait()
            try cache.append([Person("e:3", "x")], toCollection: "c").wait()
            #expect(cache.collection(of: Person.self, forKey: "c")?.count == 1)
            try expectClean(cache)
        }
    }

    @Test("A deleted element that is being removed stays hidden while segments are joined")
    func joinedBesideRemoval() throws {
        try withCache { cache in
            // A long record stands in chunks, which a commit of its own removes.
            let people = (0..<600).map {
                Person("e:\($0)", $0 == 590 ? String(repeating: "long", count: 20_000) : "x")
            }
            try cache.setCollection(people, forKey: "c").wait()
            let tickets = try withBlockedWriter(cache) {
                [
                    cache.delete("e:590"),
                    cache.remove(Person.self, fromCollection: "c") { person in
                        Int(person.id.dropFirst(2)).map { $0 < 300 } == true
                    },
                    cache.remove(at: 292, fromCollection: "c"),
                ]
            }
            for ticket in tickets { try ticket.wait() }
            let left = cache.collection(of: Person.self, forKey: "c")?.map(\.id)
            #expect(left == (300..<600).filter { $0 != 590 && $0 != 593 }.map { "e:\($0)" })
            try expectClean(cache)
        }
    }

    @Test("A collection keeps its order, and elements that occur repeatedly")
    func duplicates() throws {
        try withCache { cache in
            cache.setCollection([people[0], people[1], people[0]], forKey: "c")
            cache.append([people[0], people[0]], toCollection: "c")
            #expect(identifiers(cache) == ["p:0", "p:1", "p:0", "p:0", "p:0"])
            cache.remove(at: 2, fromCollection: "c")
            #expect(identifiers(cache) == ["p:0", "p:1", "p:0", "p:0"])
            cache.delete("p:0")
            #expect(identifiers(cache) == ["p:1"])
        }
    }

    @Test("A collection supports insertion, append, update, move and removal")
    func edits() throws {
        try withCache { cache in
            cache.setCollection(Array(people[0...1]), forKey: "c")
            cache.insert([people[2], people[3]], at: 1, inCollection: "c")
            #expect(identifiers(cache) == ["p:0", "p:2", "p:3", "p:1"])
            cache.insert([people[4]], at: 4, inCollection: "c")
            cache.update(people[0], at: 3, inCollection: "c")
            #expect(identifiers(cache) == ["p:0", "p:2", "p:3", "p:0", "p:4"])
            cache.move(from: 0, to: 4, inCollection: "c")
            #expect(identifiers(cache) == ["p:2", "p:3", "p:0", "p:4", "p:0"])
            cache.move(from: 4, to: 1, inCollection: "c")
            #expect(identifiers(cache) == ["p:2", "p:0", "p:3", "p:0", "p:4"])
            cache.move(from: 2, to: 2, inCollection: "c")
            cache.remove(1..<4, fromCollection: "c")
            cache.remove(1..<1, fromCollection: "c")
            #expect(identifiers(cache) == ["p:2", "p:4"])
            cache.remove(0..<2, fromCollection: "c")
            #expect(identifiers(cache) == [])
            cache.insert([people[1]], at: 0, inCollection: "c")
            #expect(identifiers(cache) == ["p:1"])
        }
    }

    @Test("An edit outside of the collection fails and changes nothing")
    func outOfRange() throws {
        try withCache { cache in
            cache.setCollection(Array(people[0...2]), forKey: "c")
            let tickets = [
                cache.insert([people[3]], at: 4, inCollection: "c"),
                cache.insert([people[3]], at: -1, inCollection: "c"),
                cache.update(people[3], at: 3, inCollection: "c"),
                cache.update(people[3], at: -1, inCollection: "c"),
                cache.remove(at: 3, fromCollection: "c"), cache.remove(at: -1, fromCollection: "c"),
                cache.remove(at: .max, fromCollection: "c"),
                cache.remove(2..<4, fromCollection: "c"),
                cache.remove(-1..<1, fromCollection: "c"), cache.remove(4..<4, fromCollection: "c"),
                cache.move(from: 3, to: 0, inCollection: "c"),
                cache.move(from: 0, to: 3, inCollection: "c"),
                cache.move(from: .min, to: .max, inCollection: "c"),
            ]
            #expect(tickets.map(code) == Array(repeating: .outOfRange, count: tickets.count))
            #expect(identifiers(cache) == ["p:0", "p:1", "p:2"])
            #expect(cache.read(Person.self, "p:3") == nil)
        }
    }

    @Test("A missing collection can be appended to, and not edited otherwise")
    func missing() throws {
        try withCache { cache in
            #expect(cache.collectionOutcome(of: Person.self, forKey: "c").reason == .notFound)
            #expect(code(cache.move(from: 0, to: 0, inCollection: "c")) == .notFound)
            #expect(code(cache.update(people[0], at: 0, inCollection: "c")) == .notFound)
            cache.append([people[0]], toCollection: "c")
            #expect(identifiers(cache) == ["p:0"])
            cache.append([Person](), toCollection: "d")
            #expect(identifiers(cache, "d") == [])
            cache.deleteCollection(forKey: "c")
            #expect(identifiers(cache) == nil)
            #expect(cache.read(Person.self, "p:0") == people[0])
        }
    }

    @Test("A collection contains models without identifier inline")
    func inlineElements() throws {
        try withCache { cache in
            let remarks = (0..<6).map {
                Remark("remark \($0)", on: $0 % 2 == 0 ? people[$0 / 2] : nil)
            }
            cache.setCollection(remarks, forKey: "c")
            cache.append([Remark("node", on: people[1], id: "r:1")], toCollection: "c")
            cache.update(Remark("changed"), at: 1, inCollection: "c")
            cache.move(from: 0, to: 5, inCollection: "c")
            let read = try #require(cache.collection(of: Remark.self, forKey: "c"))
            #expect(
                read.map(\.text) == [
                    "changed", "remark 2", "remark 3", "remark 4", "remark 5", "remark 0", "node",
                ])
            #expect(read[5].subject == people[0])
            cache.delete("p:0")
            #expect(cache.collection(of: Remark.self, forKey: "c")?[5] == Remark("remark 0"))
        }
    }

    @Test("A collection leaves deleted elements out, and indexes count what a reader sees")
    func deletedElements() throws {
        try withCache { cache in
            cache.setCollection(people, forKey: "c")
            cache.delete("p:0")
            cache.delete("p:2")
            #expect(identifiers(cache) == ["p:1", "p:3", "p:4"])
            cache.insert([people[2]], at: 1, inCollection: "c")
            #expect(identifiers(cache) == ["p:1", "p:2", "p:3", "p:4"])
            cache.delete("p:3")
            cache.update(people[3], at: 2, inCollection: "c")
            #expect(identifiers(cache) == ["p:1", "p:2", "p:3"])
            try cache.delete("p:1").wait()
            #expect(code(cache.remove(at: 2, fromCollection: "c")) == .outOfRange)
            #expect(try cache.statistics().tombstones == 1)
            try cache.append([people[1]], toCollection: "c").wait()
            #expect(identifiers(cache) == ["p:2", "p:3", "p:1"])
            #expect(try cache.statistics().tombstones == 0)
        }
    }

    @Test("Moves, splits and joins keep inline elements whose child was deleted")
    func inlineWithDeletedChild() throws {
        try withCache { cache in
            let remarks = (0..<600).map { Remark("\($0)", on: Person("p:\($0)", "Person")) }
            cache.setCollection(remarks, forKey: "c")
            for number in stride(from: 0, to: 600, by: 3) { cache.delete("p:\(number)") }
            cache.move(from: 0, to: 599, inCollection: "c")
            cache.insert((0..<300).map { Remark("new \($0)") }, at: 100, inCollection: "c")
            cache.remove(0..<700, fromCollection: "c")
            cache.move(from: 0, to: 10, inCollection: "c")
            let read = try #require(cache.collection(of: Remark.self, forKey: "c"))
            #expect(read.count == 200)
            #expect(read.filter { $0.subject == nil }.allSatisfy { (Int($0.text) ?? 1) % 3 == 0 })
            #expect(read.last?.text == "0")
        }
    }

    @Test("An element of a collection is updated by a write of its node anywhere")
    func consistency() throws {
        try withCache { cache in
            cache.setCollection([Message("m:1", from: people[0])], forKey: "c")
            cache.set(Person("p:0", "renamed"))
            #expect(
                cache.collection(of: Message.self, forKey: "c")?.first?.sender.name == "renamed")
        }
    }

    @Test("One name may be an identifier, a key and a collection's key at once")
    func nameSpaces() throws {
        try withCache { cache in
            cache.set(Person("x", "node"))
            cache.setCollection([people[0]], forKey: "x")
            cache.setModel(people[1], forKey: "x")
            cache.delete("x")
            #expect(cache.read(Person.self, "x") == nil)
            #expect(identifiers(cache, "x") == ["p:0"])
            #expect(cache.modelOutcome(Person.self, forKey: "x").value == people[1])
        }
    }

    @Test("An element that cannot be read makes the whole collection a miss")
    func gap() throws {
        try withCache { cache in
            cache.setCollection(people, forKey: "c")
            cache.set(Bag("p:3", ["other": "thing"]))
            cache.set(Card("p:3", name: nil, badge: nil))
            #expect(
                cache.collectionOutcome(of: Person.self, forKey: "c").reason?.name == "incomplete")
        }
    }
}

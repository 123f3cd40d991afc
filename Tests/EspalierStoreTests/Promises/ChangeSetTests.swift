import EspalierRecords
import EspalierStore
import Testing

@Suite("Each commit yields a change set")
struct ChangeSetTests {
    private let anna = Person("p:1", "Anna")
    private let ben = Person("p:2", "Ben")

    /// Returns the change sets of the commits that `body` causes.
    private func changes(_ body: (NormalizedCache) throws -> Void) async throws -> [ChangeSet] {
        try await withCache { cache in
            let stream = cache.changes()
            try body(cache)
            cache.close()
            return await stream.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(
        """
        Change sets come in the order of commits, with the written and deleted identifiers and the \
        keys
        """)
    func contents() async throws {
        let sets = try await changes { cache in
            try cache.set(Message("m:1", from: anna, to: ben)).wait()
            try cache.set(Message("m:1", from: anna, to: Person("p:2", "Benny"))).wait()
            try cache.delete("p:2").wait()
            try cache.setModel(anna, forKey: "me").wait()
            try cache.setCollection([anna], forKey: "people").wait()
            try cache.deleteModel(forKey: "me").wait()
            try cache.deleteCollection(forKey: "people").wait()
            try cache.removeAll().wait()
        }
        #expect(sets.map(\.written) == [["m:1", "p:1", "p:2"], ["p:2"], [], [], [], [], [], []])
        #expect(sets.map(\.deleted) == [[], [], ["p:2"], [], [], [], [], []])
        #expect(sets.map(\.keys) == [[], [], [], ["me"], ["people"], ["me"], ["people"], []])
        #expect(sets.map(\.isReset) == [false, false, false, false, false, false, false, true])
        #expect(sets.map(\.isEmptied) == sets.map(\.isReset))
        #expect(sets.dropLast().map(\.commit) == sets.dropLast().map(\.commit).sorted())
    }

    @Test("A commit of many writes lists what was deleted and written again, and no other deletion")
    func manyWritesAndDeletions() async throws {
        let sets = try await changes { cache in
            try cache.set(Person("p:new", "New")).wait()
            try cache.write { batch in
                for number in 0..<200 { batch.set(Person("p:\(number)", "Person")) }
                for number in 0..<50 { batch.delete("p:\(number)") }
                batch.delete("p:new")
                batch.set(Person("p:7", "Again"))
                batch.delete("p:8")
                batch.set(Person("p:new", "Again"))
                batch.delete("p:new")
            }.wait()
        }
        #expect(sets[1].written == (50..<200).map { "p:\($0)" } + ["p:7"])
        #expect(Set(sets[1].deleted) == Set((0..<50).map { "p:\($0)" } + ["p:new"]))
    }

    @Test("A write that changes nothing yields no change set")
    func nothingChanged() async throws {
        let sets = try await changes { cache in
            try cache.set(anna).wait()
            try cache.set(anna).wait()
            try cache.delete("nobody").wait()
            #expect(code(cache.insert([anna], at: 3, inCollection: "none")) == .notFound)
            for _ in 0..<2 { try cache.setCollection([anna], forKey: "people").wait() }
            try cache.insert([Person](), at: 1, inCollection: "people").wait()
            try cache.update(anna, at: 0, inCollection: "people").wait()
            try cache.move(from: 0, to: 0, inCollection: "people").wait()
        }
        #expect(sets.map(\.written) == [["p:1"], []])
        #expect(sets.map(\.keys) == [[], ["people"]])
    }

    @Test(
        """
        A node written and then deleted in one commit counts as deleted, and one deleted and then \
        written as both
        """
    )
    func net() async throws {
        let sets = try await changes { cache in
            try cache.set(ben).wait()
            try withBlockedWriter(cache) {
                cache.set(anna)
                cache.set(Person("p:1", "Anne"))
                cache.delete("p:1")
                cache.delete("p:2")
                cache.set(ben)
                cache.set(Person("p:2", "Benny"))
            }
        }
        let last = try #require(sets.last)
        #expect(Set(last.deleted) == ["p:1", "p:2"])
        #expect(Set(last.written) == ["p:2"])
    }

    @Test("Every subscriber gets all change sets from its subscription on")
    func subscribers() async throws {
        try await withCache { cache in
            let first = cache.changes()
            try cache.set(anna).wait()
            let second = cache.changes()
            try cache.set(ben).wait()
            cache.close()
            let late = cache.changes()
            #expect(await first.reduce(0) { count, _ in count + 1 } == 2)
            #expect(await second.reduce(0) { count, _ in count + 1 } == 1)
            #expect(await late.reduce(0) { count, _ in count + 1 } == 0)
        }
    }
}

import EspalierRecords
import EspalierStore
import EspalierTestSupport
import Testing

@Suite("What is set is read back")
struct RoundTripTests {
    private static let anna = Person("p:anna", "Anna")
    private static let ben = Person("p:ben", "Ben")
    private static let feed = Feed(
        "f:1",
        messages: [
            Message("m:1", from: anna, to: ben), Message("m:2", from: ben),
            Message("m:3", from: anna),
        ],
        people: ["first": anna, "second": ben, "third": anna], pinned: Message("m:2", from: ben),
        cover: Cover("both", of: anna))

    @Test("A tree with shared children is read back whole, and each of its nodes on its own")
    func sharedChildren() throws {
        try withCache { cache in
            try cache.set(Self.feed).wait()
            #expect(cache.read(Feed.self, "f:1") == Self.feed)
            #expect(cache.read(Message.self, "m:2") == Message("m:2", from: Self.ben))
            #expect(cache.read(Person.self, "p:anna") == Self.anna)
            #expect(try cache.statistics().nodes == 6)
        }
    }

    @Test("Suspending and blocking reads return the same")
    func bothForms() async throws {
        try await withCache { cache in
            cache.set(Self.feed)
            #expect(await cache.read(Feed.self, "f:1") == Self.feed)
            let outcome = await cache.readOutcome(Feed.self, "f:2")
            #expect(outcome.reason == .notFound)
        }
    }

    @Test("A person who is updated anywhere is updated in every tree")
    func updatedEverywhere() throws {
        try withCache { cache in
            cache.set(Self.feed)
            cache.set(Message("m:9", from: Person("p:anna", "Anne")))
            let read = try #require(cache.read(Feed.self, "f:1"))
            #expect(read.messages.map(\.sender.name) == ["Anne", "Ben", "Anne"])
            #expect(read.people["third"]?.name == "Anne")
            #expect(read.cover?.subject.name == "Anne")
        }
    }

    @Test("Writing the same again writes no record, not even after reopening")
    func identicalRewrite() throws {
        let scratch = try Scratch()
        for round in 0..<3 {
            let cache = try scratch.open()
            try cache.set(Self.feed).wait()
            try cache.setCollection([Self.anna, Self.ben], forKey: "people").wait()
            try cache.setModel(Self.anna, forKey: "me").wait()
            let statistics = try cache.statistics()
            #expect(statistics.recordsWritten == 9)
            #expect(statistics.recordsUnchanged == round * 11 + 3)
            try expectClean(cache)
            cache.close()
        }
    }

    @Test("A hit reports how many records it decoded")
    func recordCount() throws {
        try withCache { cache in
            cache.set(Self.feed)
            guard case .hit(let hit) = cache.readOutcome(Feed.self, "f:1") else {
                Issue.record("a miss"); return
            }
            #expect(!hit.isCut)
            #expect(hit.recordCount >= 6)
        }
    }

    @Test("Random trees are read back as they were set", arguments: [1, 2, 3] as [UInt64])
    func randomTrees(seed: UInt64) throws {
        try withCache { cache in
            var generator = TreeGenerator(SeededGenerator(seed: seed))
            var trees: [TypedTree<TreeTypes.Node>] = []
            for _ in 0..<60 { trees.append(TypedTree(generator.tree())) }
            for tree in trees { cache.set(tree) }
            for tree in trees {
                #expect(
                    cache.read(TypedTree<TreeTypes.Node>.self, tree.tree.identifier ?? "") == tree,
                    "seed \(seed)")
            }
        }
    }

    @Test("Hits are counted, and misses are counted by reason")
    func counting() throws {
        try withCache { cache in
            cache.set(Self.anna)
            _ = cache.read(Person.self, "p:anna")
            _ = cache.read(Person.self, "p:nobody")
            _ = cache.read(Message.self, "p:anna")
            let statistics = try cache.statistics()
            #expect(statistics.hits == 1)
            #expect(statistics.misses == ["notFound": 1, "incomplete": 1])
        }
    }
}

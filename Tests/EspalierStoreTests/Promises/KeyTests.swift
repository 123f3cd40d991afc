import EspalierModels
import EspalierRecords
import EspalierStore
import Testing

@Suite("Models under keys")
struct KeyTests {
    private let anna = Person("p:1", "Anna")

    @Test("A key refers to the node of a model that has an identifier")
    func reference() throws {
        try withCache { cache in
            cache.setModel(anna, forKey: "me")
            cache.set(Person("p:1", "Anne"))
            #expect(cache.modelOutcome(Person.self, forKey: "me").value?.name == "Anne")
            cache.delete("p:1")
            #expect(cache.modelOutcome(Person.self, forKey: "me").reason == .deleted)
            try cache.deleteModel(forKey: "me").wait()
            #expect(cache.modelOutcome(Person.self, forKey: "me").reason == .notFound)
            #expect(try cache.statistics().tombstones == 0)
        }
    }

    @Test("A key contains a model that has no identifier")
    func inline() throws {
        try withCache { cache in
            let remark = Remark("hello", on: anna)
            cache.setModel(remark, forKey: "today")
            #expect(cache.modelOutcome(Remark.self, forKey: "today").value == remark)
            cache.set(Person("p:1", "Anne"))
            #expect(cache.modelOutcome(Remark.self, forKey: "today").value?.subject?.name == "Anne")
            cache.delete("p:1")
            #expect(cache.modelOutcome(Remark.self, forKey: "today").value == Remark("hello"))
        }
    }

    @Test("A key may change from a reference to an inline model and back")
    func inlineOrReference() throws {
        try withCache { cache in
            for identifier in ["r:1", nil, "r:2", nil] as [String?] {
                let remark = Remark("hello", on: anna, id: identifier)
                cache.setModel(remark, forKey: "today")
                #expect(cache.modelOutcome(Remark.self, forKey: "today").value == remark)
            }
        }
    }

    @Test("A key that equals the model's identifier is the node itself and replaces an entry")
    func identifierAsKey() throws {
        try withCache { cache in
            cache.setModel(Person("p:2", "Ben"), forKey: "p:1")
            #expect(cache.modelOutcome(Person.self, forKey: "p:1").value?.name == "Ben")
            #expect(cache.read(Person.self, "p:1") == nil)
            try cache.setModel(anna, forKey: "p:1").wait()
            #expect(cache.modelOutcome(Person.self, forKey: "p:1").value == anna)
            #expect(cache.read(Person.self, "p:1") == anna)
            #expect(try cache.statistics().keys == 0)
        }
    }

    @Test("A key without an entry reads the node of that identifier")
    func fallback() throws {
        try withCache { cache in
            cache.set(anna)
            #expect(cache.modelOutcome(Person.self, forKey: "p:1").value == anna)
            #expect(cache.modelOutcome(Person.self, forKey: "p:2").reason == .notFound)
        }
    }

    @Test("Deleting a key leaves the node that it refers to")
    func deletedKey() throws {
        try withCache { cache in
            cache.setModel(anna, forKey: "me")
            cache.deleteModel(forKey: "me")
            #expect(cache.read(Person.self, "p:1") == anna)
        }
    }
}

@Suite("The cache behind providers")
struct CacheDelegateTests {
    private func model(_ cache: any CacheDelegate, _ key: String?) async -> (Badge?, Bool) {
        await withCheckedContinuation { continuation in
            cache.modelForKey(key, context: nil) { (badge: Badge?, error) in
                continuation.resume(returning: (badge, error != nil))
            }
        }
    }

    private func collection(_ cache: any CacheDelegate, _ key: String?) async -> [Badge]? {
        await withCheckedContinuation { continuation in
            cache.collectionForKey(key, context: nil) { (badges: [Badge]?, _) in
                continuation.resume(returning: badges)
            }
        }
    }

    @Test("A cache delegate sets, reads and deletes models and collections under their keys")
    func models() async throws {
        try await withCache { cache in
            let badge = Badge(id: "b:1", count: 1)
            cache.setModel(badge as any SimpleModel, forKey: "b:1", context: nil)
            cache.setModel(Badge(id: nil, count: 2), forKey: "loose", context: nil)
            #expect(await model(cache, "b:1").0 == badge)
            #expect(await model(cache, "loose").0?.count == 2)
            cache.setCollection(
                [badge, badge, Badge(id: nil, count: 3)], forKey: "all", context: nil)
            #expect(await collection(cache, "all")?.map(\.count) == [1, 1, 3])
            cache.deleteModel(badge, forKey: "b:1", context: nil)
            #expect(await model(cache, "b:1").0 == nil)
            #expect(await collection(cache, "all")?.map(\.count) == [3])
        }
    }

    @Test("A cache delegate reads nothing for a nil key and deletes by the model's identifier")
    func nilKey() async throws {
        try await withCache { cache in
            let badge = Badge(id: "b:1", count: 1)
            cache.setModel(badge as any SimpleModel, forKey: "b:1", context: nil)
            #expect(await model(cache, nil) == (nil, false))
            #expect(await collection(cache, nil) == nil)
            cache.deleteModel(Badge(id: nil, count: 1), forKey: nil, context: nil)
            #expect(await model(cache, "b:1").0 == badge)
            cache.deleteModel(badge, forKey: nil, context: nil)
            #expect(await model(cache, "b:1").0 == nil)
        }
    }

    @Test("A cache delegate reports an error for a type that cannot be stored and none for a miss")
    func errors() async throws {
        try await withCache { cache in
            #expect(await model(cache, "nobody") == (nil, false))
            try cache.set(Person("p:1", "Anna")).wait()
            let isError = await withCheckedContinuation { continuation in
                cache.modelForKey("p:1", context: nil) { (model: Opaque?, error) in
                    continuation.resume(returning: error != nil)
                }
            }
            #expect(isError)
        }
    }
}

import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Lists of stored nodes")
struct ListingTests {
    private struct Item: NodeModel, Codable, NormalizedModel, Hashable {
        let id: String
        var modelIdentifier: String? { Self.modelIdentifier(id: id) }
        static var identifierPrefix: String { "Item:" }
        static func modelIdentifier(id: String) -> String { "Item:" + id }
    }

    private static let items =
        (0..<300).map { Item(id: "\($0)") } + [Item(id: String(repeating: "long", count: 200))]

    private func fill(_ cache: NormalizedCache) throws {
        cache.set(Person("Itemx", ""))
        cache.set(Person("Item", ""))
        cache.set(Person("Jtem:1", ""))
        cache.set(Self.items)
        try cache.setModel(Person("p", ""), forKey: "Item:key").wait()
    }

    @Test("Pages of identifiers have each node of the type once", arguments: [1, 7, 64, 1_000])
    func pages(limit: Int) throws {
        try withCache { cache in
            try fill(cache)
            var found: [String] = []
            var page = try cache.identifiers(of: Item.self, limit: limit)
            while let last = page.last {
                #expect(page.count <= limit)
                found += page
                page = try cache.identifiers(of: Item.self, limit: limit, after: last)
            }
            #expect(found.count == Self.items.count)
            #expect(Set(found) == Set(Self.items.map { "Item:" + $0.id }))
            if Encryption.inTests == nil {
                #expect(found.dropLast() == found.dropLast().sorted()[...])
            }
        }
    }

    @Test("A sequence of all nodes reads each of them")
    func all() async throws {
        try await withCache { cache in
            try fill(cache)
            var found: Set<Item> = []
            for try await item in cache.all(Item.self) { found.insert(item) }
            #expect(found == Set(Self.items))
        }
    }

    @Test("A node is read by its id")
    func byID() throws {
        try withCache { cache in
            try cache.set(Item(id: "7")).wait()
            #expect(cache.read(Item.self, id: "7") == Item(id: "7"))
            #expect(cache.read(Item.self, id: "8") == nil)
            #expect(cache.readOutcome(Item.self, id: "7").value == Item(id: "7"))
            #expect(cache.readOutcome(Item.self, id: "8").reason == .notFound)
        }
    }

    #if DEBUG
    @Test("A message names the type of a read with another type's prefix, and no identifier")
    func prefix() throws {
        let message = try #require(PrefixCheck.message("Person:7", Item.self))
        #expect(message.contains("Item"))
        #expect(message.contains("'Item:'"))
        #expect(!message.contains("Person:7"))
        #expect(PrefixCheck.message("Item:7", Item.self) == nil)
        #expect(PrefixCheck.message("Item:7", Person.self) == nil)
    }
    #endif

    @Test("A closed cache throws")
    func closed() throws {
        try withCache { cache in
            cache.close()
            let error = #expect(throws: CacheError.self) {
                try cache.identifiers(of: Item.self)
            }
            #expect(error?.code == .closed)
        }
    }
}

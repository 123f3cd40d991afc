#if Encryption
import EspalierEncryption
import EspalierModels
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

/// A model whose every name and value is a text that the tests search for.
private struct MarkedType: NormalizedModel, Hashable {
    var id: String
    var text: String
    var child: Person?

    var modelIdentifier: String? { id }

    init(_ id: String, _ text: String, _ child: Person?) {
        self.id = id
        self.text = text
        self.child = child
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "markedField")
        child = try decoder.decode(forKey: "child")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "markedField")
        try encoder.encode(child, forKey: "child")
    }
}

@Suite("An encrypted cache shows nothing of its contents")
struct PlaintextTests {
    private static let markers = [
        "markedIdentifier", "markedValue", "markedField", "MarkedType", "markedKey",
        "markedCollection", "markedPerson", "notFound", "Person",
    ]

    private static func fill(_ cache: NormalizedCache) async throws {
        for number in 0..<1_200 {
            cache.set(
                MarkedType(
                    "markedIdentifier:\(number)", "a markedValue of number \(number), and more",
                    Person("markedPerson:\(number % 30)", "markedValue")))
        }
        let long = String(repeating: "markedIdentifier", count: 60)
        cache.set(MarkedType(long, String(repeating: "markedValue", count: 2_000), nil))
        cache.setModel(Person("markedPerson:1", "markedValue"), forKey: "markedKey")
        cache.setCollection([Person("markedPerson:2", "markedValue")], forKey: "markedCollection")
        try await cache.pin("markedIdentifier:3").committed
        try await cache.compact().committed
        #expect(try cache.dictionaries.entries.isEmpty == false)
        // Statistics count misses by type.
        #expect(await cache.read(MarkedType.self, "markedIdentifier:missing") == nil)
        #expect(await cache.read(MarkedType.self, "markedIdentifier:7") != nil)
        #expect(await cache.read(MarkedType.self, long)?.text.count == 22_000)
        cache.delete("markedIdentifier:5")
        try await cache.flush()
    }

    @Test("No file of an encrypted cache contains a name or a value")
    func encrypted() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.encrypted())
        try await Self.fill(cache)
        try expectClean(cache)
        #expect(try scratch.files(containing: Self.markers) == [:])
        cache.close()
        #expect(try scratch.files(containing: Self.markers) == [:])
        let reopened = try scratch.open(.encrypted())
        try expectClean(reopened)
        #expect(await reopened.read(MarkedType.self, "markedIdentifier:8")?.child != nil)
        #expect(await reopened.read(Person.self, "markedPerson:1")?.name == "markedValue")
        reopened.close()
    }

    @Test("The search finds the names and values of a cache without encryption")
    func canary() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Configuration(durability: .noSync))
        try await Self.fill(cache)
        cache.close()
        let found = Set(try scratch.files(containing: Self.markers).values.flatMap(\.self))
        #expect(found == Set(Self.markers))
    }

    @Test("Two caches with one key have no value in common")
    func salts() throws {
        var values: [Set<[UInt8]>] = []
        for _ in 0..<2 {
            let scratch = try Scratch()
            let cache = try scratch.open(.encrypted())
            try cache.set(Message("m:1", from: Person("p:1", "Ada"))).wait()
            cache.close()
            try scratch.withStoredValues { environment in
                let stored = try StoredValue.all(in: environment)
                values.append(
                    Set(
                        stored.filter { !["recency", "state"].contains($0.keyspace) }.flatMap {
                            [$0.value, ["index"].contains($0.keyspace) ? $0.key : []]
                        }.filter { $0.count > 8 }))
            }
        }
        #expect(values[0].count > 4)
        #expect(values[0].isDisjoint(with: values[1]))
    }
}
#endif

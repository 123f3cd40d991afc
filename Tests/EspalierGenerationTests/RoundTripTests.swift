#if Macros
import Espalier
import Foundation
import Testing

@testable import EspalierGeneration

/// What generated types must be able to do with a document.
///
/// Everything is compared: the models that were stored with those that are read, and the JSON that
/// the models write with the JSON that they were made from.
@Suite("Generated types keep a document")
struct RoundTripTests {
    private let decoder = JSONDecoder()
    private let encoder = JSONEncoder()

    init() {
        decoder.dateDecodingStrategy = .iso8601
        encoder.dateEncodingStrategy = .iso8601
    }

    /// Decodes a document, encodes it again, and expects the same JSON.
    private func decode<Value: Codable>(_ type: Value.Type, _ file: GeneratedFile) throws -> Value {
        let data = try Data(contentsOf: file.document)
        let value = try decoder.decode(type, from: data)
        let expected = try JSON(parsing: data, name: "the document")
        let written = try JSON(parsing: encoder.encode(value), name: "what was written")
        #expect(differences(expected, written) == [])
        return value
    }

    /// The places where two values differ. Numbers are equal if their values are.
    private func differences(_ a: JSON, _ b: JSON, at path: String = "") -> [String] {
        switch (a, b) {
        case (.object(let a), .object(let b)):
            return Set(a.keys).union(b.keys).sorted().flatMap { key -> [String] in
                guard let one = a[key], let other = b[key] else { return ["\(path).\(key)"] }
                return differences(one, other, at: "\(path).\(key)")
            }
        case (.array(let a), .array(let b)) where a.count == b.count:
            return a.indices.flatMap { differences(a[$0], b[$0], at: "\(path)[\($0)]") }
        case (.integer(let a), .number(let b)), (.number(let b), .integer(let a)):
            return Double(a) == b ? [] : [path]
        default: return a == b ? [] : [path]
        }
    }

    private func withCache(_ body: (NormalizedCache) async throws -> Void) async throws {
        let cache = try NormalizedCache(inMemory: Configuration())
        defer { cache.close() }
        try await body(cache)
        let report = try cache.verify()
        #expect(report.isClean, "\(report.problems)")
    }

    @Test("A value of which nothing is known keeps an integer above Int64.max")
    func unsigned() throws {
        let text = "[18446744073709551615,-1,1.5]"
        let value = try decoder.decode([EventJSON].self, from: Data(text.utf8))
        #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == text)
    }

    @Test("A document of the schema with every feature is read back equal")
    func catalog() async throws {
        let catalog = try decode(Catalog.self, .catalog)
        try await withCache { cache in
            let ticket = cache.setModel(catalog, forKey: "catalog")
            try await ticket.committed
            #expect(ticket.contradictions == 0)
            // What follows is read from records, and not from the memory of decoded trees.
            cache.trimMemory()
            let outcome = await cache.modelOutcome(Catalog.self, forKey: "catalog")
            #expect(outcome.value == catalog, "\(outcome)")
        }
    }

    @Test("A schema's document has the values that its types name")
    func values() throws {
        let catalog = try decode(Catalog.self, .catalog)
        let (first, second) = (catalog.products[0], catalog.products[1])
        #expect(first.state == .inStock)
        #expect(second.state == .unknown("on-its-way"))
        #expect(first.stars == .value(.value4))
        #expect(second.stars == .null)
        #expect(catalog.products[2].stars == .absent)
        #expect(second.replacedBy.wrapped?.stars == .value(.unknown(9)))
        #expect(second.replacedBy.wrapped?.size == .value(.integer(3)))
        #expect(first.releasedAt.wrapped?.timeIntervalSince1970 == 1_714_550_400)
        #expect(first.category.wrapped?.parent.wrapped?.name == "Garden")
        #expect(first.media.wrapped?[2] == .quote(Quote(kind: "quote", text: "It stands.")))
        guard case .unknown(.object(let hologram))? = first.media.wrapped?[3] else {
            Testing.Issue.record("a kind that the schema does not know is kept as JSON")
            return
        }
        #expect(hologram["depth"] == .array([.integer(1), .number(2.5), .null]))
        #expect(catalog.products[3].size == .value(.unknown(CatalogJSON.bool(true))))
        #expect(catalog.nextPage == .null)
    }

    @Test("A member that refers to an enum by `allOf` has its values")
    func enumByAllOf() throws {
        let products = try decode(Catalog.self, .catalog).products
        #expect(
            products.map(\.season) == [
                .value(.summer), .null, .value(.unknown("spring")), .absent,
            ])
    }

    @Test("A discriminator tells schemas apart that have the same required members")
    func discriminator() throws {
        let products = try decode(Catalog.self, .catalog).products
        let tube = Tube(length: 2, packingType: "tube", weight: 1.5)
        #expect(products[0].packing == .value(.tube(tube)))
        #expect(products[1].packing == .value(.wooden(Crate(packingType: "wooden", weight: 3))))
        guard case .unknown? = products[2].packing.wrapped else {
            Testing.Issue.record("a kind that the schema does not know is kept as JSON")
            return
        }
    }

    @Test("Text is a value of an enum before it is a URL, and a URL only if that keeps the text")
    func textAndURLs() throws {
        let products = try decode(Catalog.self, .catalog).products
        let manual = try #require(URL(string: "https://example.org/manual"))
        #expect(
            products.map(\.manual) == [
                .value(.manualState(.onRequest)), .value(.url(manual)),
                .value(.manualState(.unknown("ask us"))), .absent,
            ])
        #expect(products[0].source == .value(.string("hello world")))
        guard case .url? = products[1].source.wrapped else {
            Testing.Issue.record("an address is a URL")
            return
        }
    }

    @Test("Objects with identifiers are records, and a response that lacks members keeps them")
    func partial() async throws {
        let catalog = try decode(Catalog.self, .catalog)
        try await withCache { cache in
            try await cache.setModel(catalog, forKey: "catalog").committed
            let id = catalog.products[0].id
            let row = Data(
                """
                {"id": "\(id)", "name": "Long ladder", "price": {"amount": 1, "currency": "SEK"},
                 "state": "sold-out", "tags": [], "default": true, "homepage": null}
                """.utf8)
            try await cache.set(decoder.decode(Product.self, from: row)).committed
            let product = await cache.read(Product.self, id: id)
            #expect(product?.name == "Long ladder")
            #expect(product?.state == .soldOut)
            #expect(product?.homepage == .null)
            #expect(product?.stars == .value(.value4))
            #expect(product?.media.wrapped?.count == 4)
            let garden = await cache.read(Category.self, id: 1)
            #expect(garden?.name == "Garden")
            #expect(await cache.read(Reviewer.self, id: 8)?.name == "Bo")
        }
    }

    @Test(
        "A page of Twitter's search is read back equal, to the last position",
        .enabled(if: GeneratedFile.search.isPresent))
    func search() async throws {
        let search = try decode(Search.self, .search)
        #expect(search.statuses.count == 100)
        try await withCache { cache in
            let ticket = cache.setModel(search, forKey: "search")
            try await ticket.committed
            #expect(ticket.contradictions == 0)
            // What follows is read from records, and not from the memory of decoded trees.
            cache.trimMemory()
            let outcome = await cache.modelOutcome(Search.self, forKey: "search")
            #expect(outcome.value == search)
            #expect(try cache.statistics().records == 1 + statuses(search).count + users(search))
        }
    }

    /// The identifiers of all statuses, those that are retweeted too.
    private func statuses(_ search: Search) -> Set<Int> {
        Set(search.statuses.map(\.id) + search.statuses.compactMap(\.retweetedStatus.wrapped?.id))
    }

    private func users(_ search: Search) -> Int {
        let all = search.statuses + search.statuses.compactMap(\.retweetedStatus.wrapped)
        return Set(all.map(\.user.id)).count
    }

    @Test(
        "A page of GitHub's events is read back equal, with one record for each user",
        .enabled(if: GeneratedFile.event.isPresent))
    func events() async throws {
        let events = try decode([Event].self, .event)
        #expect(events.count == 30)
        try await withCache { cache in
            let ticket = cache.setCollection(events, forKey: "events")
            try await ticket.committed
            #expect(ticket.contradictions == 0)
            // What follows is read from records, and not from the memory of decoded trees.
            cache.trimMemory()
            let outcome = await cache.collectionOutcome(of: Event.self, forKey: "events")
            #expect(outcome.value == events)
            // A user who acts and comments is one record, of which each type reads its members.
            let comment = try #require(events.compactMap(\.payload.comment).first)
            let actor = await cache.read(Actor.self, id: comment.user.id)
            #expect(actor?.login == comment.user.login)
        }
    }
}
#endif

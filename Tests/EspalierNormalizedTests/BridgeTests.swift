#if Macros
import Espalier
import Testing

/// Models with the macro. `Bridged` has the same fields and identifiers with `Codable`.
enum Generated {
    @Normalized struct Writer: Codable {
        let id: Int
        let name: String
        private enum CodingKeys: String, CodingKey { case id, name = "display_name" }
    }

    @Normalized enum Part: Codable {
        case link(String)
        case card(title: String, Writer?, width: Int = 100)
        case none
        enum CodingKeys: String, CodingKey { case link, card = "c", none }
        enum CardCodingKeys: String, CodingKey { case title = "t", _1, width }
    }

    @Normalized struct Note: Codable {
        let id: Int
        let writer: Writer
        let parts: [Part]
        let scores: [String: Int?]
        var open = false
        private enum CodingKeys: CodingKey { case id, writer, parts, scores }
    }
}

enum Bridged {
    struct Writer: Codable, NormalizedModel, Equatable {
        let id: Int
        let name: String
        var modelIdentifier: String? { "Writer:\(id)" }
        private enum CodingKeys: String, CodingKey { case id, name = "display_name" }
    }

    enum Part: Codable, Equatable {
        case link(String)
        case card(title: String, Writer?, width: Int = 100)
        case none
        enum CodingKeys: String, CodingKey { case link, card = "c", none }
        enum CardCodingKeys: String, CodingKey { case title = "t", _1, width }
    }

    struct Note: Codable, NormalizedModel, Equatable {
        let id: Int
        let writer: Writer
        let parts: [Part]
        let scores: [String: Int?]
        var open = false
        var modelIdentifier: String? { "Note:\(id)" }
        private enum CodingKeys: CodingKey { case id, writer, parts, scores }
    }
}

@Suite("Records of the macro and of Codable")
struct BridgeTests {
    private let generated = Generated.Note(
        id: 1, writer: .init(id: 2, name: "Ann"),
        parts: [
            .link("l"), .card(title: "t", .init(id: 3, name: "Bea"), width: 7),
            .card(title: "u", nil), .none,
        ],
        scores: ["a": 1])
    private let bridged = Bridged.Note(
        id: 1, writer: .init(id: 2, name: "Ann"),
        parts: [
            .link("l"), .card(title: "t", .init(id: 3, name: "Bea"), width: 7),
            .card(title: "u", nil), .none,
        ],
        scores: ["a": 1])

    @Test("A Codable model reads the record of a model with the macro")
    func codableReads() async throws {
        try await withCache { cache in
            try await cache.set(generated).committed
            let outcome: ReadOutcome<Bridged.Note> = await cache.readOutcome(
                Bridged.Note.self, "Note:1")
            #expect(outcome.value == bridged, "\(outcome)")
        }
    }

    @Test("A model with the macro reads the record of a Codable model")
    func macroReads() async throws {
        try await withCache { cache in
            try await cache.set(bridged).committed
            let outcome: ReadOutcome<Generated.Note> = await cache.readOutcome(
                Generated.Note.self, "Note:1")
            #expect(outcome.value == generated, "\(outcome)")
        }
    }

    @Test("A Codable model and a model with the macro write the same bytes")
    func sameBytes() async throws {
        try await withCache { cache in
            let changes = cache.changes()
            try await cache.set(generated).committed
            try await cache.set(bridged).committed
            try await cache.set(Person(id: 9, name: "last")).committed
            var written: [Set<String>] = []
            for await change in changes {
                written.append(Set(change.written))
                if change.written.contains("Person:9") { break }
            }
            #expect(written.first == ["Note:1", "Writer:2", "Writer:3"])
            #expect(written.dropFirst().dropLast().allSatisfy { $0.isEmpty })
        }
    }
}
#endif

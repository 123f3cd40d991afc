import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Models that try to decode a value as several types", .timeLimit(.minutes(1)))
struct LenientModelTests {
    @Test("Deleted elements, and those that lead back, are left out")
    func deleted() async throws {
        try await withCache { cache in
            let items = (1...4).map { LossyItem(id: $0, text: "text") }
            try await cache.set(LossyOwner(id: 1, items: LossyList(elements: items))).committed
            try await cache.delete("LossyItem:2").committed
            #expect(await cache.read(LossyOwner.self, "LossyOwner:1")?.items.ids == [1, 3, 4])
            try await cache.delete("LossyItem:1").committed
            try await cache.delete("LossyItem:4").committed
            #expect(await cache.read(LossyOwner.self, "LossyOwner:1")?.items.ids == [3])
        }
    }

    @Test("Elements of another type are left out, as by other decoders")
    func otherTypes() async throws {
        try await withCache { cache in
            try await cache.set(MixedOwner(id: 1, items: [.text("a"), .number(1), .text("b")]))
                .committed
            let owner = await cache.read(LossyTexts.self, "MixedOwner:1")
            #expect(owner?.items.elements == ["a", "b"])
        }
    }

    @Test("A map with keys that are numbers is read by a type that tries a model first")
    func maps() async throws {
        try await withCache { cache in
            for place in [Place.table([7: "a", 9: "b"]), .point(.init(x: 1)), .table([:])] {
                try await cache.set(Placed(id: 1, place: place, note: "note")).committed
                let outcome = await cache.readOutcome(Placed.self, "Placed:1")
                #expect(outcome.value == Placed(id: 1, place: place, note: "note"))
            }
        }
    }

    @Test("A lost element makes the read a miss, and the read ends")
    func lost() async throws {
        try await withCache { cache in
            let items = (1...4).map { LossyItem(id: $0, text: "text") }
            let owner = LossyOwner(id: 1, items: LossyList(elements: items))
            try await cache.set(owner).committed
            try cache.damage("LossyItem:3")
            let outcome = await cache.readOutcome(LossyOwner.self, "LossyOwner:1")
            #expect(outcome.reason != nil)
            try await cache.set(owner).committed
            #expect(await cache.read(LossyOwner.self, "LossyOwner:1")?.items.ids == [1, 2, 3, 4])
        }
    }
}

/// Reads as the property wrappers for lossy arrays do: an element that fails is decoded again as a
/// type that fits everything.
private struct LossyList<Element: Codable & Sendable>: Codable, Sendable {
    var elements: [Element]

    private struct Anything: Decodable {}

    init(elements: [Element]) { self.elements = elements }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        elements = []
        while !container.isAtEnd {
            do {
                elements.append(try container.decode(Element.self))
            } catch {
                _ = try? container.decode(Anything.self)
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in elements { try container.encode(element) }
    }
}

extension LossyList where Element == LossyItem {
    fileprivate var ids: [Int] { elements.map(\.id) }
}

private struct LossyItem: NormalizedModel, Codable {
    let id: Int
    let text: String
    var modelIdentifier: String? { "LossyItem:\(id)" }
}

private struct LossyOwner: NormalizedModel, Codable {
    let id: Int
    let items: LossyList<LossyItem>
    var modelIdentifier: String? { "LossyOwner:\(id)" }
}

private enum MixedItem: Codable {
    case text(String)
    case number(Int)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .number(try container.decode(Int.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        }
    }
}

private struct MixedOwner: NormalizedModel, Codable {
    let id: Int
    let items: [MixedItem]
    var modelIdentifier: String? { "MixedOwner:\(id)" }
}

private struct LossyTexts: NormalizedModel, Codable {
    let id: Int
    let items: LossyList<String>
    var modelIdentifier: String? { "MixedOwner:\(id)" }
}

private enum Place: Codable, Equatable {
    struct Point: Codable, Equatable {
        let x: Int
    }

    case point(Point)
    case table([Int: String])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let point = try? container.decode(Point.self) {
            self = .point(point)
        } else {
            self = .table(try container.decode([Int: String].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .point(let point): try container.encode(point)
        case .table(let table): try container.encode(table)
        }
    }
}

private struct Placed: NormalizedModel, Codable, Equatable {
    let id: Int
    let place: Place
    let note: String
    var modelIdentifier: String? { "Placed:\(id)" }
}

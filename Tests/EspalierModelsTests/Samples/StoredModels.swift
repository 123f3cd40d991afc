import EspalierModels
import EspalierRecords

// Models that are both kept consistent and stored: through `Codable`, and by hand without it.

struct CodablePlace: Model, NormalizedModel, Codable, Hashable {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Place:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> CodablePlace? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

struct CodableTrip: Model, NormalizedModel, Codable, Equatable {
    let id: Int
    let start: CodablePlace
    let stops: [CodablePlace]
    var modelIdentifier: String? { "Trip:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> CodableTrip? {
        guard let start = transform(start) as? CodablePlace else { return nil }
        return CodableTrip(
            id: id, start: start, stops: stops.compactMap { transform($0) as? CodablePlace })
    }

    func forEach(_ visit: (any Model) -> Void) {
        visit(start)
        stops.forEach { visit($0) }
    }
}

final class CodableClass: Model, NormalizedModel, Codable, Equatable {
    let id: Int
    init(id: Int) { self.id = id }
    var modelIdentifier: String? { "CodableClass:\(id)" }
    static func == (a: CodableClass, b: CodableClass) -> Bool { a.id == b.id }
    func map(_ transform: (any Model) -> (any Model)?) -> CodableClass? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// Has no identifier of its own: `NormalizedModel` provides nil.
struct CodableInline: Model, NormalizedModel, Codable, Equatable {
    let text: String
    func map(_ transform: (any Model) -> (any Model)?) -> CodableInline? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

struct CodableBadge: SimpleModel, NormalizedModel, Codable, Equatable {
    let count: Int
    var modelIdentifier: String? { "Badge" }
}

struct WrittenByHand: Model, NormalizedModel {
    let id: Int
    let place: WrittenByHandPlace?
    var modelIdentifier: String? { "WrittenByHand:\(id)" }

    init(id: Int, place: WrittenByHandPlace?) {
        self.id = id
        self.place = place
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        place = try decoder.decode(forKey: "place")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(place, forKey: "place")
    }

    func isEqual(to model: any Model) -> Bool {
        guard let model = model as? WrittenByHand else { return false }
        return model.id == id && model.place == place
    }

    func map(_ transform: (any Model) -> (any Model)?) -> WrittenByHand? {
        WrittenByHand(id: id, place: place.flatMap { transform($0) as? WrittenByHandPlace })
    }

    func forEach(_ visit: (any Model) -> Void) { if let place { visit(place) } }
}

struct WrittenByHandPlace: Model, NormalizedModel, Equatable {
    let name: String
    var modelIdentifier: String? { "WrittenByHandPlace:\(name)" }

    init(name: String) { self.name = name }
    init(from decoder: inout RecordDecoder) throws { name = try decoder.decode(forKey: "name") }
    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(name, forKey: "name") }
    func map(_ transform: (any Model) -> (any Model)?) -> WrittenByHandPlace? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

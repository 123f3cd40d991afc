import EspalierModels
import EspalierRecords

/// Refers to its own kind in every position; `required` is encoded as a lone child, so that
/// `RequiredRing` can demand it.
final class Ring: NormalizedModel {
    let id: String
    let optional: Ring?
    let list: [Ring]
    let table: [String: Ring]
    let required: [Ring]
    var modelIdentifier: String? { id }

    init(
        _ id: String, optional: Ring? = nil, list: [Ring] = [], table: [String: Ring] = [:],
        required: [Ring] = []
    ) {
        (self.id, self.optional, self.list, self.table, self.required) = (
            id, optional, list, table, required
        )
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        optional = try decoder.decode(forKey: "optional")
        list = try decoder.decode(forKey: "list")
        table = try decoder.decode(forKey: "table")
        required = []
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(optional, forKey: "optional")
        try encoder.encode(list, forKey: "list")
        try encoder.encode(table, forKey: "table")
        try encoder.encode(required.first, forKey: "required")
    }
}

/// A ring read as something that can't be without its `required`.
final class RequiredRing: NormalizedModel, Equatable {
    let id: String
    let required: RequiredRing

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        required = try decoder.decode(forKey: "required")
    }

    func encode(to encoder: inout RecordEncoder) throws {}
    static func == (a: RequiredRing, b: RequiredRing) -> Bool { a.id == b.id }
}

/// A ring read as something that could do without its `optional`.
final class OptionalRequiredRing: NormalizedModel {
    let optional: RequiredRing?

    init(from decoder: inout RecordDecoder) throws {
        optional = try decoder.decode(forKey: "optional")
    }
    func encode(to encoder: inout RecordEncoder) throws {}
}

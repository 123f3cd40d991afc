import EspalierModels
import EspalierRecords

/// A child in every position, for the table of section 4 of the design.
struct Page: NormalizedModel, Equatable {
    let id: String
    var optional: Leaf?
    var list: [Leaf] = []
    var table: [String: Leaf] = [:]
    var modelIdentifier: String? { id }

    init(id: String, optional: Leaf? = nil, list: [Leaf] = [], table: [String: Leaf] = [:]) {
        (self.id, self.optional, self.list, self.table) = (id, optional, list, table)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        optional = try decoder.decode(forKey: "optional")
        list = try decoder.decode(forKey: "list")
        table = try decoder.decode(forKey: "table")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(optional, forKey: "optional")
        try encoder.encode(list, forKey: "list")
        try encoder.encode(table, forKey: "table")
    }
}

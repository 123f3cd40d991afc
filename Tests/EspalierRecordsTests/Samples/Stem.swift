import EspalierModels
import EspalierRecords

/// Can't be without its leaf.
struct Stem: NormalizedModel, Equatable {
    let id: String
    let leaf: Leaf
    var modelIdentifier: String? { id }

    init(_ id: String, _ leaf: Leaf) { (self.id, self.leaf) = (id, leaf) }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        leaf = try decoder.decode(forKey: "leaf")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(leaf, forKey: "leaf")
    }
}

import EspalierModels
import EspalierRecords

struct Leaf: NormalizedModel, Hashable {
    let id: String
    let text: String
    var modelIdentifier: String? { id }

    init(_ id: String, _ text: String = "") { (self.id, self.text) = (id, text) }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
    }
}

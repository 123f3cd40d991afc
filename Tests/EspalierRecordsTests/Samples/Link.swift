import EspalierModels
import EspalierRecords

/// Refers to two more of its kind, required or not by choice.
final class Link: NormalizedModel {
    let id: String
    let left: Link?
    let right: Link?
    var modelIdentifier: String? { id }

    init(_ id: String, _ left: Link? = nil, _ right: Link? = nil) {
        (self.id, self.left, self.right) = (id, left, right)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        left = try decoder.decode(forKey: "left")
        right = try decoder.decode(forKey: "right")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(left, forKey: "left")
        try encoder.encode(right, forKey: "right")
    }
}

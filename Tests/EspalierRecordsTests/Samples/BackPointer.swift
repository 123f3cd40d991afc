import EspalierModels
import EspalierRecords

/// A node that refers to its children and to the top of the tree.
final class BackPointer: NormalizedModel {
    let id: String
    let top: BackPointer?
    let left: BackPointer?
    let right: BackPointer?
    var modelIdentifier: String? { id }

    init(_ id: String, top: BackPointer?, _ left: BackPointer? = nil, _ right: BackPointer? = nil) {
        (self.id, self.top, self.left, self.right) = (id, top, left, right)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        top = try decoder.decode(forKey: "top")
        left = try decoder.decode(forKey: "left")
        right = try decoder.decode(forKey: "right")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(top, forKey: "top")
        try encoder.encode(left, forKey: "left")
        try encoder.encode(right, forKey: "right")
    }
}

import EspalierModels
import EspalierRecords

/// A node with two children of its own type, for deep trees and cycles.
final class Ring: NormalizedModel {
    let id: String
    let left: Ring?
    let right: Ring?

    init(_ id: String, left: Ring? = nil, right: Ring? = nil) {
        self.id = id
        self.left = left
        self.right = right
    }

    var modelIdentifier: String? { id }

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

    /// The identifiers of the tree, with children in brackets.
    var outline: String {
        guard left != nil || right != nil else { return id }
        return "\(id)(\(left?.outline ?? "-") \(right?.outline ?? "-"))"
    }
}

/// Decodes the records of `Ring` with the fields in the opposite order.
final class MirroredRing: NormalizedModel {
    let id: String
    let left: MirroredRing?
    let right: MirroredRing?

    init(from decoder: inout RecordDecoder) throws {
        right = try decoder.decode(forKey: "right")
        left = try decoder.decode(forKey: "left")
        id = try decoder.decode(forKey: "id")
    }

    var modelIdentifier: String? { id }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
    }

    var outline: String {
        guard left != nil || right != nil else { return id }
        return "\(id)(\(left?.outline ?? "-") \(right?.outline ?? "-"))"
    }
}

/// A node that requires the next one to decode.
final class Link: NormalizedModel {
    let id: String
    let next: Link?

    init(_ id: String, next: Link?) {
        self.id = id
        self.next = next
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        next = try decoder.decode(Link.self, forKey: "next")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        if let next { try encoder.encode(next, forKey: "next") }
    }
}

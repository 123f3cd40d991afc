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

/// A node that requires its leaf.
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

/// An inline model that requires its leaf.
struct Frame: NormalizedModel, Equatable {
    let leaf: Leaf

    init(_ leaf: Leaf) { self.leaf = leaf }
    init(from decoder: inout RecordDecoder) throws { leaf = try decoder.decode(forKey: "leaf") }
    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(leaf, forKey: "leaf") }
}

/// A node that refers to two more of its kind, required or optional.
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

/// A node whose models count as deleted when a model that they require is deleted.
struct Shelf: NormalizedModel, Equatable {
    let id: String
    var stem: Stem?
    var frame: Frame?
    var frames: [Frame] = []
    var requiredFrame: Frame
    var modelIdentifier: String? { id }

    init(
        _ id: String, stem: Stem? = nil, frame: Frame? = nil, frames: [Frame] = [],
        requiredFrame: Frame
    ) {
        (self.id, self.stem, self.frame, self.frames, self.requiredFrame) = (
            id, stem, frame, frames, requiredFrame
        )
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        stem = try decoder.decode(forKey: "stem")
        frame = try decoder.decode(forKey: "frame")
        frames = try decoder.decode(forKey: "frames")
        requiredFrame = try decoder.decode(forKey: "requiredFrame")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(stem, forKey: "stem")
        try encoder.encode(frame, forKey: "frame")
        try encoder.encode(frames, forKey: "frames")
        try encoder.encode(requiredFrame, forKey: "requiredFrame")
    }
}

/// A node with a child in every position.
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

/// A node that refers to its own kind in every position. `required` is encoded as a single child,
/// so that `RequiredRing` can require it.
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

/// A ring read as a type that requires its `required`.
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

/// A ring read as a type whose `optional` may be nil.
final class OptionalRequiredRing: NormalizedModel {
    let optional: RequiredRing?

    init(from decoder: inout RecordDecoder) throws {
        optional = try decoder.decode(forKey: "optional")
    }
    func encode(to encoder: inout RecordEncoder) throws {}
}

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

/// Inline, and can't be without its leaf either.
struct Frame: NormalizedModel, Equatable {
    let leaf: Leaf

    init(_ leaf: Leaf) { self.leaf = leaf }
    init(from decoder: inout RecordDecoder) throws { leaf = try decoder.decode(forKey: "leaf") }
    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(leaf, forKey: "leaf") }
}

/// Holds models that may be deleted with what they can't be without.
struct Shelf: NormalizedModel, Equatable {
    let id: String
    var stem: Stem?
    var frame: Frame?
    var frames: [Frame] = []
    var requiredFrame: Frame
    var modelIdentifier: String? { id }

    init(_ id: String, stem: Stem? = nil, frame: Frame? = nil, frames: [Frame] = [], requiredFrame: Frame) {
        (self.id, self.stem, self.frame, self.frames, self.requiredFrame) = (id, stem, frame, frames, requiredFrame)
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

import EspalierModels
import EspalierRecords

/// A node with any number of children of its own type; a stub only refers to its record and leaves
/// it as it is.
final class Branch: NormalizedModel {
    let id: String
    let text: String?
    let children: [Branch]
    let isStub: Bool

    init(_ id: String, _ text: String, _ children: [Branch] = []) {
        self.id = id
        self.text = text
        self.children = children
        isStub = false
    }

    init(stub id: String) {
        self.id = id
        text = nil
        children = []
        isStub = true
    }

    var modelIdentifier: String? { id }
    var projectionIdentifier: String { isStub ? "Stub" : "Branch" }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        children = try decoder.decode([Branch]?.self, forKey: "children") ?? []
        isStub = false
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        guard !isStub else { return }
        try encoder.encode(text, forKey: "text")
        try encoder.encode(children, forKey: "children")
    }

    /// Every branch of the tree, in pre-order.
    var all: [Branch] { [self] + children.flatMap(\.all) }
}

import EspalierModels
import EspalierRecords

/// A model that encodes a field twice.
struct Twice: NormalizedModel {
    var modelIdentifier: String? { "Twice:1" }

    init() {}
    init(from decoder: inout RecordDecoder) throws {}

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(1, forKey: "a")
        try encoder.encode(2, forKey: "a")
    }
}

/// A model whose encoder throws after it has encoded a child.
struct Refusing: NormalizedModel {
    struct Refusal: Error {}

    var modelIdentifier: String? { "Refusing:1" }

    init() {}
    init(from decoder: inout RecordDecoder) throws { throw Refusal() }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(Person("Refusing:child", "child"), forKey: "child")
        throw Refusal()
    }
}

/// A node with any projection identifier.
struct Costume: NormalizedModel, Hashable {
    var id: String
    var projectionIdentifier: String

    init(_ id: String, type: String) {
        self.id = id
        projectionIdentifier = type
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        projectionIdentifier = ""
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
    }
}

import EspalierModels
import EspalierRecords

/// A node with any fields, like JSON without a schema.
struct Bag: NormalizedModel, Hashable {
    var id: String
    var fields: [String: String]

    init(_ id: String, _ fields: [String: String]) {
        self.id = id
        self.fields = fields
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        fields = [:]
        for name in try decoder.fieldNames() where name != "id" {
            fields[name] = try decoder.decode(forKey: name)
        }
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            try encoder.encode(value, forKey: name)
        }
    }
}

/// A node with one field of any type.
struct Box<Value: FieldValue & Sendable>: NormalizedModel {
    var id: String
    var value: Value

    init(_ id: String, _ value: Value) {
        self.id = id
        self.value = value
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        value = try decoder.decode(forKey: "value")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(value, forKey: "value")
    }
}

/// A node with two children of different types.
struct Pair<First: NormalizedModel, Second: NormalizedModel>: NormalizedModel {
    var id: String
    var first: First
    var second: Second

    init(_ id: String, _ first: First, _ second: Second) {
        self.id = id
        self.first = first
        self.second = second
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        first = try decoder.decode(forKey: "first")
        second = try decoder.decode(forKey: "second")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(first, forKey: "first")
        try encoder.encode(second, forKey: "second")
    }
}

/// A model whose fields are all optional, so that it can be read from any record.
struct Leaflet: Codable, Hashable, IdentifiedModel {
    var id: String?
    var text: String?
    var modelIdentifier: String? { id }
}

import EspalierModels
import EspalierRecords

/// A version of `Message` that is written by hand. One generic type is enough, because the calls
/// are the same for each type of value.
enum HandWritten {
    struct Message<Value: FieldValue & Sendable & Equatable>: VersionedValue {
        var id = 34
        var value: Value
        var after = "end"
        // Without this it would be `Message<Int>`, and versions must share one name.
        var projectionIdentifier: String { "Message" }

        init(value: Value) { self.value = value }

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            value = try decoder.decode(forKey: "value")
            after = try decoder.decode(forKey: "after")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(value, forKey: "value")
            try encoder.encode(after, forKey: "after")
        }
    }
}

enum HandWrittenNode {
    struct Person: NormalizedModel, Equatable, CustomStringConvertible {
        var id = 1
        var name = "Ada"
        var modelIdentifier: String? { "Person:\(id)" }
        var description: String { name }

        init(name: String = "Ada") { self.name = name }

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            name = try decoder.decode(forKey: "name")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(name, forKey: "name")
        }
    }

    struct Company: NormalizedModel, Equatable, CustomStringConvertible {
        var id = 1
        var title = "Ltd"
        var modelIdentifier: String? { "Company:\(id)" }
        var description: String { title }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            title = try decoder.decode(forKey: "title")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(title, forKey: "title")
        }
    }
}

enum HandWrittenInline {
    struct Person: NormalizedModel, Equatable, CustomStringConvertible {
        var id = 1
        var name = "Ada"
        var description: String { name }

        init(name: String = "Ada") { self.name = name }

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            name = try decoder.decode(forKey: "name")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(name, forKey: "name")
        }
    }

    struct Name: NormalizedModel, Equatable, CustomStringConvertible {
        var name = "Ada"
        var description: String { name }

        init() {}
        init(from decoder: inout RecordDecoder) throws { name = try decoder.decode(forKey: "name") }
        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(name, forKey: "name")
        }
    }
}

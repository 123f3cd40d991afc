import EspalierModels
import EspalierRecords

/// Versions of `Message` that have different fields.
protocol CodableFields: Versioned, Codable {
    var text: String { get }
}

extension CodableFields { var shown: String { text } }

enum CodableText { struct Message: CodableFields { var id = 34, text = "Meow" } }

enum CodableOptionalMood {
    struct Message: CodableFields {
        var id = 34, text = "Meow"
        var mood: String? = "calm"
        var shown: String { "\(text), \(mood ?? "nil")" }
    }
}

enum CodableMood {
    struct Message: CodableFields {
        var id = 34, text = "Meow"
        var mood: String
        var shown: String { "\(text), \(mood)" }
    }
}

/// The initial value of the property applies to new models only: the synthesised initialiser does
/// not use it for a missing field.
enum CodableInitialMood {
    struct Message: CodableFields {
        var id = 34, text = "Meow", mood = "glad"
        var shown: String { "\(text), \(mood)" }
    }
}

enum CodableDefaultMood {
    struct Message: CodableFields {
        var id = 34, text = "Meow", mood = "calm"
        var shown: String { "\(text), \(mood)" }

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            text = try container.decode(String.self, forKey: .text)
            mood = try container.decodeIfPresent(String.self, forKey: .mood) ?? "glad"
        }
    }
}

enum CodableBody {
    struct Message: Versioned, Codable {
        var id = 34, body = "Purr"
        var shown: String { body }
    }
}

enum CodableOptionalBody {
    struct Message: Versioned, Codable {
        var id = 34
        var body: String? = "Purr"
        var shown: String { body ?? "nil" }
    }
}

enum CodableKeyedBody {
    struct Message: Versioned, Codable {
        var id = 34, body = "Purr"
        var shown: String { body }

        enum CodingKeys: String, CodingKey {
            case id
            case body = "text"
        }
    }
}

/// `Message` under another name and without the field `mood`.
enum CodableRenamed {
    struct Note: CodableFields { var id = 34, text = "Purr" }
}

enum CodableRenamedProperly {
    struct Note: CodableFields {
        var id = 34, text = "Purr"
        var projectionIdentifier: String { "Message" }
    }
}

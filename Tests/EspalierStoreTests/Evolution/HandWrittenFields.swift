import EspalierModels
import EspalierRecords

/// Versions of `Message` that have different fields, written by hand.
enum HandWrittenText {
    struct Message: Versioned {
        var id = 34
        var text = "Meow"
        var shown: String { text }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            text = try decoder.decode(forKey: "text")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(text, forKey: "text")
        }
    }
}

enum HandWrittenOptionalMood {
    struct Message: Versioned {
        var id = 34
        var text = "Meow"
        var mood: String? = "calm"
        var shown: String { "\(text), \(mood ?? "nil")" }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            text = try decoder.decode(forKey: "text")
            mood = try decoder.decode(forKey: "mood")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(text, forKey: "text")
            try encoder.encode(mood, forKey: "mood")
        }
    }
}

enum HandWrittenMood {
    struct Message: Versioned {
        var id = 34
        var text = "Meow"
        var mood = "calm"
        var shown: String { "\(text), \(mood)" }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            text = try decoder.decode(forKey: "text")
            mood = try decoder.decode(forKey: "mood")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(text, forKey: "text")
            try encoder.encode(mood, forKey: "mood")
        }
    }
}

enum HandWrittenDefaultMood {
    struct Message: Versioned {
        var id = 34
        var text = "Meow"
        var mood = "calm"
        var shown: String { "\(text), \(mood)" }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            text = try decoder.decode(forKey: "text")
            mood = try decoder.decode(String?.self, forKey: "mood") ?? "glad"
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(text, forKey: "text")
            try encoder.encode(mood, forKey: "mood")
        }
    }
}

enum HandWrittenBody {
    struct Message: Versioned {
        var id = 34
        var body = "Purr"
        var shown: String { body }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            body = try decoder.decode(forKey: "body")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(body, forKey: "body")
        }
    }
}

enum HandWrittenOptionalBody {
    struct Message: Versioned {
        var id = 34
        var body: String? = "Purr"
        var shown: String { body ?? "nil" }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            body = try decoder.decode(forKey: "body")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(body, forKey: "body")
        }
    }
}

enum HandWrittenKeyedBody {
    struct Message: Versioned {
        var id = 34
        var body = "Purr"
        var shown: String { body }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            body = try decoder.decode(forKey: "text")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(body, forKey: "text")
        }
    }
}

/// `Message` under another name and without the field `mood`.
enum HandWrittenRenamed {
    struct Note: Versioned {
        var id = 34
        var text = "Purr"
        var shown: String { text }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            text = try decoder.decode(forKey: "text")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(text, forKey: "text")
        }
    }
}

enum HandWrittenRenamedProperly {
    struct Note: Versioned {
        var id = 34
        var text = "Purr"
        var shown: String { text }
        var projectionIdentifier: String { "Message" }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            text = try decoder.decode(forKey: "text")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(text, forKey: "text")
        }
    }
}

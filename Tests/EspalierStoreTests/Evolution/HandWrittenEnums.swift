import EspalierModels
import EspalierRecords

/// The error for a case that this version does not know.
struct UnknownKind: Error {}

enum HandWrittenV1 {
    enum Mood: String, FieldValue { case calm, glad }

    enum Content: NormalizedModel, Equatable {
        case text(String)
        case image(link: String)

        init(from decoder: inout RecordDecoder) throws {
            switch try decoder.decode(String.self, forKey: "kind") {
            case "text": self = .text(try decoder.decode(forKey: "text"))
            case "image": self = .image(link: try decoder.decode(forKey: "link"))
            default: throw UnknownKind()
            }
        }

        func encode(to encoder: inout RecordEncoder) throws {
            switch self {
            case .text(let text):
                try encoder.encode("text", forKey: "kind")
                try encoder.encode(text, forKey: "text")
            case .image(let link):
                try encoder.encode("image", forKey: "kind")
                try encoder.encode(link, forKey: "link")
            }
        }
    }
}

enum HandWrittenV2 {
    enum Mood: String, FieldValue { case calm, glad, wild }

    enum Content: NormalizedModel, Equatable {
        case text(String)
        case image(link: String, caption: String?)
        case video(link: String)

        init(from decoder: inout RecordDecoder) throws {
            switch try decoder.decode(String.self, forKey: "kind") {
            case "text": self = .text(try decoder.decode(forKey: "text"))
            case "image":
                self = .image(
                    link: try decoder.decode(forKey: "link"),
                    caption: try decoder.decode(forKey: "caption"))
            case "video": self = .video(link: try decoder.decode(forKey: "link"))
            default: throw UnknownKind()
            }
        }

        func encode(to encoder: inout RecordEncoder) throws {
            switch self {
            case .text(let text):
                try encoder.encode("text", forKey: "kind")
                try encoder.encode(text, forKey: "text")
            case .image(let link, let caption):
                try encoder.encode("image", forKey: "kind")
                try encoder.encode(link, forKey: "link")
                try encoder.encode(caption, forKey: "caption")
            case .video(let link):
                try encoder.encode("video", forKey: "kind")
                try encoder.encode(link, forKey: "link")
            }
        }
    }
}

enum HandWrittenV3 {
    enum Content: NormalizedModel, Equatable {
        case image(link: Int)

        init(from decoder: inout RecordDecoder) throws {
            guard try decoder.decode(String.self, forKey: "kind") == "image" else {
                throw UnknownKind()
            }
            self = .image(link: try decoder.decode(forKey: "link"))
        }

        func encode(to encoder: inout RecordEncoder) throws {
            guard case .image(let link) = self else { return }
            try encoder.encode("image", forKey: "kind")
            try encoder.encode(link, forKey: "link")
        }
    }
}

struct HandWrittenTag: RawRepresentable, FieldValue, Sendable, Equatable, CustomStringConvertible {
    var rawValue: String
    var description: String { rawValue }
}

/// The first version, prepared for unknown cases.
enum HandWrittenOpen {
    enum Mood: String, FieldValue {
        case calm, glad, unknown

        static func decodeValue(from decoder: inout ValueDecoder) throws -> Mood {
            Mood(rawValue: try decoder.decodeString()) ?? .unknown
        }
    }
}

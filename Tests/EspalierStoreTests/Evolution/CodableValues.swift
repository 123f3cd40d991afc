import EspalierModels
import EspalierRecords
import Foundation

/// A version of `Message` that is read through `Decoder`. Each type of value has a model of its
/// own, because the compiler calls other methods for an `Int`, an `Int?` and a generic type.
protocol CodableValue: VersionedValue, Codable {}

enum OfInt { struct Message: CodableValue { var value: Int, id = 34, after = "end" } }
enum OfInt8 { struct Message: CodableValue { var value: Int8, id = 34, after = "end" } }
enum OfUInt { struct Message: CodableValue { var value: UInt, id = 34, after = "end" } }
enum OfDouble { struct Message: CodableValue { var value: Double, id = 34, after = "end" } }
enum OfFloat { struct Message: CodableValue { var value: Float, id = 34, after = "end" } }
enum OfDecimal { struct Message: CodableValue { var value: Decimal, id = 34, after = "end" } }
enum OfBool { struct Message: CodableValue { var value: Bool, id = 34, after = "end" } }
enum OfString { struct Message: CodableValue { var value: String, id = 34, after = "end" } }
enum OfURL { struct Message: CodableValue { var value: URL, id = 34, after = "end" } }
enum OfUUID { struct Message: CodableValue { var value: UUID, id = 34, after = "end" } }
enum OfData { struct Message: CodableValue { var value: Data, id = 34, after = "end" } }
enum OfDate { struct Message: CodableValue { var value: Date, id = 34, after = "end" } }

enum OfOptionalInt { struct Message: CodableValue { var value: Int?, id = 34, after = "end" } }
enum OfInts { struct Message: CodableValue { var value: [Int], id = 34, after = "end" } }
enum OfStrings { struct Message: CodableValue { var value: [String], id = 34, after = "end" } }
enum OfStringSet { struct Message: CodableValue { var value: Set<String>, id = 34, after = "end" } }
enum OfDictionary {
    struct Message: CodableValue { var value: [String: String], id = 34, after = "end" }
}

enum OfNode {
    struct Message: CodableValue { var value: CodableNode.Person, id = 34, after = "end" }
}
enum OfOptionalNode {
    struct Message: CodableValue { var value: CodableNode.Person?, id = 34, after = "end" }
}
enum OfNodes {
    struct Message: CodableValue { var value: [CodableNode.Person], id = 34, after = "end" }
}
enum OfInline {
    struct Message: CodableValue { var value: CodableInline.Person, id = 34, after = "end" }
}
enum OfName {
    struct Message: CodableValue { var value: CodableInline.Name, id = 34, after = "end" }
}
enum OfCompany {
    struct Message: CodableValue { var value: CodableNode.Company, id = 34, after = "end" }
}

enum OfTag { struct Message: CodableValue { var value: CodableTag, id = 34, after = "end" } }
enum OfMood { struct Message: CodableValue { var value: CodableV1.Mood, id = 34, after = "end" } }
enum OfMoreMoods {
    struct Message: CodableValue { var value: CodableV2.Mood, id = 34, after = "end" }
}
enum OfOpenMood {
    struct Message: CodableValue { var value: CodableOpen.Mood, id = 34, after = "end" }
}
enum OfMoodList {
    struct Message: CodableValue { var value: [CodableV1.Mood], id = 34, after = "end" }
}
enum OfMoreMoodList {
    struct Message: CodableValue { var value: [CodableV2.Mood], id = 34, after = "end" }
}
enum OfContent {
    struct Message: CodableValue { var value: CodableV1.Content, id = 34, after = "end" }
}
enum OfNumberedContent {
    struct Message: CodableValue { var value: CodableV3.Content, id = 34, after = "end" }
}
enum OfMoreContent {
    struct Message: CodableValue { var value: CodableV2.Content, id = 34, after = "end" }
}

enum CodableNode {
    struct Person: Codable, NormalizedModel, Equatable, CustomStringConvertible {
        var id = 1, name = "Ada"
        var modelIdentifier: String? { "Person:\(id)" }
        var description: String { name }
    }

    struct Company: Codable, NormalizedModel, Equatable, CustomStringConvertible {
        var id = 1, title = "Ltd"
        var modelIdentifier: String? { "Company:\(id)" }
        var description: String { title }
    }
}

enum CodableInline {
    struct Person: Codable, Sendable, Equatable, CustomStringConvertible {
        var id = 1, name = "Ada"
        var description: String { name }
    }

    struct Name: Codable, Sendable, Equatable, CustomStringConvertible {
        var name = "Ada"
        var description: String { name }
    }
}

struct CodableTag: RawRepresentable, Codable, Sendable, Equatable, CustomStringConvertible {
    var rawValue: String
    var description: String { rawValue }
}

/// A person as an object inside the message, without a type of its own.
enum OfNested {
    struct Message: Versioned, Codable {
        var id = 34, name = "Ada"
        var shown: String { name }

        private enum Keys: CodingKey { case id, value, name, after }

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            id = try container.decode(Int.self, forKey: .id)
            let person = try container.nestedContainer(keyedBy: Keys.self, forKey: .value)
            name = try person.decode(String.self, forKey: .name)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(id, forKey: .id)
            var person = container.nestedContainer(keyedBy: Keys.self, forKey: .value)
            try person.encode(1, forKey: .id)
            try person.encode(name, forKey: .name)
            try container.encode("end", forKey: .after)
        }
    }
}

enum CodableV1 {
    enum Mood: String, Codable { case calm, glad }

    enum Content: Codable, Equatable {
        case text(String)
        case image(link: String)
    }
}

enum CodableV2 {
    enum Mood: String, Codable { case calm, glad, wild }

    enum Content: Codable, Equatable {
        case text(String)
        case image(link: String, caption: String?)
        case video(link: String)
    }
}

enum CodableV3 {
    enum Content: Codable, Equatable { case image(link: Int) }
}

/// The first version, prepared for unknown cases.
enum CodableOpen {
    enum Mood: String, Codable {
        case calm, glad, unknown

        init(from decoder: any Decoder) throws {
            self =
                Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
        }
    }
}

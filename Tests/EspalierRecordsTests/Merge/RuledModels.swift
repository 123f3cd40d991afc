import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation

// Models of the record "p", whose types have rules or lack them.

/// A model with a field for each rule.
struct Post: Codable, NormalizedModel, Equatable {
    static let mergeRules: MergeRules = [
        "title": .newest(by: "updatedAt"), "closed": .newest(by: "updatedAt"), "tags": .union,
        "set": .union, "seen": .union, "friends": .union, "page": .append, "thread": .append,
        "first": .keepFirst, "likes": .combined { (old: Int, new: Int) in max(old, new) },
        "counts": .combined { (old: [String: Int], new: [String: Int]) in
            old.merging(new) { max($0, $1) }
        },
        "span": .combined { (old: Span, new: Span) in
            Span(from: min(old.from, new.from), to: max(old.to, new.to))
        },
        "seenAt": .combined { (old: Date?, new: Date?) in min(old ?? .now, new ?? .now) },
    ]

    var title: String?
    var updatedAt: Int?
    var closed: Field<Int> = .absent
    var tags: [String]?
    var set: Set<Int>?
    var seen: Field<[Int]> = .absent
    var friends: [Friend]?
    var page: [Int]?
    var thread: [Friend]?
    var first: Int?
    var likes: Int?
    var counts: [String: Int]?
    var span: Span?
    var seenAt: Date?
    var modelIdentifier: String? { "p" }

    /// Each copies a group of fields that depend on each other from one model to another.
    static let fields: [@Sendable (Post, inout Post) -> Void] = [
        {
            $1.title = $0.title; $1.updatedAt = $0.updatedAt; $1.closed = $0.closed
        },
        { $1.tags = $0.tags }, { $1.set = $0.set }, { $1.seen = $0.seen }, { $1.page = $0.page },
        { $1.first = $0.first }, { $1.likes = $0.likes }, { $1.counts = $0.counts },
    ]

    static func random(_ random: inout SeededGenerator) -> Post {
        func maybe<Value>(_ value: Value) -> Value? {
            Bool.random(using: &random) ? value : nil
        }
        func list() -> [Int] {
            (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                Int.random(in: 0..<4, using: &random)
            }
        }
        func field<Value>(_ value: Value) -> Field<Value> {
            [.absent, .null, .value(value)].randomElement(using: &random) ?? .absent
        }
        var post = Post()
        post.title = maybe("\(list())")
        post.updatedAt = maybe(Int.random(in: 0..<5, using: &random))
        post.closed = field(Int.random(in: 0..<5, using: &random))
        post.tags = maybe(list().map(String.init))
        post.set = maybe(Set(list()))
        post.seen = field(list())
        post.friends = maybe(list().map { Friend("f:\($0)") })
        post.page = maybe(list())
        post.thread = maybe(list().map { Friend("f:\($0)") })
        post.first = maybe(Int.random(in: 0..<5, using: &random))
        post.likes = maybe(Int.random(in: 0..<5, using: &random))
        post.counts = maybe(["a": Int.random(in: 0..<5, using: &random)])
        return post
    }
}

/// A value that is `Codable` alone.
struct Span: Codable, Equatable, Sendable {
    let from: Int
    let to: Int
}

/// A child with a rule of its own, written by hand.
struct Friend: NormalizedModel, Codable, Equatable {
    static let mergeRules: MergeRules = ["score": .combined { (a: Int, b: Int) in max(a, b) }]

    let id: String
    var name: String?
    var score: Int?
    var modelIdentifier: String? { id }

    init(_ id: String, name: String? = nil, score: Int? = nil) {
        (self.id, self.name, self.score) = (id, name, score)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        score = try decoder.decode(forKey: "score")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(score, forKey: "score")
    }
}

/// A type whose stamp may go back.
struct LooseStamp: Codable, NormalizedModel, Equatable {
    static let mergeRules: MergeRules = ["text": .newest(by: "at"), "at": .overwrite]

    let text: String
    let at: Int
    var modelIdentifier: String? { "p" }
}

/// The fields of ``Post`` with other types, and without rules.
struct Odd: Codable, NormalizedModel, Equatable {
    let likes: String
    let tags: Int
    var modelIdentifier: String? { "p" }
}

struct OnlyFirst: Codable, NormalizedModel, Equatable {
    let first: Int
    var modelIdentifier: String? { "p" }
}

/// A value by which versions are compared.
enum Stamp: FieldValue, Sendable {
    case integer(Int)
    case unsigned(UInt64)
    case double(Double)
    case decimal(String)
    case text(String)

    func encodeValue(into encoder: ValueEncoder) throws {
        switch self {
        case .integer(let value): encoder.encode(Int64(value))
        case .unsigned(let value): encoder.encode(value)
        case .double(let value): encoder.encode(value)
        case .decimal(let digits): encoder.encode(decimal: digits)
        case .text(let value): encoder.encode(value)
        }
    }

    static func decodeValue(from decoder: inout ValueDecoder) throws -> Stamp {
        try decoder.skipValue()
        return .integer(0)
    }
}

struct Stamped: NormalizedModel {
    static let mergeRules: MergeRules = ["text": .newest(by: "at")]

    let text: String
    let at: Stamp
    var modelIdentifier: String? { "p" }

    init(text: String, at: Stamp) { (self.text, self.at) = (text, at) }

    init(from decoder: inout RecordDecoder) throws {
        text = try decoder.decode(forKey: "text")
        at = try decoder.decode(forKey: "at")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(text, forKey: "text")
        try encoder.encode(at, forKey: "at")
    }
}

/// A node that contains others, so that one write has them all.
struct Pile<Element: NormalizedModel>: NormalizedModel {
    let id: String
    let elements: [Element]
    var modelIdentifier: String? { id }

    init(_ id: String, _ elements: [Element]) { (self.id, self.elements) = (id, elements) }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        elements = try decoder.decode(forKey: "elements")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(elements, forKey: "elements")
    }
}

/// A model that encodes a nested container before its other fields.
struct Brochure: Codable, NormalizedModel, Equatable {
    static let mergeRules: MergeRules = ["closed": .newest(by: "updatedAt")]

    var pages: [Int]
    var updatedAt: Int?
    var closed: Field<Int> = .absent
    var modelIdentifier: String? { "p" }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var list = container.nestedUnkeyedContainer(forKey: .pages)
        for page in pages { try list.encode(page) }
        try container.encode(closed, forKey: .closed)
        try container.encodeIfPresent(updatedAt, forKey: .updatedAt)
    }
}

import EspalierRecords
import Foundation

// Models as applications write them: synthesised `Codable`, an identifier, nothing of this library's besides.

struct Person: Codable, Hashable, IdentifiedModel {
    var id = 1
    var name = "Ada"
    var modelIdentifier: String? { "Person:\(id)" }
}

struct Message: Codable, Equatable, IdentifiedModel {
    var id = 34
    var text = "hello"
    var sender = Person()
    var modelIdentifier: String? { "Message:\(id)" }
}

/// Inline: it has no identifier.
struct Envelope: Codable, Equatable {
    var stamp = 7
    var person: Person
}

enum Attachment: Codable, Equatable {
    case none
    case person(Person)
    case pair(first: Person, second: Person?)
    case list([Person])
}

/// People in every nesting.
struct Gathering: Codable, Equatable, IdentifiedModel {
    var id = "g"
    var optional: Person?
    var list: [Person] = []
    var lists: [[Person]] = []
    var optionals: [Person?] = []
    var set: Set<Person> = []
    var byName: [String: Person] = [:]
    var inline: Envelope?
    var inlines: [Envelope] = []
    var attachment: Attachment?
    var attachments: [Attachment] = []
    var modelIdentifier: String? { "Gathering:\(id)" }
}

/// A record around any value.
struct Holder<Value: Codable>: Codable, IdentifiedModel where Value: Sendable {
    var value: Value
    var modelIdentifier: String? { "Holder" }
}

extension Holder: Equatable where Value: Equatable {}

/// A model whose fields are written and read by closures, for containers used in unusual ways.
struct Scripted: Encodable, IdentifiedModel {
    let script: @Sendable (any Encoder) throws -> Void
    var modelIdentifier: String? { "Scripted" }
    func encode(to encoder: any Encoder) throws { try script(encoder) }
}

/// Names of fields.
struct Key: CodingKey, ExpressibleByStringLiteral {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringLiteral value: String) { stringValue = value }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// Hands a record's decoder to a closure.
final class Probe: @unchecked Sendable {
    // Tests run one read at a time, on their own thread; a type's initialiser has no other way to its test.
    @TaskLocal static var body: (@Sendable (any Decoder) throws -> Void)?
}

struct Probing: Decodable, IdentifiedModel {
    var modelIdentifier: String? { "Scripted" }
    init(from decoder: any Decoder) throws { try Probe.body?(decoder) }
}

extension BridgeStore {
    /// Writes by `encode` and hands the decoder of what was written to `decode`.
    func script(
        _ encode: @escaping @Sendable (any Encoder) throws -> Void,
        _ decode: @escaping @Sendable (any Decoder) throws -> Void
    ) throws {
        try write(Scripted(script: encode))
        _ = try Probe.$body.withValue(decode) { try read(Probing.self, "Scripted").get() }
    }

    /// `value` written and read as the field of a record.
    func roundTrip<Value: Codable & Sendable>(_ value: Value) throws -> Value {
        try write(Holder(value: value))
        return try read(Holder<Value>.self, "Holder").get().value
    }
}

import EspalierRecords
import Foundation

// Models as applications write them: synthesised `Codable`, an identifier, nothing of this
// library's besides.

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

/// A model whose fields are written by a closure, for containers used in unusual ways.
// Unchecked: tests encode on the thread that made it.
struct Scripted: Encodable, IdentifiedModel, @unchecked Sendable {
    let script: (any Encoder) throws -> Void
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

/// A model that hands its decoder to a closure; an initialiser has no other way to its test than a
/// task-local value.
struct Probing: Decodable, IdentifiedModel {
    // Unchecked: tests decode on the thread that made it.
    final class Script: @unchecked Sendable {
        let run: (any Decoder) throws -> Void
        init(_ run: @escaping (any Decoder) throws -> Void) { self.run = run }
    }

    @TaskLocal static var script: Script?
    var modelIdentifier: String? { "Scripted" }
    init(from decoder: any Decoder) throws { try Self.script?.run(decoder) }
}

extension BridgeStore {
    /// Writes by `encode` and hands the decoder of what was written to `decode`.
    func script(
        _ encode: @escaping (any Encoder) throws -> Void,
        _ decode: @escaping (any Decoder) throws -> Void
    ) throws {
        try write(Scripted(script: encode))
        _ = try probe(decode).get()
    }

    /// Reads the scripted record by `decode`.
    func probe(_ decode: @escaping (any Decoder) throws -> Void) -> Result<Probing, MissReason> {
        Probing.$script.withValue(Probing.Script(decode)) { read(Probing.self, "Scripted") }
    }

    /// `value` written and read as the field of a record.
    func roundTrip<Value: Codable & Sendable>(_ value: Value) throws -> Value {
        try write(Holder(value: value))
        return try read(Holder<Value>.self, "Holder").get().value
    }
}

import EspalierRecords
import Foundation

// Models as applications write them: synthesised `Codable`, an identifier, and nothing else of this
// library.

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

/// A model that passes its decoder to a closure. The closure is a task-local value, because an
/// initialiser has no other way to its test.
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
    /// Writes a record by `encode` and passes its decoder to `decode`.
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

    /// Writes `value` as the field of a record and reads it.
    func roundTrip<Value: Codable & Sendable>(_ value: Value) throws -> Value {
        try write(Holder(value: value))
        return try read(Holder<Value>.self, "Holder").get().value
    }
}

/// Records in a dictionary: the store of the bridge's tests.
final class BridgeStore: RecordSource {
    private var records: [Handle: RecordBuffer] = [:]
    private var stored: [Handle: [UInt8]] = [:]
    private var losses: [Handle: RecordLookup] = [:]
    private var handles: [String: Handle] = [:]
    private var shapes: [Shape] = []
    private let interner = ShapeInterner()

    func record(_ handle: Handle) -> RecordLookup {
        if let loss = losses[handle] { return loss }
        guard let record = records[handle] else { return .nothing }
        return .found(record.reader, owner: record)
    }

    func shape(_ number: UInt64) -> Shape? {
        shapes.indices.contains(Int(number) - 1) ? shapes[Int(number) - 1] : nil
    }

    /// Flattens `model` and replaces its records.
    @discardableResult
    func write(_ model: some IdentifiedModel, limits: TreeLimits = TreeLimits()) throws
        -> FlattenedTree
    {
        let flattener = Flattener(limits: limits, shapes: interner)
        _ = try flattener.value { try ModelStorage.encode(model, into: $0) }
        let tree = flattener.finish()
        for node in tree.nodes { losses[handle(of: node.identifier)] = nil }
        for node in tree.nodes { write(node, of: tree) }
        return tree
    }

    private func write(_ node: NodeDraft, of tree: FlattenedTree) {
        // The bridge does not merge projections.
        guard let draft = node.projections.first else { return }
        let handle = handle(of: node.identifier)
        let record = RecordLayout.build(
            handle: handle, nameSpace: .node, shape: .number(number(of: draft.shape), draft.shape),
            children: draft.children.map { self.handle(of: tree.nodes[$0].identifier) },
            identifier: node.identifier, values: Array(draft.values))
        stored[handle] = record
        // A new buffer, because the old one may be in use.
        records[handle] = RecordBuffer(record)
    }

    private func handle(of identifier: String) -> Handle {
        if let handle = handles[identifier] { return handle }
        let handle = Handle(UInt64(handles.count + 1))
        handles[identifier] = handle
        return handle
    }

    private func number(of shape: Shape) -> UInt64 {
        if let index = shapes.firstIndex(of: shape) { return UInt64(index + 1) }
        shapes.append(shape)
        return UInt64(shapes.count)
    }

    func read<Model>(
        _ type: Model.Type = Model.self, _ identifier: String, limits: TreeLimits = TreeLimits()
    ) -> Result<Model, MissReason> {
        guard let handle = handles[identifier] else { return .failure(.notFound) }
        let treeReader = TreeReader(source: self, limits: limits)
        return treeReader.read(identifier) {
            try ModelStorage.decode(type, entry: handle, identifier: identifier, of: treeReader)
        }
    }

    func delete(_ identifier: String) { losses[handle(of: identifier)] = .tombstone }
    func lose(_ identifier: String) { losses[handle(of: identifier)] = .lost }
    func forget(_ identifier: String) { losses[handle(of: identifier)] = .nothing }

    func bytes(of identifier: String) -> [UInt8]? { handles[identifier].flatMap { stored[$0] } }

    /// Returns the record's fields by name.
    func fields(of identifier: String) throws -> [(name: String, value: RecordValue)] {
        guard let handle = handles[identifier], let bytes = stored[handle] else { return [] }
        let record = try ByteReader.reading(bytes) {
            try Record(reading: $0, handle: handle, shapes: shape)
        }
        return try ByteReader.reading(record.values) { reader in
            try record.shape.fields.map { ($0.name, try RecordValue(reading: &reader)) }
        }
    }
}

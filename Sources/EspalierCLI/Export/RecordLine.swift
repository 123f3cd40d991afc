#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore
import Foundation

/// A record as one line of an export: all of its content, with references by identifier, and its
/// age.
///
///     {"kind":"node","identifier":"Note:9","types":["Note"],"written":"2026-11-29T12:00:00Z",
///      "fields":{"id":"9","author":{"$ref":"Person:1"}}}
struct RecordLine: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        case node(types: [String], fields: [Field], isOnCycle: Bool)
        case key(JSONValue)
        case collection([JSONValue])
    }

    struct Field: Sendable, Equatable {
        let name: String
        /// In `ValueNotation`.
        let value: JSONValue
        /// Bit i is set if type i declares the field.
        let declarers: UInt64
    }

    let identifier: String
    let content: Content
    /// When the record was written, and how old it may be; nil if the cache does not know.
    var age: RestoredRecord.Age?

    var kind: RecordName.Kind {
        switch content {
        case .node: .node
        case .key: .key
        case .collection: .collection
        }
    }

    /// The line as JSON, with the content last.
    var json: JSONValue {
        var json: JSONValue = ["kind": .string(kind.rawValue), "identifier": .string(identifier)]
        if case .node(let types, let fields, let isOnCycle) = content {
            json = json + ["types": .strings(types)]
            let declarers = Self.declarers(of: fields, types)
            if !declarers.isEmpty { json = json + ["declarers": .object(declarers)] }
            if isOnCycle { json = json + ["onCycle": true] }
        }
        if let age {
            json = json + ["written": .string(age.writtenAt.formatted(.iso8601))]
            if let seconds = age.maximum { json = json + ["maxAge": .number(seconds)] }
        }
        return json + .object([JSONMember(name: contentName, value: contentJSON)])
    }

    private var contentName: String {
        switch content {
        case .node: "fields"
        case .key: "value"
        case .collection: "elements"
        }
    }

    /// The content of the record, without its name.
    var contentJSON: JSONValue {
        switch content {
        case .node(_, let fields, _):
            .object(fields.map { JSONMember(name: $0.name, value: $0.value) })
        case .key(let value): value
        case .collection(let elements): .array(elements)
        }
    }

    /// Returns the declarers of the fields that not all types declare.
    private static func declarers(of fields: [Field], _ types: [String]) -> [JSONMember] {
        guard types.count > 1 || fields.contains(where: { $0.declarers == 0 }) else { return [] }
        return fields.compactMap { field in
            let names = field.declaringTypes(of: types)
            guard names.count < types.count else { return nil }
            return JSONMember(name: field.name, value: .strings(names))
        }
    }
}

extension RecordLine.Field {
    func declaringTypes(of types: [String]) -> [String] {
        types.enumerated().filter { declarers & 1 << UInt64($0.offset) != 0 }.map(\.element)
    }

    /// Returns the bits of all of `count` types.
    static func allTypes(_ count: Int) -> UInt64 { count < 64 ? 1 << UInt64(count) - 1 : .max }
}

extension RecordLine {
    /// Parses a line. Does not check the values, which `RecordLineDecoder` does.
    ///
    /// - Throws: `LineProblem` if the line is not a record.
    init(_ json: JSONValue) throws(LineProblem) {
        guard case .object(var members) = json else { throw LineProblem("a record is an object") }
        let kind = try Self.text("kind", from: &members)
        identifier = try Self.text("identifier", from: &members)
        guard !identifier.isEmpty else { throw LineProblem("an identifier is not empty") }
        age = try Self.age(from: &members)
        switch kind {
        case RecordName.Kind.node.rawValue: content = try Self.node(&members)
        case RecordName.Kind.key.rawValue: content = .key(try Self.remove("value", from: &members))
        case RecordName.Kind.collection.rawValue:
            guard case .array(let elements) = try Self.remove("elements", from: &members) else {
                throw LineProblem("elements is an array")
            }
            content = .collection(elements)
        default: throw LineProblem("the kind \(kind) is none of node, key and collection")
        }
        if let rest = members.first { throw LineProblem("a \(kind) has no member \(rest.name)") }
    }

    private static func age(
        from members: inout [JSONMember]
    ) throws(LineProblem) -> RestoredRecord.Age? {
        let maxAge = removeIfPresent("maxAge", from: &members)
        guard let written = removeIfPresent("written", from: &members) else {
            guard maxAge == nil else { throw LineProblem("maxAge is there without written") }
            return nil
        }
        guard case .string(let text) = written, let date = try? Date(text, strategy: .iso8601)
        else {
            throw LineProblem("written is a time such as 2026-11-29T12:00:00Z")
        }
        switch maxAge {
        case nil: return RestoredRecord.Age(writtenAt: date, maximum: nil)
        case .number(.int(let seconds)) where seconds >= 0:
            return RestoredRecord.Age(writtenAt: date, maximum: UInt64(seconds))
        default: throw LineProblem("maxAge is a whole number of seconds")
        }
    }

    private static func node(_ members: inout [JSONMember]) throws(LineProblem) -> Content {
        let types = try names("types", try remove("types", from: &members))
        guard types.count <= Shape.maximumTypes else {
            throw LineProblem("a node has at most \(Shape.maximumTypes) types")
        }
        guard Set(types.map(Identifier.init)).count == types.count else {
            throw LineProblem("types names one twice")
        }
        guard case .object(let fields) = try remove("fields", from: &members) else {
            throw LineProblem("fields is an object")
        }
        guard
            case .object(var declarers) = removeIfPresent("declarers", from: &members)
                ?? .object([])
        else {
            throw LineProblem("declarers is an object")
        }
        guard case .bool(let isOnCycle) = removeIfPresent("onCycle", from: &members) ?? false else {
            throw LineProblem("onCycle is true or false")
        }
        let parsed = try fields.map { (field: JSONMember) throws(LineProblem) -> Field in
            var bits = Field.allTypes(types.count)
            if let names = removeIfPresent(field.name, from: &declarers) {
                bits = try self.bits(of: names, types)
            }
            return Field(name: field.name, value: field.value, declarers: bits)
        }
        if let rest = declarers.first {
            throw LineProblem("declarers names \(rest.name), which is no field")
        }
        return .node(types: types, fields: parsed, isOnCycle: isOnCycle)
    }

    private static func bits(of json: JSONValue, _ types: [String]) throws(LineProblem) -> UInt64 {
        var bits: UInt64 = 0
        for name in try names("a field's declarers", json) {
            guard let index = types.firstIndex(where: { $0.hasSameBytes(as: name) }) else {
                throw LineProblem("declarers names \(name), which is no type of the node")
            }
            bits |= 1 << UInt64(index)
        }
        return bits
    }

    private static func names(_ what: String, _ json: JSONValue) throws(LineProblem) -> [String] {
        if case .array(let elements) = json {
            let names = elements.compactMap { if case .string(let name) = $0 { name } else { nil } }
            if names.count == elements.count { return names }
        }
        throw LineProblem("\(what) is an array of names")
    }

    private static func text(_ name: String, from members: inout [JSONMember]) throws(LineProblem)
        -> String
    {
        guard case .string(let text) = try remove(name, from: &members) else {
            throw LineProblem("\(name) is a string")
        }
        return text
    }

    private static func remove(_ name: String, from members: inout [JSONMember]) throws(LineProblem)
        -> JSONValue
    {
        guard let value = removeIfPresent(name, from: &members) else {
            throw LineProblem("\(name) is missing")
        }
        return value
    }

    private static func removeIfPresent(_ name: String, from members: inout [JSONMember])
        -> JSONValue?
    {
        members.firstIndex { $0.name.hasSameBytes(as: name) }.map { members.remove(at: $0).value }
    }
}

extension RecordLine {
    /// Creates the line of a stored record, which must not be a segment.
    ///
    /// - Parameter references: Returns the JSON for the reference to a record.
    /// - Throws: `FormatError` if the content of the record cannot be read.
    init(
        _ record: Record, in inspection: Inspection, references: (Handle) throws -> JSONValue
    ) throws {
        func json(_ value: RecordValue, _ children: [Handle]) throws -> JSONValue {
            try ValueNotation.json(value) { ordinal in
                guard children.indices.contains(ordinal) else {
                    throw FormatError.malformed("a child that is not in the record")
                }
                return try references(children[ordinal])
            }
        }
        identifier = record.identifier
        let state = try inspection.state(of: record.handle)
        age = state.flatMap { state in
            state.writtenAt.map {
                RestoredRecord.Age(
                    writtenAt: $0.date, maximum: state.expiry.map { min($0, UInt64(Int64.max)) })
            }
        }
        switch record.nameSpace {
        case .node:
            let fields = try record.fields().map { field, value in
                Field(
                    name: field.name, value: try json(value, record.children),
                    declarers: field.declarers)
            }
            let isOnCycle = state?.flags.contains(.onCycle) ?? false
            content = .node(types: record.shape.types, fields: fields, isOnCycle: isOnCycle)
        case .key: content = .key(try json(try record.keyValue(), record.children))
        case .collection:
            content = .collection(
                try inspection.elements(of: record).map { try json($0.value, $0.children) })
        case .segment: throw FormatError.malformed("a segment by itself")
        }
    }
}
#endif

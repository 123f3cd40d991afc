import EspalierRecords

/// A record as one line of an export: everything it says, with references by identifier.
///
///     {"kind":"node","identifier":"Note:9","types":["Note"],"fields":{"id":"9","author":{"$ref":"Person:1"}}}
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
        /// Bit i: whether type i declares it.
        let declarers: UInt64
    }

    let identifier: String
    let content: Content

    var kind: RecordName.Kind {
        switch content {
        case .node: .node
        case .key: .key
        case .collection: .collection
        }
    }
}

extension RecordLine {
    /// The members of the line, the shortest first.
    var json: JSONValue {
        var members = [
            JSONMember(name: "kind", value: .string(kind.rawValue)),
            JSONMember(name: "identifier", value: .string(identifier)),
        ]
        switch content {
        case .node(let types, let fields, let isOnCycle):
            members.append(JSONMember(name: "types", value: .array(types.map { .string($0) })))
            let declarers = Self.declarers(of: fields, types)
            if !declarers.isEmpty {
                members.append(JSONMember(name: "declarers", value: .object(declarers)))
            }
            if isOnCycle { members.append(JSONMember(name: "onCycle", value: true)) }
        case .key, .collection: break
        }
        members.append(JSONMember(name: contentName, value: contentJSON))
        return .object(members)
    }

    private var contentName: String {
        switch content {
        case .node: "fields"
        case .key: "value"
        case .collection: "elements"
        }
    }

    /// What the record holds, without what it is called.
    var contentJSON: JSONValue {
        switch content {
        case .node(_, let fields, _):
            .object(fields.map { JSONMember(name: $0.name, value: $0.value) })
        case .key(let value): value
        case .collection(let elements): .array(elements)
        }
    }

    /// The declarers of those fields that not all types declare.
    private static func declarers(of fields: [Field], _ types: [String]) -> [JSONMember] {
        guard types.count > 1 || fields.contains(where: { $0.declarers == 0 }) else { return [] }
        return fields.compactMap { field in
            let names = field.declaringTypes(of: types)
            guard names.count < types.count else { return nil }
            return JSONMember(name: field.name, value: .array(names.map { .string($0) }))
        }
    }
}

extension RecordLine.Field {
    func declaringTypes(of types: [String]) -> [String] {
        types.enumerated().filter { declarers & 1 << UInt64($0.offset) != 0 }.map(\.element)
    }

    /// The bits of all of `count` types.
    static func allTypes(_ count: Int) -> UInt64 { count < 64 ? 1 << UInt64(count) - 1 : .max }
}

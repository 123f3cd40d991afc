#if CommandLine
import EspalierRecords

/// An array or an object that the parser has not read to its end.
struct JSONContainer {
    let kind: Kind

    /// The name of the member whose value is next.
    var name = ""

    private var elements: [JSONValue] = []
    private var members = JSONMemberList()

    enum Kind {
        case array, object
    }

    init(kind: Kind) {
        self.kind = kind
    }

    mutating func append(_ value: JSONValue) {
        switch kind {
        case .array: elements.append(value)
        case .object: members.insert(JSONMember(name: name, value: value))
        }
    }

    func hasMember(_ name: String) -> Bool { members.contains(name) }

    var value: JSONValue {
        switch kind {
        case .array: .array(elements)
        case .object: .object(members.members)
        }
    }
}

extension JSONContainer.Kind {
    init?(opening byte: UInt8?) {
        switch byte {
        case UInt8(ascii: "["): self = .array
        case UInt8(ascii: "{"): self = .object
        default: return nil
        }
    }

    var closing: UInt8 { self == .array ? UInt8(ascii: "]") : UInt8(ascii: "}") }

    /// The tokens that may follow a value, for an error message.
    var continuation: String { self == .array ? "',' or ']'" : "',' or '}'" }
}

/// The members of an object during parsing. A repeated name replaces the value of the first member
/// with that name.
struct JSONMemberList {
    /// Up to this count, a linear search is faster than hashing every name.
    private static let linearSearchLimit = 12

    private(set) var members: [JSONMember] = []
    private var positions: [Identifier: Int] = [:]

    mutating func insert(_ member: JSONMember) {
        if let position = position(of: member.name) {
            members[position].value = member.value
            return
        }
        members.append(member)
        guard members.count > Self.linearSearchLimit else { return }
        for position in positions.count..<members.count {
            positions[Identifier(members[position].name)] = position
        }
    }

    func contains(_ name: String) -> Bool { position(of: name) != nil }

    private func position(of name: String) -> Int? {
        members.count <= Self.linearSearchLimit
            ? members.firstIndex { $0.name.hasSameBytes(as: name) } : positions[Identifier(name)]
    }
}
#endif

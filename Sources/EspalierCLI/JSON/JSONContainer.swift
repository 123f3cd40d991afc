#if CommandLine
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

    var closing: UInt8 {
        switch self {
        case .array: UInt8(ascii: "]")
        case .object: UInt8(ascii: "}")
        }
    }

    /// The tokens that may follow a value, for an error message.
    var continuation: String {
        switch self {
        case .array: "',' or ']'"
        case .object: "',' or '}'"
        }
    }
}

/// The members of an object during parsing. A repeated name replaces the value of the first member
/// with that name.
struct JSONMemberList {
    /// Up to this count, a linear search is faster than hashing every name.
    private static let linearSearchLimit = 12

    private(set) var members: [JSONMember] = []
    private var positions: [ByteName: Int] = [:]

    mutating func insert(_ member: JSONMember) {
        if let position = position(of: member.name) {
            members[position].value = member.value
            return
        }
        members.append(member)
        if members.count == Self.linearSearchLimit + 1 {
            for (position, member) in members.enumerated() {
                positions[ByteName(name: member.name)] = position
            }
        } else if members.count > Self.linearSearchLimit {
            positions[ByteName(name: member.name)] = members.count - 1
        }
    }

    func contains(_ name: String) -> Bool { position(of: name) != nil }

    private func position(of name: String) -> Int? {
        if members.count <= Self.linearSearchLimit {
            return members.firstIndex { $0.name.hasSameBytes(as: name) }
        }
        return positions[ByteName(name: name)]
    }

    private struct ByteName: Hashable {
        var name: String

        static func == (left: ByteName, right: ByteName) -> Bool {
            left.name.hasSameBytes(as: right.name)
        }

        // Equivalent strings have the same hash, and so have strings with equal bytes.
        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}
#endif

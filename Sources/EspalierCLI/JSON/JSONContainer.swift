/// An array or an object of which the parser has seen the beginning.
struct JSONContainer {
    let kind: Kind

    /// Of the member whose value is next.
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

    /// What may follow a value in here.
    var continuation: String {
        switch self {
        case .array: "',' or ']'"
        case .object: "',' or '}'"
        }
    }
}

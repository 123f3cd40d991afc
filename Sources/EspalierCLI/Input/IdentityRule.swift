/// Which objects of a document are nodes, and what their identifiers are: what turns a JSON
/// document into model trees.
///
/// An object with the id key is a node if the value under it is a string that is not empty or a
/// whole number. Under anything else, and without the key, it has no identity and stands inline in
/// its parent: null, booleans, objects, arrays, the empty string, and numbers with a fraction or an
/// exponent, which name nothing reliably.
///
/// The type of an object is that of the property it stands under: the property's name unless a
/// mapping says otherwise. The elements of an array stand under the array's property. The
/// identifier is `TYPE:ID`; a colon or per cent sign in the type is escaped, so that no two pairs
/// of type and id make one identifier.
///
///     let rule = IdentityRule(idKey: "id", types: [TypeMapping(property: "sender", type: "User")])
///     let tree = rule.tree(from: ["id": 1, "sender": ["id": 2]], type: "Message")
///     // the node Message:1, which refers to the node User:2
struct IdentityRule: Sendable {
    let idKey: String
    let types: [TypeMapping]

    /// The type of objects under `property`.
    func type(under property: String) -> String {
        types.first { $0.property.hasSameBytes(as: property) }?.type ?? property
    }

    /// The tree that `value` is when it stands where objects are of `type`.
    func tree(from value: JSONValue, type: String) -> JSONTree {
        switch value {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let number): .number(number)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map { tree(from: $0, type: type) })
        case .object(let members): .object(node(from: members, type: type))
        }
    }

    private func node(from members: [JSONMember], type: String) -> JSONNode {
        let id = members.first { $0.name.hasSameBytes(as: idKey) }.flatMap {
            identity(in: $0.value)
        }
        let members = members.map { member in
            JSONNode.Member(
                name: member.name,
                value: tree(from: member.value, type: self.type(under: member.name)))
        }
        return JSONNode(
            identifier: id.map { Self.identifier(type: type, id: $0) }, type: type, members: members
        )
    }

    /// The id that `value` is.
    func identity(in value: JSONValue) -> String? {
        switch value {
        case .string(let text): text.isEmpty ? nil : text
        case .number(.int(let number)): String(number)
        case .number(.uint(let number)): String(number)
        case .number(.literal(let text)):
            text.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: "-") } ? text : nil
        default: nil
        }
    }

    static func identifier(type: String, id: String) -> String {
        var escaped: [UInt8] = []
        for byte in type.utf8 {
            switch byte {
            case UInt8(ascii: ":"): escaped += "%3A".utf8
            case UInt8(ascii: "%"): escaped += "%25".utf8
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self) + ":" + id
    }
}

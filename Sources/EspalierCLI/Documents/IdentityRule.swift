#if CommandLine
import EspalierRecords

/// Turns a JSON document into model trees: says which objects are nodes, and what their identifiers
/// are.
///
/// An object is a node if its value under the id key is a nonempty string or a whole number. Every
/// other object has no identity and stays inline in its parent. Numbers with a fraction or an
/// exponent are no identities, because they can be written in several ways.
///
/// The type of an object is its value under the type key, if that is a nonempty string; otherwise
/// the name of its property, or the type that a mapping gives to the property. The elements of an
/// array belong to the array's property. The identifier is `TYPE:ID`; colons and percent signs in
/// the type are escaped, so that two pairs of type and id never have the same identifier, except
/// that the number 7 and the string "7" are the same id.
///
///     let rule = IdentityRule(idKey: "id", types: [TypeMapping(property: "sender", type: "User")])
///     let tree = rule.tree(from: ["id": 1, "sender": ["id": 2]], type: "Message")
///     // the node Message:1, which refers to the node User:2
struct IdentityRule: Sendable {
    let idKey: String
    let types: [TypeMapping]
    /// The member that names the type of an object, such as GraphQL's `__typename`; nil for none.
    var typeKey: String?
    /// Whether a merge keeps the stored value of a member that is null.
    var nullKeeps = false

    /// Returns the type of the objects under `property`.
    func type(under property: String) -> String {
        types.first { $0.property.hasSameBytes(as: property) }?.type ?? property
    }

    /// Returns `value` as a tree, at a place where objects have `type`.
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
        let type = namedType(in: members) ?? type
        let members: [JSONNode.Member] = members.map {
            ($0.name, tree(from: $0.value, type: self.type(under: $0.name)))
        }
        return JSONNode(
            identifier: id.map { Self.identifier(type: type, id: $0) }, type: type,
            members: members, nullKeeps: nullKeeps)
    }

    /// Returns the type that an object names; nil if it names none.
    private func namedType(in members: [JSONMember]) -> String? {
        guard let typeKey,
            case .string(let type)? = members.first(where: { $0.name.hasSameBytes(as: typeKey) })?
                .value, !type.isEmpty
        else { return nil }
        return type
    }

    /// Returns the identity that `value` stands for, or nil if it is none.
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

/// The type of the objects under a property, as in `user=User`.
struct TypeMapping: Sendable, Equatable {
    let property: String
    let type: String

    init(property: String, type: String) {
        self.property = property
        self.type = type
    }

    init(parsing text: String) throws(ArgumentProblem) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else {
            throw ArgumentProblem("a type is given as PROPERTY=TYPE, as in user=User")
        }
        self.init(property: String(parts[0]), type: String(parts[1]))
    }
}
#endif

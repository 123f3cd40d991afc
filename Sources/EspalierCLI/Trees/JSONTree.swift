import EspalierRecords

/// A JSON value in which every object knows whether it is a node: what goes into a cache and comes
/// out of it.
///
/// Numbers keep their kind and every digit.
enum JSONTree: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONTree])
    case object(JSONNode)
}

// So that a collection and a key can hold any of them: what is no node stands inline.
extension JSONTree: IdentifiedModel {
    var modelIdentifier: String? {
        guard case .object(let node) = self else { return nil }
        return node.modelIdentifier
    }
}

extension JSONTree {
    /// The plain value, to be printed.
    var value: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let number): .number(number)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.value))
        case .object(let node):
            .object(node.members.map { JSONMember(name: $0.name, value: $0.value.value) })
        }
    }

    /// What stands for it where it is stored already: a node without members, to be merged into
    /// what there is.
    var stub: JSONTree {
        guard case .object(let node) = self, let identifier = node.modelIdentifier else {
            return self
        }
        return .object(JSONNode(identifier: identifier, type: node.type, members: []))
    }

    /// About the bytes that storing this takes: no less than its values encoded.
    var byteEstimate: Int {
        switch self {
        case .null, .bool: 1
        case .number(.literal(let text)): text.utf8.count + 6
        case .number: 9
        case .string(let text): text.utf8.count + 5
        case .array(let elements): elements.reduce(5) { $0 + $1.byteEstimate }
        case .object(let node):
            node.members.reduce(16 + (node.modelIdentifier?.utf8.count ?? 0)) {
                $0 + $1.name.utf8.count + 5 + $1.value.byteEstimate
            }
        }
    }
}

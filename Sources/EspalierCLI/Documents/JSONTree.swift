#if CommandLine
import EspalierModels
import EspalierRecords
import Foundation

/// A JSON value in which every object knows whether it is a node. The tool writes and reads these
/// models.
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

// Lets a collection and a key hold any JSON value: values that are not nodes are stored inline.
extension JSONTree: IdentifiedModel {
    var modelIdentifier: String? {
        guard case .object(let node) = self else { return nil }
        return node.modelIdentifier
    }
}

extension JSONTree {
    /// The plain value, for printing.
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

    /// The tree to merge where its outermost nodes are stored already: with references in their
    /// place.
    var referring: JSONTree {
        switch self {
        case .array(let elements): .array(elements.map(\.referring))
        case .object(let node):
            .object(node.modelIdentifier == nil ? node.mapped(\.referring) : node.reference)
        default: self
        }
    }

    /// The outermost nodes of the tree, in order: the tree itself if it is a node.
    var outermostNodes: [JSONTree] {
        switch self {
        case .array(let elements): elements.flatMap(\.outermostNodes)
        case .object(let node):
            node.modelIdentifier == nil
                ? node.members.flatMap { $0.value.outermostNodes } : [self]
        default: []
        }
    }

    /// Whether an object of the tree has a member of a name.
    func hasMember(named name: String) -> Bool {
        switch self {
        case .array(let elements): elements.contains { $0.hasMember(named: name) }
        case .object(let node):
            node.members.contains {
                $0.name.hasSameBytes(as: name) || $0.value.hasMember(named: name)
            }
        default: false
        }
    }

    /// Returns whether this is an object with a member of this name.
    func hasOwnMember(named name: String) -> Bool {
        guard case .object(let node) = self else { return false }
        return node.members.contains { $0.name.hasSameBytes(as: name) }
    }

    /// An estimate of the bytes that storing this tree takes: at least those of its encoded values.
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

/// A JSON object as a model: a node if it has an identifier, otherwise inline.
struct JSONNode: Sendable {
    typealias Member = (name: String, value: JSONTree)

    let modelIdentifier: String?
    /// The type; empty for an object read from a cache, which does not need it.
    let type: String
    /// In ascending order of the bytes of their names, so that the order of members in a document
    /// affects neither the shape nor the record.
    let members: [Member]
    /// Whether a merge keeps the stored value of a member that is null here.
    let nullKeeps: Bool

    init(identifier: String?, type: String, members: [Member], nullKeeps: Bool = false) {
        modelIdentifier = identifier
        self.type = type
        self.nullKeeps = nullKeeps
        self.members = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

extension JSONNode {
    /// A node without members: merged into this one, it changes nothing.
    var reference: JSONNode { with([]) }

    func mapped(_ transform: (JSONTree) -> JSONTree) -> JSONNode {
        with(members.map { ($0.name, transform($0.value)) })
    }

    func with(_ members: [Member]) -> JSONNode {
        JSONNode(
            identifier: modelIdentifier, type: type, members: members, nullKeeps: nullKeeps)
    }
}

extension JSONNode: NormalizedModel {
    var projectionIdentifier: String { type }

    func encode(to encoder: inout RecordEncoder) throws {
        for member in members {
            if case .null = member.value, !nullKeeps {
                try encoder.encode(Field<JSONTree>.null, forKey: member.name)
            } else {
                try encoder.encode(member.value, forKey: member.name)
            }
        }
    }

    /// Reads all fields of the record. A reference to a deleted record is null, and so is a
    /// reference back.
    init(from decoder: inout RecordDecoder) throws {
        var members: [Member] = []
        for name in try decoder.fieldNames() {
            // An absent field was never a member.
            guard try decoder.contains(name) else { continue }
            let value = try decoder.decode(JSONTree?.self, forKey: name)
            members.append((name, value ?? .null))
        }
        modelIdentifier = nil
        type = ""
        nullKeeps = false
        self.members = members
    }
}

extension JSONTree: FieldValue {
    func encodeValue(into encoder: ValueEncoder) throws {
        switch self {
        case .null: encoder.encodeNull()
        case .bool(let value): encoder.encode(value)
        case .number(let number): try number.encodeValue(into: encoder)
        case .string(let text): encoder.encode(text)
        case .array(let elements): try elements.encodeValue(into: encoder)
        case .object(let node): try node.encodeValue(into: encoder)
        }
    }

    /// Reads any value. A value of a kind that JSON lacks becomes the nearest one: bytes are
    /// Base64.
    static func decodeValue(from decoder: inout ValueDecoder) throws -> JSONTree {
        switch try decoder.kind() {
        case .null, .absent:
            _ = try decoder.decodeNull()
            return .null
        case .bool: return .bool(try decoder.decodeBool())
        case .integer, .wideInteger, .float:
            return .number(try JSONNumber.decodeValue(from: &decoder))
        case .decimal: return number(digits: try decoder.decodeDecimalDigits())
        case .string: return .string(try decoder.decodeString())
        case .bytes: return .string(Data(try decoder.decodeBytes()).base64EncodedString())
        case .array: return .array(try [JSONTree].decodeValue(from: &decoder))
        case .map: return .object(try inlineObject(from: &decoder))
        case .child: return .object(try JSONNode.decodeValue(from: &decoder))
        }
    }

    /// Returns a number, or a string for digits that are no JSON number, such as `NaN`.
    private static func number(digits: String) -> JSONTree {
        guard case .number(let number)? = try? JSONParser.parse(Array(digits.utf8)) else {
            return .string(digits)
        }
        return .number(number)
    }

    /// Reads a map. Keys that are not strings become their JSON text.
    private static func inlineObject(from decoder: inout ValueDecoder) throws -> JSONNode {
        var members: [JSONNode.Member] = []
        try decoder.decodeEntries(
            key: { decoder -> String in
                if try decoder.kind() == .string { return try decoder.decodeString() }
                return JSONWriter().string(from: try JSONTree.decodeValue(from: &decoder).value)
            },
            value: { decoder, name in
                if try decoder.kind() == .absent { return try decoder.skipValue() }
                // Optional, because a reference to a deleted record must become a null member.
                let value = try JSONTree?.decodeValue(from: &decoder)
                members.append((name, value ?? .null))
            })
        return JSONNode(identifier: nil, type: "", members: members)
    }
}

extension JSONNumber: FieldValue {
    func encodeValue(into encoder: ValueEncoder) throws {
        switch self {
        case .int(let value): encoder.encode(value)
        case .uint(let value): encoder.encode(value)
        case .double(let value): encoder.encode(value)
        case .literal(let text): encoder.encode(decimal: text)
        }
    }

    static func decodeValue(from decoder: inout ValueDecoder) throws -> JSONNumber {
        switch try decoder.kind() {
        case .float: .double(try decoder.decodeDouble())
        case .decimal: .literal(try decoder.decodeDecimalDigits())
        default:
            if let value = try? decoder.decodeInteger(Int128.self) {
                JSONNumber(value)
            } else {
                JSONNumber(try decoder.decodeInteger(UInt128.self))
            }
        }
    }
}
#endif

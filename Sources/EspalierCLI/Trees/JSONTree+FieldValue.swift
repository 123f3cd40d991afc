import EspalierModels
import EspalierRecords
import Foundation

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

    /// Reads any value, those that JSON has no kind for as the nearest it has: bytes as Base64.
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

    /// Digits that other programs stored need not be a number to JSON: `NaN`.
    private static func number(digits: String) -> JSONTree {
        guard case .number(let number)? = try? JSONParser.parse(Array(digits.utf8)) else {
            return .string(digits)
        }
        return .number(number)
    }

    /// A map, whose keys need not be strings where another program wrote it.
    private static func inlineObject(from decoder: inout ValueDecoder) throws -> JSONNode {
        var members: [JSONNode.Member] = []
        try decoder.decodeEntries(
            key: { decoder -> String in
                if try decoder.kind() == .string { return try decoder.decodeString() }
                return JSONWriter().string(from: try JSONTree.decodeValue(from: &decoder).value)
            },
            value: { decoder, name in
                if try decoder.kind() == .absent { return try decoder.skipValue() }
                // Optional, so that the member stays, as null, when the record it refers to was
                // deleted.
                let value = try JSONTree?.decodeValue(from: &decoder)
                members.append(JSONNode.Member(name: name, value: value ?? .null))
            })
        return JSONNode(identifier: nil, type: "", members: members)
    }
}

package import EspalierRecords

/// A value without children in a field of a tree model.
package enum TreeScalar: Hashable, Sendable {
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case bytes([UInt8])
}

extension TreeScalar: FieldValue {
    package func encodeValue(into encoder: ValueEncoder) throws {
        switch self {
        case .bool(let value): encoder.encode(value)
        case .integer(let value): encoder.encode(value)
        case .double(let value): encoder.encode(value)
        case .string(let value): encoder.encode(value)
        case .bytes(let value): encoder.encode(bytes: value)
        }
    }

    package static func decodeValue(from decoder: inout ValueDecoder) throws -> TreeScalar {
        switch try decoder.kind() {
        case .bool: .bool(try decoder.decodeBool())
        case .integer: .integer(try decoder.decodeInteger())
        case .float: .double(try decoder.decodeDouble())
        case .string: .string(try decoder.decodeString())
        default: .bytes(try decoder.decodeBytes())
        }
    }
}

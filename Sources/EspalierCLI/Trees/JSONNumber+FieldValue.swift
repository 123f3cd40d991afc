import EspalierRecords

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

import EspalierRecords
import Foundation

extension JSONValue {
    /// A stored value as `get` prints it, but for references: those are what `reference` says.
    init(_ value: RecordValue, reference: (Int) throws -> JSONValue) rethrows {
        switch value {
        case .absent, .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .integer, .unsigned, .float, .double, .wide:
            self = JSONNumber(value).map(JSONValue.number) ?? .null
        case .string(let text): self = .string(text)
        case .bytes(let bytes): self = .string(Data(bytes).base64EncodedString())
        case .decimal(let digits):
            if case .number(let number)? = try? JSONParser.parse(Array(digits.utf8)) {
                self = .number(number)
            } else {
                self = .string(digits)
            }
        case .array(let elements):
            self = .array(try elements.map { try JSONValue($0, reference: reference) })
        case .map(let entries):
            self = .object(
                try entries.map { entry in
                    let key = try JSONValue(entry.key, reference: reference)
                    let value = try JSONValue(entry.value, reference: reference)
                    if case .string(let name) = key { return JSONMember(name: name, value: value) }
                    return JSONMember(name: JSONWriter().string(from: key), value: value)
                })
        case .child(let ordinal): self = try reference(ordinal)
        }
    }
}

extension JSONNumber {
    /// Nil for what is no number of a binary kind.
    init?(_ value: RecordValue) {
        switch value {
        case .integer(let value): self = .int(value)
        case .unsigned(let value): self = .uint(value)
        case .float(let value): self = .double(Double(value))
        case .double(let value): self = .double(value)
        case .wide(let high, let low, signed: true):
            self.init((Int128(truncatingIfNeeded: Int64(bitPattern: high)) << 64) | Int128(low))
        case .wide(let high, let low, signed: false):
            self.init((UInt128(high) << 64) | UInt128(low))
        default: return nil
        }
    }
}

/// Any stored value, for showing and moving records without their Swift type.
///
/// Example: `RecordValue.array([.string("a"), .null])`. References are shown as their ordinal in
/// the record's children; they mean something only beside them.
public indirect enum RecordValue: Hashable, Sendable {
    case absent
    case null
    case bool(Bool)
    case integer(Int64)
    /// Only above `Int64.max`.
    case unsigned(UInt64)
    case float(Float)
    case double(Double)
    case string(String)
    case bytes([UInt8])
    case decimal(String)
    /// A 128-bit integer as its two's complement.
    case wide(high: UInt64, low: UInt64, signed: Bool)
    case array([RecordValue])
    case map([Entry])
    case child(Int)

    /// One entry of a map; keys are values, too.
    public struct Entry: Hashable, Sendable {
        public let key: RecordValue
        public let value: RecordValue

        public init(key: RecordValue, value: RecordValue) {
            self.key = key
            self.value = value
        }
    }
}

extension RecordValue {
    /// Reads the value at `reader`'s position; `depth` more levels at most.
    package init(reading reader: inout ByteReader, depth: Int = 256) throws(FormatError) {
        guard depth > 0 else { throw .malformed("a value nested too deep") }
        switch try reader.kind() {
        case .absent:
            try reader.skip(1)
            self = .absent
        case .null:
            try reader.skip(1)
            self = .null
        case .bool: self = .bool(try reader.takeBool() ?? false)
        case .integer:
            if let value = try reader.takeInteger(Int64.self) {
                self = .integer(value)
            } else {
                self = .unsigned(try reader.takeInteger(UInt64.self) ?? 0)
            }
        case .wideInteger:
            guard let wide = try reader.takeWide() else {
                throw .malformed("an integer of an unknown width")
            }
            self = .wide(high: wide.high, low: wide.low, signed: wide.signed)
        case .float:
            if let float = try reader.takeFloat() {
                self = .float(float)
            } else {
                self = .double(try reader.takeDouble() ?? 0)
            }
        case .string: self = .string(try reader.takeString() ?? "")
        case .bytes: self = .bytes(try reader.takeBytes() ?? [])
        case .decimal: self = .decimal(try reader.takeDecimal() ?? "")
        case .child:
            guard let ordinal = try reader.takeChild() else {
                throw .malformed("a child of an unknown width")
            }
            self = .child(ordinal)
        case .array:
            var elements: [RecordValue] = []
            for _ in 0..<(try reader.takeArrayCount() ?? 0) {
                elements.append(try RecordValue(reading: &reader, depth: depth - 1))
            }
            self = .array(elements)
        case .map:
            var entries: [Entry] = []
            for _ in 0..<(try reader.takeMapCount() ?? 0) {
                let key = try RecordValue(reading: &reader, depth: depth - 1)
                entries.append(
                    Entry(key: key, value: try RecordValue(reading: &reader, depth: depth - 1)))
            }
            self = .map(entries)
        }
    }
}

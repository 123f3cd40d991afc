/// Any stored value, for showing and moving records without their Swift type.
///
/// ```swift
/// RecordValue.array([.string("a"), .null])
/// ```
///
/// A reference is the ordinal of a child, which means something only beside the record's children.
public indirect enum RecordValue: Hashable, Sendable {
    /// Declared by a type, but never set.
    case absent
    /// Nil.
    case null
    /// A truth value.
    case bool(Bool)
    /// An integer that fits `Int64`.
    case integer(Int64)
    /// An integer above `Int64.max`.
    case unsigned(UInt64)
    /// A `Float`, to the bit.
    case float(Float)
    /// A `Double`, to the bit.
    case double(Double)
    /// Text.
    case string(String)
    /// A run of bytes.
    case bytes([UInt8])
    /// A number as its decimal digits.
    case decimal(String)
    /// A 128-bit integer as its two's complement.
    case wide(high: UInt64, low: UInt64, signed: Bool)
    /// An array.
    case array([RecordValue])
    /// A map, in the stored order of its entries.
    case map([Entry])
    /// A reference: the ordinal of a child.
    case child(Int)

    /// One entry of a map, whose key may be any value.
    public struct Entry: Hashable, Sendable {
        /// The key.
        public let key: RecordValue
        /// The value under the key.
        public let value: RecordValue

        /// Makes an entry.
        ///
        /// - Parameters:
        ///   - key: The key.
        ///   - value: The value under the key.
        public init(key: RecordValue, value: RecordValue) {
            self.key = key
            self.value = value
        }
    }
}

extension RecordValue {
    /// Reads the value at the position of `reader`, with at most `depth` levels of nesting.
    package init(reading reader: inout ByteReader, depth: Int = 256) throws(FormatError) {
        guard depth > 0 else { throw .malformed("a value nested too deep") }
        switch try reader.kind() {
        case .absent:
            try reader.skip(1)
            self = .absent
        case .null:
            try reader.skip(1)
            self = .null
        case .bool: self = .bool(try reader.readBool() ?? false)
        case .integer:
            if let value = try reader.readInteger(Int64.self) {
                self = .integer(value)
            } else {
                self = .unsigned(try reader.readInteger(UInt64.self) ?? 0)
            }
        case .wideInteger:
            guard let wide = try reader.readWide() else {
                throw .malformed("an integer of an unknown width")
            }
            self = .wide(high: wide.high, low: wide.low, signed: wide.signed)
        case .float:
            if let float = try reader.readFloat() {
                self = .float(float)
            } else {
                self = .double(try reader.readDouble() ?? 0)
            }
        case .string: self = .string(try reader.readString() ?? "")
        case .bytes: self = .bytes(try reader.readBytes() ?? [])
        case .decimal: self = .decimal(try reader.readDecimal() ?? "")
        case .child:
            guard let ordinal = try reader.readChild() else {
                throw .malformed("a child of an unknown width")
            }
            self = .child(ordinal)
        case .array:
            var elements: [RecordValue] = []
            for _ in 0..<(try reader.readArrayCount() ?? 0) {
                elements.append(try RecordValue(reading: &reader, depth: depth - 1))
            }
            self = .array(elements)
        case .map:
            var entries: [Entry] = []
            for _ in 0..<(try reader.readMapCount() ?? 0) {
                let key = try RecordValue(reading: &reader, depth: depth - 1)
                entries.append(
                    Entry(key: key, value: try RecordValue(reading: &reader, depth: depth - 1)))
            }
            self = .map(entries)
        }
    }
}

extension ByteWriter {
    /// Writes a value that `RecordValue(reading:)` reads.
    package mutating func append(_ value: RecordValue) {
        switch value {
        case .absent: append(Wire.absent)
        case .null: append(null: ())
        case .bool(let value): append(value: value)
        case .integer(let value): append(value: value)
        case .unsigned(let value): append(value: value)
        case .float(let value): append(value: value)
        case .double(let value): append(value: value)
        case .string(let value): append(value: value)
        case .bytes(let value): append(value: value)
        case .decimal(let value): append(decimal: value)
        case .wide(let high, let low, let signed): append(wide: high, low, signed: signed)
        case .array(let elements):
            append(arrayOf: elements.count)
            for element in elements { append(element) }
        case .map(let entries):
            append(mapOf: entries.count)
            for entry in entries {
                append(entry.key)
                append(entry.value)
            }
        case .child(let ordinal): append(child: ordinal)
        }
    }
}

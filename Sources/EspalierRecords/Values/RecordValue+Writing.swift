extension ByteWriter {
    /// The opposite of `RecordValue(reading:)`.
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

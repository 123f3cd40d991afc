import EspalierRecords

/// Returns the bytes of values written outside a record.
func encoded(_ body: (ValueEncoder) throws -> Void) throws -> [UInt8] {
    try Flattener().value(body).bytes
}

func encoded(_ value: some FieldValue) throws -> [UInt8] {
    try encoded { try value.encodeValue(into: $0) }
}

func written(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter()
    body(&writer)
    return writer.bytes
}

/// Reads `bytes` from their start.
func reading(_ bytes: [UInt8], _ body: (inout ByteReader) throws -> Void) throws {
    try ByteReader.reading(bytes, body)
}

/// Returns the value that `body` reads from the start of `bytes`.
func taken<Value>(_ bytes: [UInt8], _ body: (inout ByteReader) throws -> Value) throws -> Value {
    try ByteReader.reading(bytes, body)
}

/// Returns the value that `body` reads from `bytes`, and expects that no bytes are left.
func takenWhole<Value>(_ bytes: [UInt8], _ body: (inout ByteReader) throws -> Value) throws -> Value
{
    try ByteReader.reading(bytes) { reader in
        let value = try body(&reader)
        guard reader.isAtEnd else { throw FormatError.malformed("\(reader.remaining) bytes left") }
        return value
    }
}

import EspalierRecords

// A handle as keyspaces hold it: a value of the index and of the pins, the beginning of a key of
// the others.
extension Handle {
    init(stored span: RawSpan) throws {
        self = try ByteReader.reading(span) { Handle(try $0.integer(UInt64.self)) }
    }

    init(stored bytes: [UInt8]) throws {
        self = try ByteReader.reading(bytes) { Handle(try $0.integer(UInt64.self)) }
    }

    var storedBytes: [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.append(integer: rawValue)
        return writer.bytes
    }
}

/// The key of a record: a letter for its type, and its identifier. A reference is the key behind
/// its length.
struct RocksKey: WrittenReference {
    enum Kind: UInt8 {
        case feed = 70, post = 80, comment = 67, person = 85
        case list = 76, chunk = 75
    }

    let kind: Kind
    let identifier: String

    init(_ kind: Kind, _ identifier: String) {
        self.kind = kind
        self.identifier = identifier
    }

    func write(to writer: inout HandWriter) {
        writer.varint(UInt64(identifier.utf8.count + 1))
        writeKey(to: &writer)
    }

    func writeKey(to writer: inout HandWriter) {
        writer.varint(UInt64(kind.rawValue))
        writer.unprefixed(identifier)
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        var writer = HandWriter(capacity: 64)
        writeKey(to: &writer)
        return try writer.withBytes(body)
    }
}

extension HandWriter {
    /// The key of one page that was appended to a list.
    mutating func chunkKey(_ list: String, _ number: Int) {
        varint(UInt64(RocksKey.Kind.chunk.rawValue))
        string(list)
        fixed(UInt64(number).bigEndian)
    }
}

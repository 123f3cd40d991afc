import EspalierRecords

/// A store in which most handles name the one record that is fuzzed, and one each a tombstone, a
/// lost record and nothing.
final class FuzzedRecords: RecordSource {
    static let shapes: [UInt64: Shape] = [
        1: Shape(type: "Note", fields: ["id", "author"]),
        2: Shape(type: "Person", fields: ["id", "name"]),
        3: Shape(type: "Thing", fields: ["id", "list", "map", "number", "child", "text", "date"]),
    ]

    var record: [UInt8] = []

    func record(_ handle: Handle) -> RecordLookup {
        switch handle.rawValue % 16 {
        case 7: return .tombstone
        case 9: return .lost
        case 11: return .nothing
        default:
            let buffer = RecordBuffer(record)
            return .found(buffer.reader, owner: buffer)
        }
    }

    func shape(_ number: UInt64) -> Shape? { Self.shapes[number] }

    /// Returns the record with the right check in place of its last eight bytes.
    static func sealed(_ bytes: [UInt8], _ handle: Handle) -> [UInt8] {
        guard bytes.count > RecordLayout.checkSize else { return bytes }
        let shape = try? ByteReader.reading(bytes) { reader in
            var children: [Handle] = []
            let layout = try RecordLayout(reading: &reader)
            try layout.readChildren(&reader, of: handle, into: &children)
            var body = try layout.payload(reader)
            return try Record.shape(of: layout, &body) { shapes[$0] }
        }
        var writer = ByteWriter()
        writer.append(bytes.dropLast(RecordLayout.checkSize))
        writer.append(
            integer: writer.check(
                seed: RecordLayout.seed(handle: handle, shape: (shape ?? .none).fingerprint)))
        return writer.bytes
    }
}

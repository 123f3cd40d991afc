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

    /// Parses bytes as a block, with the check that they have.
    static func block(_ bytes: [UInt8], _ first: Handle) throws -> RecordBlock {
        let check = ByteReader.reading(bytes) {
            $0.check(of: 0..<$0.end, seed: RecordLayout.seed(handle: first))
        }
        let buffer = ByteReader.reading(bytes) { RecordBuffer($0, 0..<$0.end) }
        return try RecordBlock(buffer, first: first, check: check) { shapes[$0] }
    }
}

import EspalierRecords
import Testing

@Suite("Long frames are stored in chunks and joined again")
struct ChunksTests {
    static let limit = 100
    let handle = Handle(7)

    static func record(of count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    }

    func split(_ frame: [UInt8], _ handle: Handle, limit: Int) -> [[UInt8]] {
        let buffer = RecordBuffer(frame)
        return withExtendedLifetime(buffer) {
            Chunks.split(buffer.reader, handle: handle, limit: limit)
        }
    }

    /// Joins chunks as a store does: the first chunk holds their number.
    func join(_ chunks: [[UInt8]]) throws -> [UInt8] {
        let count = try unsafe chunks[0].withUnsafeBytes { bytes in
            try unsafe Chunks.count(RawSpan(_unsafeBytes: bytes))
        }
        guard count == chunks.count else { throw FormatError.truncated }
        var record = ByteWriter()
        for (number, chunk) in chunks.enumerated() {
            try reading(chunk) {
                try Chunks.join(&$0, number: number, handle: handle, into: &record)
            }
        }
        return record.bytes
    }

    @Test(
        "Frames of every length around the limits are cut and joined again",
        arguments: [2, 99, 100, 101, 159, 160, 161, 239, 240, 241, 320, 321, 5_000, 100_000])
    func lengths(count: Int) throws {
        let record = Self.record(of: count)
        let chunks = split(record, handle, limit: Self.limit)
        #expect(chunks.allSatisfy { $0.count <= Self.limit })
        #expect(try join(chunks) == record)
    }

    @Test("Two chunks of every length are joined again, for every limit that leaves room")
    func everyLength() throws {
        for count in 2..<300 {
            #expect(
                try join(split(Self.record(of: count), handle, limit: 100))
                    == Self.record(of: count))
        }
        for limit in 21..<60 {
            #expect(
                try join(split(Self.record(of: 200), handle, limit: limit))
                    == Self.record(of: 200))
        }
    }

    @Test("A chunk in another's place fails its check, in the same record or another")
    func swapped() throws {
        let record = Self.record(of: 400)
        let chunks = split(record, handle, limit: Self.limit)
        for a in chunks.indices.dropFirst() {
            for b in chunks.indices.dropFirst() where a != b {
                var damaged = chunks
                damaged.swapAt(a, b)
                #expect(throws: FormatError.checkFailed) { try join(damaged) }
            }
        }
        let others = split(record, Handle(8), limit: Self.limit)
        for number in chunks.indices {
            var damaged = chunks
            damaged[number] = others[number]
            #expect(throws: FormatError.checkFailed) { try join(damaged) }
        }
    }

    @Test("Every flipped byte and every missing end of every chunk is found")
    func damaged() throws {
        let chunks = split(Self.record(of: 250), handle, limit: Self.limit)
        for number in chunks.indices {
            for position in chunks[number].indices {
                var damaged = chunks
                damaged[number][position] ^= 0x41
                #expect(throws: (any Error).self, "chunk \(number), byte \(position)") {
                    try join(damaged)
                }
                damaged = chunks
                damaged[number] = Array(chunks[number][..<position])
                #expect(throws: FormatError.self) { try join(damaged) }
            }
        }
    }
}

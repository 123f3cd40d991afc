import EspalierRecords
import Testing

@Suite("Bytes are written big-endian and read back, never past the end")
struct FixedWidthTests {
    @Test("Integers of every width are read as written, at their limits")
    func integers() throws {
        func check<I: FixedWidthInteger & BitwiseCopyable>(_ type: I.Type) throws {
            for value in [I.min, I.max, 0, 1, I.max / 2, I.min / 2] {
                let bytes = written { $0.append(integer: value) }
                #expect(bytes.count == I.bitWidth / 8)
                #expect(
                    bytes
                        == (0..<bytes.count).map {
                            UInt8(truncatingIfNeeded: value >> I(8 * (bytes.count - 1 - $0)))
                        }
                )
                #expect(try taken(bytes) { try $0.integer(I.self) } == value)
                for count in bytes.indices {
                    try reading(Array(bytes[..<count])) { reader in
                        #expect(throws: FormatError.truncated) { try reader.integer(I.self) }
                        #expect(reader.position == 0)
                    }
                }
            }
        }
        try check(UInt16.self)
        try check(Int16.self)
        try check(UInt32.self)
        try check(Int32.self)
        try check(UInt64.self)
        try check(Int64.self)
    }

    @Test("An empty run of bytes has nothing to read")
    func empty() throws {
        try reading([]) { reader in
            #expect(reader.isAtEnd)
            #expect(reader.remaining == 0)
            #expect(throws: FormatError.truncated) { try reader.byte() }
            #expect(throws: FormatError.truncated) { try reader.peek() }
            #expect(throws: FormatError.truncated) { try reader.varint() }
            #expect(throws: FormatError.truncated) { try reader.skip(1) }
            #expect(throws: FormatError.truncated) { try reader.skipValue() }
            #expect(throws: FormatError.truncated) { try reader.kind() }
            #expect(throws: Never.self) { try reader.string(count: 0) }
            #expect(throws: Never.self) { try reader.bytes(count: 0) }
        }
    }

    @Test("Negative and overlong counts are refused", arguments: [Int.min, -1, 4, Int.max])
    func counts(count: Int) throws {
        try reading([1, 2, 3]) { reader in
            #expect(throws: FormatError.truncated) { try reader.skip(count) }
            #expect(throws: FormatError.truncated) { try reader.string(count: count) }
            #expect(throws: FormatError.truncated) { try reader.bytes(count: count) }
            #expect(throws: FormatError.truncated) { try reader.matches("abc", count: count) }
        }
    }

    @Test("A limited reader reads nothing behind its end")
    func limited() throws {
        try reading([1, 2, 3]) { reader in
            var limited = reader.limited(to: 2)
            #expect(throws: Never.self) { try limited.skip(2) }
            #expect(throws: FormatError.truncated) { try limited.byte() }
        }
    }

    @Test(
        "Text that is not UTF-8 is refused",
        arguments: [
            [0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82],
        ])
    func invalidText(bytes: [UInt8]) throws {
        try reading(bytes) { reader in
            #expect(throws: FormatError.malformed("text that is not UTF-8")) {
                try reader.string(count: bytes.count)
            }
        }
    }

    @Test("Matching compares bytes and moves on either way")
    func matching() throws {
        let composed = "\u{E9}", decomposed = "e\u{301}"
        try reading(Array(composed.utf8)) { reader in
            for (text, count, isMatch) in [
                (composed, 2, true), (decomposed, 2, false), ("ab", 2, false), ("", 0, true),
            ] {
                var other = reader
                let matches = try other.matches(text, count: count)
                #expect(matches == isMatch)
                #expect(other.position == count)
            }
        }
    }
}

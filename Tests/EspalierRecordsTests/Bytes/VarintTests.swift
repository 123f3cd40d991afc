import EspalierRecords
import Testing

@Suite("Variable-length integers have one form each")
struct VarintTests {
    static let boundaries: [UInt64] =
        (0..<64).flatMap { [UInt64(1) << $0, (UInt64(1) << $0) - 1] } + [.max, .max - 1]

    @Test(
        "A variable-length integer at every boundary is read from the bytes it needs",
        arguments: boundaries)
    func unsigned(value: UInt64) throws {
        let bytes = written { $0.append(varint: value) }
        #expect(bytes.count == max(1, (64 - value.leadingZeroBitCount + 6) / 7))
        #expect(try takenWhole(bytes) { try $0.varint() } == value)
        for count in bytes.indices {
            try reading(Array(bytes[..<count])) { reader in
                #expect(throws: FormatError.truncated) { try reader.varint() }
            }
        }
    }

    @Test(
        "A signed variable-length integer is read as written, and takes one byte if small",
        arguments: boundaries)
    func signed(value: UInt64) throws {
        for value in [Int64(bitPattern: value), 0 &- Int64(bitPattern: value)] {
            let bytes = written { $0.append(signedVarint: value) }
            #expect(try taken(bytes) { try $0.signedVarint() } == value)
            if (-64..<64).contains(value) { #expect(bytes.count == 1) }
        }
    }

    @Test(
        "Longer forms of integers and numbers over 64 bits are refused",
        arguments: [
            [0x80, 0x00], [0xFF, 0x80, 0x00], [UInt8](repeating: 0x80, count: 9) + [0x02],
            [UInt8](repeating: 0xFF, count: 10) + [0x01], [UInt8](repeating: 0x80, count: 12),
            [0x81, 0x80, 0x80, 0x00],
        ])
    func refused(bytes: [UInt8]) throws {
        try reading(bytes) { reader in
            #expect { try reader.varint() } throws: { error in
                if case .malformed? = error as? FormatError { true } else { false }
            }
        }
    }

    @Test("A count beyond the bytes left is refused")
    func counts() throws {
        let bytes = written {
            $0.append(varint: 4)
            $0.append([1, 2, 3, 4])
        }
        #expect(try taken(bytes) { try $0.count() } == 4)
        #expect(try taken(bytes) { try $0.count(ofAtLeast: 0) } == 4)
        #expect(throws: FormatError.truncated) { try taken(bytes) { try $0.count(ofAtLeast: 2) } }
        try reading(written { $0.append(varint: .max) }) { reader in
            #expect(throws: FormatError.truncated) { try reader.count() }
        }
    }
}

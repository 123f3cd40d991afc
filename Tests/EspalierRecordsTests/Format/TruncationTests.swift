import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Truncated and random bytes")
struct TruncationTests {
    static let values: [[UInt8]] = [
        written { $0.append(value: Int64.min) }, written { $0.append(value: Int64(-100)) },
        written { $0.append(value: UInt64(300)) }, written { $0.append(value: UInt64(70_000)) },
        written { $0.append(value: UInt64.max) }, written { $0.append(value: Float(1)) },
        written { $0.append(value: 1.5) }, written { $0.append(value: "short") },
        written { $0.append(value: String(repeating: "x", count: 40)) },
        written { $0.append(value: String(repeating: "x", count: 300)) },
        written { $0.append(value: String(repeating: "x", count: 66_000)) },
        written { $0.append(value: [UInt8](repeating: 1, count: 3)) },
        written { $0.append(value: [UInt8](repeating: 1, count: 300)) },
        written { $0.append(value: [UInt8](repeating: 1, count: 66_000)) },
        written { $0.append(child: 3) }, written { $0.append(child: 300) },
        written { $0.append(child: 70_000) },
        written { $0.append(decimal: "12.5") },
        written { $0.append(decimal: String(repeating: "1", count: 300)) },
        written { $0.append(wide: 1, 2, signed: true) },
        written {
            $0.append(arrayOf: 2)
            $0.append(value: "a")
            $0.append(mapOf: 1)
            $0.append(value: "k")
            $0.append(value: UInt64(9_000))
        },
        written {
            $0.append(arrayOf: 20)
            for number in 0..<20 { $0.append(value: UInt64(number)) }
        },
        written {
            $0.append(mapOf: 20)
            for number in 0..<40 { $0.append(value: UInt64(number)) }
        },
    ]

    @Test("A value that ends early at any byte throws", arguments: values)
    func everyByte(bytes: [UInt8]) throws {
        try reading(bytes) { reader in
            var copy = reader
            try copy.skipValue()
            #expect(copy.isAtEnd)
            copy = reader
            _ = try RecordValue(reading: &copy)
            #expect(copy.isAtEnd)
        }
        let step = max(1, bytes.count / 2_000)
        for count in stride(from: 0, to: bytes.count, by: step) {
            try reading(Array(bytes[..<count])) { reader in
                var copy = reader
                #expect(throws: FormatError.truncated) { try copy.skipValue() }
                copy = reader
                #expect(throws: FormatError.truncated) { _ = try RecordValue(reading: &copy) }
            }
        }
    }

    @Test("A count far beyond the bytes costs no memory")
    func hugeCounts() throws {
        for head in [
            [Wire.array32, 0xFF, 0xFF, 0xFF, 0xFF], [Wire.map32, 0xFF, 0xFF, 0xFF, 0xFF],
            [Wire.str32, 0xFF, 0xFF, 0xFF, 0xFF], [Wire.ext32, 0xFF, 0xFF, 0xFF, 0xFF, 2],
        ] {
            try reading(head + [0, 0, 0]) { reader in
                #expect(throws: FormatError.truncated) { _ = try RecordValue(reading: &reader) }
            }
        }
    }

    @Test("Values nested without end are refused")
    func nesting() throws {
        let bytes = [UInt8](repeating: 0x91, count: 100_000)
        try reading(bytes) { reader in
            var copy = reader
            #expect(throws: FormatError.truncated) { try copy.skipValue() }
            copy = reader
            #expect(throws: FormatError.malformed("a value nested too deep")) {
                _ = try RecordValue(reading: &copy)
            }
        }
    }

    @Test("Random bytes are read or refused by every function")
    func randomBytes() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            try reading(bytes) { reader in
                for read in Self.functions {
                    var copy = reader
                    try? read(&copy)
                    #expect(copy.position <= bytes.count, "\(bytes)")
                }
            }
        }
    }

    static let functions: [@Sendable (inout ByteReader) throws -> Void] = [
        { try $0.skipValue() }, { _ = try $0.kind() }, { _ = try RecordValue(reading: &$0) },
        { _ = try $0.readInteger(Int8.self) }, { _ = try $0.readInteger(UInt128.self) },
        { _ = try $0.readString() },
        { _ = try $0.readBytes() }, { _ = try $0.readChild() }, { _ = try $0.readDecimal() },
        { _ = try $0.readArrayCount() }, { _ = try $0.readMapCount() }, { _ = try $0.readBool() },
        { _ = try $0.readFloat() }, { _ = try $0.readDouble() }, { _ = try $0.readNull() },
        { _ = try Shape.read(from: &$0) }, { _ = try RecordLayout(reading: &$0) },
        { _ = try Record(reading: $0, handle: Handle(1)) { _ in Shape.none } },
    ]
}

import EspalierRecords
import Foundation
import Testing

@Suite("Values with the same encoding")
struct SameEncodingTests {
    /// Expects two values to count as equal exactly if their bytes are equal.
    private func expectExact<Value: FieldValue>(
        _ values: [Value], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let bytes = try values.map { value in
            try Flattener().value { try value.encodeValue(into: $0) }.bytes
        }
        for (index, value) in values.enumerated() {
            for (other, bytesOfOther) in zip(values, bytes) {
                #expect(
                    value.hasSameEncoding(as: other) == (bytes[index] == bytesOfOther),
                    "\(value), \(other)", sourceLocation: sourceLocation)
            }
        }
    }

    /// Texts of which some are equal by `==`, and none by their bytes.
    private static let texts = [
        "", "a", "caf\u{e9}", "cafe\u{301}", "\u{212b}", "\u{c5}", "a\u{323}\u{307}",
        "a\u{307}\u{323}", String(repeating: "long ", count: 10),
        String(repeating: "long ", count: 9) + "lonG ",
    ]

    @Test("Scalars are compared to the bit, and text to the byte")
    func scalars() throws {
        try expectExact([true, false])
        try expectExact(Self.texts + [String(repeatElement("long ", count: 10).joined())])
        try expectExact([0, -0.0, 1, .nan, Double(nan: 1, signaling: false), .infinity])
        try expectExact([Float(0), -0, 1, .nan, Float(nan: 1, signaling: false)])
        try expectExact([Int.min, -1, 0, 1, 127, 128, .max])
        try expectExact([UInt64.min, 1, .max])
        try expectExact([Int128.min, -1, 0, .max])
        try expectExact([Level.low, .high])
    }

    private enum Level: String, FieldValue { case low, high }

    @Test("Values of Foundation are compared as they are written")
    func foundation() throws {
        try expectExact([0, -0.0, 1.5].map { Date(timeIntervalSinceReferenceDate: $0) })
        try expectExact([Data(), Data([0]), Data([0, 1]), Data([9, 0, 1]).dropFirst()])
        let text = "00000000-0000-0000-0000-00000000000"
        try expectExact(["1", "2"].compactMap { UUID(uuidString: text + $0) })
        let base = URL(string: "https://example.com/a/")
        try expectExact(
            [
                URL(string: "b", relativeTo: base), URL(string: "https://example.com/a/b"),
                URL(string: "b"), URL(string: "B"),
            ].compactMap(\.self))
        try expectExact(
            ["1", "1.0", "1.00", "2", "NaN"].map { Decimal(string: $0) ?? .nan })
    }

    @Test("Containers are compared element by element, whatever `==` says")
    func containers() throws {
        try expectExact([nil, "", "a"] as [String?])
        try expectExact([[], ["a"], ["a", "b"], ["b", "a"]])
        try expectExact([[], ["a", "b"], ["b", "a"], ["caf\u{e9}"], ["cafe\u{301}"]] as [Set])
        try expectExact(
            [[:], ["a": 1], ["a": 2], ["a": 1, "b": 2], ["caf\u{e9}": 1], ["cafe\u{301}": 1]])
        try expectExact([Field<String>.absent, .null, .value(""), .value("a")])
    }

    @Test("A type that does not say what it writes has no equal")
    func unknown() {
        #expect(!Opaque(value: 1).hasSameEncoding(as: Opaque(value: 1)))
        #expect(![Opaque(value: 1)].hasSameEncoding(as: [Opaque(value: 1)]))
        #expect([Opaque]().hasSameEncoding(as: []))
        // It may write both in an `encodeValue(into:)` of its own.
        let (euros, dollars) = (Price(rawValue: 5), Price(rawValue: 5, currency: "USD"))
        #expect(!euros.hasSameEncoding(as: dollars) && !euros.hasSameEncoding(as: euros))
        #expect(Name(rawValue: "a").hasSameEncoding(as: Name(rawValue: "a")))
        #expect(!Name(rawValue: "a").hasSameEncoding(as: Name(rawValue: "b")))
        #expect(!Pair(rawValue: "1").hasSameEncoding(as: Pair(rawValue: "1")))
    }

    private struct Name: RawRepresentable, FieldValue {
        let rawValue: String
    }

    /// Is as large as its raw value, and may write more.
    private struct Pair: RawRepresentable, FieldValue {
        let (first, second): (Int, Int)
        var rawValue: String { "\(first)" }
        init(rawValue: String) { (first, second) = (Int(rawValue) ?? 0, 0) }
    }

    private struct Price: RawRepresentable, FieldValue {
        var rawValue: Int
        var currency = "EUR"

        init(rawValue: Int) { self.rawValue = rawValue }
        init(rawValue: Int, currency: String) {
            (self.rawValue, self.currency) = (rawValue, currency)
        }
    }

    private struct Opaque: FieldValue {
        let value: Int
        func encodeValue(into encoder: ValueEncoder) throws { encoder.encode(Int64(value)) }
        static func decodeValue(from decoder: inout ValueDecoder) throws -> Opaque {
            Opaque(value: try decoder.decodeInteger())
        }

        init(value: Int) { self.value = value }
    }
}

#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("A number keeps its kind and its digits")
struct JSONNumberTests {
    @Test(
        "A number keeps its kind and its digits",
        arguments: [
            ("0", .int(0)), ("-1", .int(-1)), ("9223372036854775807", .int(.max)),
            ("-9223372036854775808", .int(.min)),
            ("9223372036854775808", .uint(1 << 63)), ("18446744073709551615", .uint(.max)),
            ("18446744073709551616", .literal("18446744073709551616")),
            ("-9223372036854775809", .literal("-9223372036854775809")),
            ("12345678901234567890123", .literal("12345678901234567890123")),
            ("0.12345678901234567890123", .literal("0.12345678901234567890123")),
            ("1e400", .literal("1e400")), ("1E-400", .literal("1E-400")),
            ("1e99999999999999999999", .literal("1e99999999999999999999")),
            ("0.1", .double(0.1)), ("1.5E+3", .double(1500)),
            ("2.2250738585072014e-308", .double(0x1p-1022)),
            ("5e-324", .double(.leastNonzeroMagnitude)),
            ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
            ("0.30000000000000004", .double(0.1 + 0.2)), ("0e-99999999999999999999", .double(0)),
            ("123456789012345680.0", .double(123_456_789_012_345_680)),
            ("9007199254740993.0", .literal("9007199254740993.0")),
        ] as [(String, JSONNumber)])
    func kind(text: String, expected: JSONNumber) throws {
        #expect(try parse(text) == expected)
    }

    @Test(
        "A number with a fraction or an exponent is never printed as a whole number",
        arguments: [
            ("1.0", "1.0"), ("1e2", "100.0"), ("1.10", "1.1"), ("-0", "-0.0"), ("-0.0", "-0.0"),
            ("1e16", "1e+16"), ("100000000000000000000", "100000000000000000000"),
            ("1E400", "1E400"),
        ])
    func text(written: String, printed: String) throws {
        #expect(try parse(written).text == printed)
    }

    @Test("A printed number reads back as the same number", arguments: 0..<8 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var state = seed
        for _ in 0..<2_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let value = Double(bitPattern: state ^ state >> 29)
            guard value.isFinite, let text = JSONNumber.double(value).text else { continue }
            #expect(try parse(text) == .double(value))
        }
    }

    @Test("The fast path for short decimals agrees with the exact one")
    func shortCut() throws {
        var state: UInt64 = 1
        for _ in 0..<20_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let text = "-\(state >> 16 % 1_000_000_000_000_000)e\(Int(state >> 11 & 63) - 32)"
            guard let value = DecimalLiteral(text.utf8).exactDouble else { continue }
            #expect(value == Double(text))
            #expect(DecimalLiteral(value.description.utf8) == DecimalLiteral(text.utf8))
        }
    }

    @Test(
        "Decimals are equal if they denote the same number",
        arguments: [
            ("1", "1.000", true), ("100", "1e2", true), ("0.001", "1E-3", true),
            ("-0.0", "-0e7", true),
            ("1", "-1", false), ("1", "1e1", false), ("0.1", "0.10000000000000001", false),
        ])
    func decimalEquality(left: String, right: String, equal: Bool) {
        #expect((DecimalLiteral(left.utf8) == DecimalLiteral(right.utf8)) == equal)
    }

    private func parse(_ text: String) throws -> JSONNumber {
        guard case .number(let number) = try JSONParser.parse(Array(text.utf8)) else {
            throw JSONParseError(line: 1, column: 1, problem: .expected("a number"))
        }
        return number
    }
}
#endif

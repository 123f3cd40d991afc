#if CommandLine
import EspalierRecords
import EspalierTestSupport

/// Random stored values of every kind.
struct RandomValues {
    var random: SeededGenerator
    /// The number of children that values refer to.
    let childCount: Int

    mutating func value(depth: Int = 4) -> RecordValue {
        switch Int.random(in: 0..<(depth > 0 ? 16 : 13), using: &random) {
        case 0: .absent
        case 1: .null
        case 2: .bool(.random(using: &random))
        case 3: .integer(number(of: Int64.self))
        case 4: .unsigned(number(of: UInt64.self) | 1 << 63)
        case 5: .float(float())
        case 6: .double(double())
        case 7...8: .string(text())
        case 9:
            .bytes(
                (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                    .random(in: 0...255, using: &random)
                })
        case 10:
            .decimal(
                ["0.10", "NaN", "1e400", "12345678901234567890123", "-0", "5"].randomElement(
                    using: &random) ?? "")
        case 11:
            // Numbers beyond 64 bits.
            .wide(
                high: random.next() >> 1 | 1 << 62, low: number(of: UInt64.self),
                signed: .random(using: &random))
        case 12: .child(Int.random(in: 0..<childCount, using: &random))
        case 13:
            .array((0..<Int.random(in: 0..<5, using: &random)).map { _ in value(depth: depth - 1) })
        case 14:
            .map(
                (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                    .init(key: .string(text()), value: value(depth: depth - 1))
                })
        default:
            .map(
                Self.inOrder(
                    (0..<Int.random(in: 0..<3, using: &random)).map { _ in
                        .init(key: value(depth: depth - 1), value: value(depth: depth - 1))
                    }))
        }
    }

    /// Entries in the order of a dictionary, unless all keys are strings, as those of a model.
    private static func inOrder(_ entries: [RecordValue.Entry]) -> [RecordValue.Entry] {
        let isModel = entries.allSatisfy { if case .string = $0.key { true } else { false } }
        return isModel
            ? entries : entries.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
    }

    /// A number of a random size: small numbers are as likely as large ones.
    private mutating func number<Number: FixedWidthInteger>(of type: Number.Type) -> Number {
        Number(truncatingIfNeeded: random.next())
            >> Number.random(in: 0..<Number(Number.bitWidth), using: &random)
    }

    private mutating func float() -> Float {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Float(Int.random(in: -5...5, using: &random))
        case 1:
            [.nan, .infinity, -.infinity, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude][
                Int.random(in: 0..<6, using: &random)]
        default: Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
        }
    }

    private mutating func double() -> Double {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Double(Int.random(in: -5...5, using: &random))
        case 1:
            [.nan, .infinity, -.infinity, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude][
                Int.random(in: 0..<6, using: &random)]
        default: Double(bitPattern: random.next())
        }
    }

    private mutating func text() -> String {
        let pieces = [
            "", "a", "$ref", "$", "日本", "é", "e\u{301}", "😀", "\u{0}", "\"\\\n", "مرحبا", ".",
            "[0]", " ",
        ]
        return (0..<Int.random(in: 0..<3, using: &random)).map { _ in
            pieces.randomElement(using: &random) ?? ""
        }
        .joined()
    }
}

extension RecordValue {
    /// The stored bytes, which distinguish values that `==` does not, such as -0 and 0.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(self)
        return writer.bytes
    }
}
#endif

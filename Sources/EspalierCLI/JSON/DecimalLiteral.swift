/// A JSON number taken apart: `digits` × 10^`exponent`, without zeros at either end of the digits.
///
/// Decides whether a `Double` stands for a literal exactly: it does when the shortest text that
/// names the `Double` denotes the same decimal number as the literal.
struct DecimalLiteral: Equatable {
    private(set) var isNegative = false
    private(set) var digits: [UInt8] = []
    private(set) var exponent = 0

    /// - Parameter text: a number in JSON's grammar.
    init(_ text: some Sequence<UInt8>) {
        var part = Part.whole
        var writtenExponent = 0
        var exponentIsNegative = false
        for byte in text {
            switch (byte, part) {
            case (UInt8(ascii: "-"), .exponent): exponentIsNegative = true
            case (UInt8(ascii: "-"), _): isNegative = true
            case (UInt8(ascii: "+"), _): break
            case (UInt8(ascii: "."), _): part = .fraction
            case (UInt8(ascii: "e"), _), (UInt8(ascii: "E"), _): part = .exponent
            case (_, .exponent):
                // Saturates: beyond this the number is zero or infinite as a Double whatever the
                // digits are.
                writtenExponent = min(writtenExponent * 10 + Int(byte - UInt8(ascii: "0")), 1 << 40)
            default:
                if part == .fraction { exponent -= 1 }
                if !digits.isEmpty || byte != UInt8(ascii: "0") {
                    digits.append(byte - UInt8(ascii: "0"))
                }
            }
        }
        exponent += exponentIsNegative ? -writtenExponent : writtenExponent
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        if digits.isEmpty { exponent = 0 }
    }

    private enum Part {
        case whole, fraction, exponent
    }
}

extension DecimalLiteral {
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    /// The `Double` that prints as this number; nil when it needs arithmetic of any precision to
    /// tell.
    ///
    /// Up to 15 digits and 10^22 both factors are exact, so one multiplication or division rounds
    /// correctly (Clinger 1990), and no two decimals of 15 digits share a `Double`, so its shortest
    /// text can only be this number.
    var exactDouble: Double? {
        guard digits.count <= 15, abs(exponent) < Self.powersOfTen.count else { return nil }
        var mantissa: Int64 = 0
        for digit in digits { mantissa = mantissa * 10 + Int64(digit) }
        let power = Self.powersOfTen[abs(exponent)]
        let magnitude = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
        return isNegative ? -magnitude : magnitude
    }
}

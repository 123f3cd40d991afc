/// Bytes as digits.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func digits(_ bytes: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Pairs with a space between them, two after eight.
    static func spaced(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.enumerated().map { (index, byte) in
            (index == 0 ? "" : index == 8 ? "  " : " ") + digits([byte])
        }.joined()
    }

    /// What is printable in ASCII, and a point for everything else.
    static func printable(_ bytes: ArraySlice<UInt8>) -> String {
        String(
            decoding: bytes.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") },
            as: UTF8.self)
    }

    /// At least four digits.
    static func offset(_ offset: Int) -> String {
        let text = String(offset, radix: 16)
        return String(repeating: "0", count: max(0, 4 - text.count)) + text
    }
}

/// A word or one punctuation character of Swift code.
struct Token: Equatable {
    let text: String

    /// Counted from 1.
    let line: Int

    /// Whether no space or other blank stands between this token and the one before.
    let isAttached: Bool

    var isWord: Bool { text.utf8.first.map(Self.isWordByte) ?? false }

    static func tokens(of code: [UInt8]) -> [Token] {
        var tokens: [Token] = []
        var line = 1
        var index = 0
        var end = 0
        while index < code.count {
            let byte = code[index]
            if byte == UInt8(ascii: "\n") { line += 1 }
            if byte <= UInt8(ascii: " ") {
                index += 1
                continue
            }
            let length = max(1, code[index...].prefix(while: isWordByte).count)
            let text = String(decoding: code[index..<index + length], as: UTF8.self)
            tokens.append(Token(text: text, line: line, isAttached: index == end))
            index += length
            end = index
        }
        return tokens
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...: true
        default: false
        }
    }
}

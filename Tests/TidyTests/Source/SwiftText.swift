/// Swift source taken apart into code and comments, without parsing it.
///
/// Both halves have the lines and the columns of the original. What belongs to the other half and
/// the text of string literals are blank there. Code inside an interpolation is code. Regex
/// literals are not recognised.
struct SwiftText {
    let code: [UInt8]
    let comments: [UInt8]

    /// In the order of their ends.
    let literals: [StringLiteral]

    init(_ text: String) {
        var splitter = SwiftTextSplitter(Array(text.utf8))
        splitter.run()
        code = splitter.code
        comments = splitter.comments
        literals = splitter.literals
    }
}

/// A string literal of a Swift file.
struct StringLiteral: Equatable {
    /// The position of the first delimiter, in bytes.
    let offset: Int

    /// Counted from 1. A literal with three quotes begins and ends on lines of its own.
    let lines: ClosedRange<Int>

    /// The text between the delimiters as it stands in the file, interpolations included.
    let text: String
}

/// Walks over the bytes of a Swift file once, and copies each to the half it belongs to.
private struct SwiftTextSplitter {
    private let bytes: [UInt8]
    private(set) var code: [UInt8]
    private(set) var comments: [UInt8]
    private(set) var literals: [StringLiteral] = []
    private let newlines: [Int]
    private var index = 0
    private var nesting: [Nesting] = [.code(parentheses: 0)]

    private enum Nesting {
        case code(parentheses: Int)
        case string(hashes: Int, quotes: Int, start: Int)
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        code = bytes.map { $0 == UInt8(ascii: "\n") ? $0 : UInt8(ascii: " ") }
        comments = code
        newlines = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }
    }

    mutating func run() {
        while index < bytes.count {
            switch nesting[nesting.count - 1] {
            case .code(let parentheses): stepInCode(parentheses: parentheses)
            case .string(let hashes, let quotes, let start):
                stepInString(hashes: hashes, quotes: quotes, start: start)
            }
        }
    }

    private mutating func stepInCode(parentheses: Int) {
        if isNext("//") {
            copyComment(until: bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count)
            return
        }
        if isNext("/*") { return copyComment(until: endOfBlockComment()) }
        if let (hashes, quotes) = openingQuotes() {
            nesting.append(.string(hashes: hashes, quotes: quotes, start: index))
            index += hashes + quotes
            return
        }
        let byte = bytes[index]
        if byte == UInt8(ascii: "(") {
            nesting[nesting.count - 1] = .code(parentheses: parentheses + 1)
        } else if byte == UInt8(ascii: ")") {
            if parentheses == 1, nesting.count > 1 {
                nesting.removeLast()
            } else {
                nesting[nesting.count - 1] = .code(parentheses: parentheses - 1)
            }
        }
        code[index] = byte
        index += 1
    }

    private mutating func stepInString(hashes: Int, quotes: Int, start: Int) {
        let hashText = String(repeating: "#", count: hashes)
        if isNext(String(repeating: "\"", count: quotes) + hashText) {
            addLiteral(from: start, delimiter: quotes + hashes)
            index += quotes + hashes
            nesting.removeLast()
        } else if isNext("\\" + hashText + "(") {
            index += 1 + hashes
            nesting.append(.code(parentheses: 0))
        } else if isNext("\\" + hashText) {
            // The escaped character may be a quote or another backslash.
            index += 2 + hashes
        } else {
            index += 1
        }
    }

    private mutating func addLiteral(from start: Int, delimiter: Int) {
        literals.append(
            StringLiteral(
                offset: start, lines: line(at: start)...line(at: index),
                text: String(decoding: bytes[(start + delimiter)..<index], as: UTF8.self)))
    }

    private func line(at offset: Int) -> Int {
        var (low, high) = (0, newlines.count)
        while low < high {
            let middle = (low + high) / 2
            if newlines[middle] < offset { low = middle + 1 } else { high = middle }
        }
        return low + 1
    }

    private func isNext(_ text: String) -> Bool {
        bytes[index...].starts(with: text.utf8)
    }

    private mutating func copyComment(until end: Int) {
        comments.replaceSubrange(index..<end, with: bytes[index..<end])
        index = end
    }

    /// Behind the comment that opens here, with the ones inside it.
    private func endOfBlockComment() -> Int {
        var depth = 0
        var end = index
        while end + 1 < bytes.count {
            switch (bytes[end], bytes[end + 1]) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")): depth += 1
            case (UInt8(ascii: "*"), UInt8(ascii: "/")): depth -= 1
            default:
                end += 1
                continue
            }
            end += 2
            if depth == 0 { return end }
        }
        return bytes.count
    }

    private func openingQuotes() -> (hashes: Int, quotes: Int)? {
        let hashes = bytes[index...].prefix { $0 == UInt8(ascii: "#") }.count
        let quotes = bytes[(index + hashes)...].prefix(3).prefix { $0 == UInt8(ascii: "\"") }.count
        return quotes == 0 ? nil : (hashes, quotes == 3 ? 3 : 1)
    }
}

/// A word or one punctuation character of Swift code.
struct Token: Equatable {
    let text: String

    /// Counted from 1.
    let line: Int

    /// The position of the first byte in the file.
    let offset: Int

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
            tokens.append(
                Token(text: text, line: line, offset: index, isAttached: index == end))
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

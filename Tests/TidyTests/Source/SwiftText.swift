/// Swift source taken apart into code and comments, without parsing it.
///
/// Both halves have the lines and the columns of the original: what belongs to the other half, and
/// all text of string literals, is blank. Code inside an interpolation is code. Regex literals are
/// not known.
struct SwiftText {
    private(set) var code: [UInt8]
    private(set) var comments: [UInt8]

    init(_ text: String) {
        var splitter = SwiftTextSplitter(Array(text.utf8))
        splitter.run()
        code = splitter.code
        comments = splitter.comments
    }
}

struct SwiftTextSplitter {
    private let bytes: [UInt8]
    private(set) var code: [UInt8]
    private(set) var comments: [UInt8]
    private var index = 0
    private var nesting: [Nesting] = [.code(parentheses: 0)]

    private enum Nesting {
        case code(parentheses: Int)
        case string(hashes: Int, quotes: Int)
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        code = bytes.map { $0 == UInt8(ascii: "\n") ? $0 : UInt8(ascii: " ") }
        comments = code
    }

    mutating func run() {
        while index < bytes.count {
            switch nesting[nesting.count - 1] {
            case .code(let parentheses): stepInCode(parentheses: parentheses)
            case .string(let hashes, let quotes): stepInString(hashes: hashes, quotes: quotes)
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
            index += hashes + quotes
            nesting.append(.string(hashes: hashes, quotes: quotes))
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

    private mutating func stepInString(hashes: Int, quotes: Int) {
        let hashText = String(repeating: "#", count: hashes)
        if isNext(String(repeating: "\"", count: quotes) + hashText) {
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
}

extension SwiftTextSplitter {
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

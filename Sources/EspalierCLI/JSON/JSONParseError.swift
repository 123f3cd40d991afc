/// Where a text stops being JSON, and what should have stood there. Holds nothing of the text
/// itself.
struct JSONParseError: Error, Equatable {
    /// Counted from 1.
    var line: Int

    /// Counted from 1, in Unicode scalars.
    var column: Int

    var problem: Problem

    enum Problem: Equatable {
        case expected(String)
        case endsBefore(String)
        case tooDeep(limit: Int)
        case invalidUTF8
        case unpairedSurrogate
        case unescapedControlCharacter
        case duplicateName
    }
}

extension JSONParseError {
    init(_ problem: Problem, at offset: Int, of bytes: [UInt8], startingAt start: Int) {
        let before = bytes[start..<offset]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? start
        self.line = 1 + before.count { $0 == UInt8(ascii: "\n") }
        self.column = 1 + bytes[lineStart..<offset].count { !UTF8.isContinuation($0) }
        self.problem = problem
    }
}

extension JSONParseError: CustomStringConvertible {
    var description: String { "line \(line), column \(column): \(problem)" }
}

extension JSONParseError.Problem: CustomStringConvertible {
    var description: String {
        switch self {
        case .expected(let what): "expected \(what)"
        case .endsBefore(let what): "expected \(what), found the end of the input"
        case .tooDeep(let limit): "arrays and objects are nested more than \(limit) levels deep"
        case .invalidUTF8: "the text is not valid UTF-8"
        case .unpairedSurrogate:
            "a \\u escape holds half of a surrogate pair without its other half"
        case .unescapedControlCharacter:
            "a control character in a string must be written as an escape"
        case .duplicateName: "an object has two members of this name"
        }
    }
}

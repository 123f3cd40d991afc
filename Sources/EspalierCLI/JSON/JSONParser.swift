#if CommandLine
import EspalierRecords

/// A strict parser for RFC 8259.
///
/// The tool does not use Foundation's `JSONSerialization`, which loses what a round trip must keep:
/// whether a number was written as 1 or 1.0, digits beyond the precision of a `Double`, and the
/// order of members.
///
///     let value = try JSONParser.parse(Array(#"{"id": 7}"#.utf8))
///
/// The cost is linear in the input. The parser bounds the depth of nesting, because parsing,
/// writing, comparing and freeing a value recurse.
struct JSONParser {
    static let defaultMaximumDepth = 512

    private let bytes: [UInt8]
    private let start: Int
    private let maximumDepth: Int
    private let allowsDuplicateNames: Bool
    private var index: Int

    /// Parses the one value that `bytes` holds, after an optional byte order mark.
    ///
    /// - Parameter allowsDuplicateNames: Whether an object may have several members of one name, of
    ///   which the last value counts. Otherwise they are an error.
    static func parse(
        _ bytes: [UInt8], maximumDepth: Int = defaultMaximumDepth, allowsDuplicateNames: Bool = true
    ) throws(JSONParseError) -> JSONValue {
        var parser = JSONParser(
            bytes: bytes, maximumDepth: maximumDepth, allowsDuplicateNames: allowsDuplicateNames)
        let value = try parser.parseValue(depth: 0)
        parser.skipWhitespace()
        guard parser.index == bytes.count else {
            throw parser.error(.expected("the end of the input"))
        }
        return value
    }

    /// Parses the values that `bytes` holds one after the other, as in JSON Lines.
    static func parseSequence(_ bytes: [UInt8]) throws(JSONParseError) -> [JSONValue] {
        var parser = JSONParser(
            bytes: bytes, maximumDepth: defaultMaximumDepth, allowsDuplicateNames: true)
        var values: [JSONValue] = []
        parser.skipWhitespace()
        while parser.index < bytes.count {
            values.append(try parser.parseValue(depth: 0))
            parser.skipWhitespace()
        }
        return values
    }

    private init(bytes: [UInt8], maximumDepth: Int, allowsDuplicateNames: Bool) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        self.allowsDuplicateNames = allowsDuplicateNames
        start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        index = start
    }

    /// - Parameter depth: The number of arrays and objects around the value.
    private mutating func parseValue(depth: Int) throws(JSONParseError) -> JSONValue {
        skipWhitespace()
        guard let byte = peek(), byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") else {
            return try parseScalar()
        }
        guard depth < maximumDepth else { throw error(.tooDeep(limit: maximumDepth)) }
        index += 1
        guard byte == UInt8(ascii: "{") else {
            var elements: [JSONValue] = []
            while try skipToItem(isFirst: elements.isEmpty, before: "]") {
                elements.append(try parseValue(depth: depth + 1))
            }
            return .array(elements)
        }
        var list = JSONMemberList()
        while try skipToItem(isFirst: list.members.isEmpty, before: "}") {
            let name = try parseName(of: list)
            list.insert(JSONMember(name: name, value: try parseValue(depth: depth + 1)))
        }
        return .object(list.members)
    }

    /// Skips to the next item of an array or object, over the comma before it. Returns false after
    /// skipping `closing` instead.
    private mutating func skipToItem(isFirst: Bool, before closing: Unicode.Scalar)
        throws(JSONParseError) -> Bool
    {
        skipWhitespace()
        if !isFirst, skip(UInt8(ascii: ",")) { return true }
        if skip(UInt8(ascii: closing)) { return false }
        guard isFirst else { throw missing("',' or '\(closing)'") }
        return true
    }

    /// Reads the name of a member and the colon after it.
    private mutating func parseName(of list: JSONMemberList) throws(JSONParseError) -> String {
        skipWhitespace()
        guard peek() == UInt8(ascii: "\"") else { throw missing("a member name in quotes") }
        let start = index
        let name = try parseString()
        guard allowsDuplicateNames || !list.contains(name) else {
            throw error(.duplicateName, at: start)
        }
        skipWhitespace()
        guard skip(UInt8(ascii: ":")) else { throw missing("':'") }
        return name
    }

    private mutating func parseScalar() throws(JSONParseError) -> JSONValue {
        switch peek() {
        case UInt8(ascii: "\""): .string(try parseString())
        case let byte? where byte == UInt8(ascii: "-") || byte.isASCIIDigit:
            .number(try parseNumber())
        case UInt8(ascii: "t"): try parse(literal: "true", as: .bool(true))
        case UInt8(ascii: "f"): try parse(literal: "false", as: .bool(false))
        case UInt8(ascii: "n"): try parse(literal: "null", as: .null)
        default: throw missing("a value")
        }
    }

    private mutating func parse(literal: StaticString, as value: JSONValue) throws(JSONParseError)
        -> JSONValue
    {
        let text = literal.description.utf8
        guard bytes[index...].starts(with: text) else { throw missing("a value") }
        index += text.count
        return value
    }

    private func peek() -> UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    /// Skips `byte` if it is next, and returns whether it was.
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipWhitespace() {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                index += 1
            default: return
            }
        }
    }

    /// Returns the error for a missing `what` at the current position.
    private func missing(_ what: String) -> JSONParseError {
        error(index < bytes.count ? .expected(what) : .endsBefore(what))
    }

    private func error(_ problem: JSONParseError.Problem) -> JSONParseError {
        error(problem, at: index)
    }

    private func error(_ problem: JSONParseError.Problem, at offset: Int) -> JSONParseError {
        JSONParseError(problem, at: offset, of: bytes, startingAt: start)
    }
}

extension UInt8 {
    var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension JSONParser {
    private mutating func parseNumber() throws(JSONParseError) -> JSONNumber {
        let first = index
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")) { try skipDigits() }
        let wholeEnd = index
        if skip(UInt8(ascii: ".")) { try skipDigits() }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            try skipDigits()
        }
        let text = bytes[first..<index]
        return index == wholeEnd ? wholeNumber(text) : fractionalNumber(text)
    }

    private mutating func skipDigits() throws(JSONParseError) {
        let first = index
        while let byte = peek(), byte.isASCIIDigit { index += 1 }
        if index == first { throw missing("a digit") }
    }

    private func wholeNumber(_ text: ArraySlice<UInt8>) -> JSONNumber {
        let literal = String(decoding: text, as: UTF8.self)
        // Integers have no negative zero.
        if literal == "-0" { return .double(-0.0) }
        if let value = Int64(literal) { return .int(value) }
        return UInt64(literal).map(JSONNumber.uint) ?? .literal(literal)
    }

    private func fractionalNumber(_ text: ArraySlice<UInt8>) -> JSONNumber {
        let decimal = DecimalLiteral(text)
        if let value = decimal.exactDouble { return .double(value) }
        let literal = String(decoding: text, as: UTF8.self)
        guard let value = Double(literal), value.isFinite,
            DecimalLiteral(value.description.utf8) == decimal
        else { return .literal(literal) }
        return .double(value)
    }

    /// Parses a string, whose opening quote is next.
    private mutating func parseString() throws(JSONParseError) -> String {
        index += 1
        let opening = index
        skipPlainBytes()
        if peek() == UInt8(ascii: "\"") {
            let text = try validated(opening..<index)
            index += 1
            return text
        }

        var unescaped: [UInt8] = []
        var runStart = opening
        while true {
            // Validates each run on its own, so that an error can name the position in the input.
            unescaped.append(contentsOf: try validated(runStart..<index).utf8)
            switch peek() {
            case UInt8(ascii: "\""):
                index += 1
                return String(decoding: unescaped, as: UTF8.self)
            case UInt8(ascii: "\\"):
                try parseEscape(into: &unescaped)
            case nil:
                throw missing("the closing quote of a string")
            default:
                throw error(.unescapedControlCharacter)
            }
            runStart = index
            skipPlainBytes()
        }
    }

    /// Skips to the next quote, backslash or control character.
    private mutating func skipPlainBytes() {
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { return }
            index += 1
        }
    }

    private func validated(_ range: Range<Int>) throws(JSONParseError) -> String {
        if let text = String(validating: bytes[range], as: UTF8.self) { return text }
        var decoder = UTF8()
        var iterator = bytes[range].makeIterator()
        var offset = range.lowerBound
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            offset += UTF8.width(scalar)
        }
        throw error(.invalidUTF8, at: offset)
    }

    private mutating func parseEscape(into unescaped: inout [UInt8]) throws(JSONParseError) {
        let escape = index
        index += 1
        let character = peek()
        index += 1
        switch character {
        case let byte? where #""\/"#.utf8.contains(byte): unescaped.append(byte)
        case UInt8(ascii: "b"): unescaped.append(0x08)
        case UInt8(ascii: "f"): unescaped.append(0x0C)
        case UInt8(ascii: "n"): unescaped.append(UInt8(ascii: "\n"))
        case UInt8(ascii: "r"): unescaped.append(UInt8(ascii: "\r"))
        case UInt8(ascii: "t"): unescaped.append(UInt8(ascii: "\t"))
        case UInt8(ascii: "u"):
            unescaped.append(contentsOf: String(Character(try parseScalar(escapedAt: escape))).utf8)
        default:
            index -= 1
            throw missing("one of \" \\ / b f n r t u after a backslash")
        }
    }

    /// Parses the scalar of the `\u` escape at `escape`, with both halves of a surrogate pair.
    private mutating func parseScalar(escapedAt escape: Int) throws(JSONParseError)
        -> Unicode.Scalar
    {
        let unit = try parseHexDigits()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(unit),
            bytes[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")])
        else { throw error(.unpairedSurrogate, at: escape) }
        index += 2
        let second = try parseHexDigits()
        guard UTF16.isTrailSurrogate(second) else {
            throw error(.unpairedSurrogate, at: escape)
        }
        return UTF16.decode(UTF16.EncodedScalar([unit, second]))
    }

    private mutating func parseHexDigits() throws(JSONParseError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else {
                throw missing("four hexadecimal digits after \\u")
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}

/// The members of an object during parsing. A repeated name replaces the value of the first member
/// with that name.
struct JSONMemberList {
    /// Up to this count, a linear search is faster than hashing every name.
    private static let linearSearchLimit = 12

    private(set) var members: [JSONMember] = []
    private var positions: [Identifier: Int] = [:]

    mutating func insert(_ member: JSONMember) {
        if let position = position(of: member.name) {
            members[position].value = member.value
            return
        }
        members.append(member)
        guard members.count > Self.linearSearchLimit else { return }
        for position in positions.count..<members.count {
            positions[Identifier(members[position].name)] = position
        }
    }

    func contains(_ name: String) -> Bool { position(of: name) != nil }

    private func position(of name: String) -> Int? {
        members.count <= Self.linearSearchLimit
            ? members.firstIndex { $0.name.hasSameBytes(as: name) } : positions[Identifier(name)]
    }
}

/// The position of the first error in a JSON text, and what the parser expected there. Holds no
/// part of the text.
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
#endif

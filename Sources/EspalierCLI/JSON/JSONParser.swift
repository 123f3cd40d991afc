/// A strict parser for RFC 8259.
///
/// Not Foundation's, because `JSONSerialization` loses what a round trip must keep: whether a number was
/// written as 1 or 1.0, digits beyond a `Double`'s precision, and the order of members.
///
///     let value = try JSONParser.parse(Array(#"{"id": 7}"#.utf8))
///
/// Works on bytes and copies runs of them; the cost is linear in the input. Nesting is bounded, because
/// parsing, comparing and freeing a value recurse as deep as it is nested.
struct JSONParser {
    static let defaultMaximumDepth = 512

    let bytes: [UInt8]
    let start: Int
    let maximumDepth: Int
    var index: Int
    private var depth = 0

    /// The one value that `bytes` holds. A byte order mark in front of it is skipped.
    static func parse(
        _ bytes: [UInt8], maximumDepth: Int = defaultMaximumDepth
    ) throws(JSONParseError) -> JSONValue {
        var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth)
        let value = try parser.parseValue()
        parser.skipWhitespace()
        guard parser.index == bytes.count else { throw parser.error(.expected("the end of the input")) }
        return value
    }

    private init(bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        index = start
    }
}

extension JSONParser {
    private mutating func parseValue() throws(JSONParseError) -> JSONValue {
        skipWhitespace()
        switch peek() {
        case UInt8(ascii: "\""):
            return .string(try parseString())
        case UInt8(ascii: "{"):
            return try nested { (parser) throws(JSONParseError) in try parser.parseObject() }
        case UInt8(ascii: "["):
            return try nested { (parser) throws(JSONParseError) in try parser.parseArray() }
        case let byte? where byte == UInt8(ascii: "-") || byte.isASCIIDigit:
            return .number(try parseNumber())
        case UInt8(ascii: "t"):
            return try parse(literal: "true", as: .bool(true))
        case UInt8(ascii: "f"):
            return try parse(literal: "false", as: .bool(false))
        case UInt8(ascii: "n"):
            return try parse(literal: "null", as: .null)
        default:
            throw missing("a value")
        }
    }

    private mutating func parse(literal: StaticString, as value: JSONValue) throws(JSONParseError) -> JSONValue {
        let text = literal.description.utf8
        guard bytes[index...].starts(with: text) else { throw missing("a value") }
        index += text.count
        return value
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(JSONParseError) -> JSONValue
    ) throws(JSONParseError) -> JSONValue {
        guard depth < maximumDepth else { throw error(.tooDeep(limit: maximumDepth)) }
        depth += 1
        defer { depth -= 1 }
        index += 1
        return try body(&self)
    }

    private mutating func parseArray() throws(JSONParseError) -> JSONValue {
        var elements: [JSONValue] = []
        skipWhitespace()
        if skip(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try parseValue())
            skipWhitespace()
            if skip(UInt8(ascii: ",")) { continue }
            guard skip(UInt8(ascii: "]")) else { throw missing("',' or ']'") }
            return .array(elements)
        }
    }

    private mutating func parseObject() throws(JSONParseError) -> JSONValue {
        var list = JSONMemberList()
        skipWhitespace()
        if skip(UInt8(ascii: "}")) { return .object([]) }
        while true {
            skipWhitespace()
            guard peek() == UInt8(ascii: "\"") else { throw missing("a member name in quotes") }
            let name = try parseString()
            skipWhitespace()
            guard skip(UInt8(ascii: ":")) else { throw missing("':'") }
            list.insert(JSONMember(name: name, value: try parseValue()))
            skipWhitespace()
            if skip(UInt8(ascii: ",")) { continue }
            guard skip(UInt8(ascii: "}")) else { throw missing("',' or '}'") }
            return .object(list.members)
        }
    }
}

/// A strict parser for RFC 8259.
///
/// Not Foundation's, because `JSONSerialization` loses what a round trip must keep: whether a
/// number was written as 1 or 1.0, digits beyond a `Double`'s precision, and the order of members.
///
///     let value = try JSONParser.parse(Array(#"{"id": 7}"#.utf8))
///
/// Works on bytes and copies runs of them; the cost is linear in the input. Nesting takes no stack
/// here, but is bounded, because writing, comparing and freeing a value recurse as deep as it is
/// nested.
struct JSONParser {
    static let defaultMaximumDepth = 512

    let bytes: [UInt8]
    let start: Int
    let maximumDepth: Int
    let allowsDuplicateNames: Bool
    var index: Int

    /// The one value that `bytes` holds. A byte order mark in front of it is skipped. Of members
    /// with one name the last counts, where they are allowed.
    static func parse(
        _ bytes: [UInt8], maximumDepth: Int = defaultMaximumDepth, allowsDuplicateNames: Bool = true
    ) throws(JSONParseError) -> JSONValue {
        var parser = JSONParser(
            bytes: bytes, maximumDepth: maximumDepth, allowsDuplicateNames: allowsDuplicateNames)
        let value = try parser.parseValue()
        parser.skipWhitespace()
        guard parser.index == bytes.count else {
            throw parser.error(.expected("the end of the input"))
        }
        return value
    }

    private init(bytes: [UInt8], maximumDepth: Int, allowsDuplicateNames: Bool) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        self.allowsDuplicateNames = allowsDuplicateNames
        start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        index = start
    }
}

extension JSONParser {
    private mutating func parseValue() throws(JSONParseError) -> JSONValue {
        var open: [JSONContainer] = []
        while true {
            skipWhitespace()
            var value: JSONValue
            if let kind = JSONContainer.Kind(opening: peek()) {
                guard open.count < maximumDepth else { throw error(.tooDeep(limit: maximumDepth)) }
                index += 1
                skipWhitespace()
                guard skip(kind.closing) else {
                    open.append(JSONContainer(kind: kind))
                    try parseName(into: &open[open.count - 1])
                    continue
                }
                value = JSONContainer(kind: kind).value
            } else {
                value = try parseScalar()
            }

            // The value may be the last of its container, which may be the last of its own.
            while let last = open.indices.last {
                open[last].append(value)
                skipWhitespace()
                if skip(UInt8(ascii: ",")) {
                    try parseName(into: &open[last])
                    break
                }
                guard skip(open[last].kind.closing) else {
                    throw missing(open[last].kind.continuation)
                }
                value = open.removeLast().value
            }
            if open.isEmpty { return value }
        }
    }

    /// Reads the name in front of a member's value; elements have none.
    private mutating func parseName(into container: inout JSONContainer) throws(JSONParseError) {
        guard container.kind == .object else { return }
        skipWhitespace()
        guard peek() == UInt8(ascii: "\"") else { throw missing("a member name in quotes") }
        let start = index
        container.name = try parseString()
        guard allowsDuplicateNames || !container.hasMember(container.name) else {
            throw error(.duplicateName, at: start)
        }
        skipWhitespace()
        guard skip(UInt8(ascii: ":")) else { throw missing("':'") }
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
}

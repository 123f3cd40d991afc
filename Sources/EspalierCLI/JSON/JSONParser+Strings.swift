extension JSONParser {
    /// The string whose opening quote is next.
    mutating func parseString() throws(JSONParseError) -> String {
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
            // Each run by itself, while the error can still name the position in the input.
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

    /// Steps to the next quote, backslash or control character.
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
}

extension JSONParser {
    private mutating func parseEscape(into unescaped: inout [UInt8]) throws(JSONParseError) {
        let escape = index
        index += 1
        let character = peek()
        index += 1
        switch character {
        case UInt8(ascii: "\""): unescaped.append(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): unescaped.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "/"): unescaped.append(UInt8(ascii: "/"))
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

    /// The scalar of the `\u` escape at `escape`, with its second half if it is a surrogate pair.
    private mutating func parseScalar(escapedAt escape: Int) throws(JSONParseError)
        -> Unicode.Scalar
    {
        let unit = try parseHexDigits()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(unit),
            bytes[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")])
        else { throw error(.unpairedSurrogate, at: escape) }
        index += 2
        let decodingPath = try parseHexDigits()
        guard UTF16.isTrailSurrogate(decodingPath) else {
            throw error(.unpairedSurrogate, at: escape)
        }
        return UTF16.decode(UTF16.EncodedScalar([unit, decodingPath]))
    }

    private mutating func parseHexDigits() throws(JSONParseError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch peek() {
            case let byte? where byte.isASCIIDigit:
                digit = byte - UInt8(ascii: "0")
            case let byte? where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20):
                digit = (byte | 0x20) - UInt8(ascii: "a") + 10
            default:
                throw missing("four hexadecimal digits after \\u")
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}

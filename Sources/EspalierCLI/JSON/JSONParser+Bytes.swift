extension JSONParser {
    func peek() -> UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    /// Steps over `byte` if it is next; says whether it was.
    mutating func skip(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        index += 1
        return true
    }

    mutating func skipWhitespace() {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                index += 1
            default: return
            }
        }
    }

    /// The error for anything but `what` at the current position.
    func missing(_ what: String) -> JSONParseError {
        error(index < bytes.count ? .expected(what) : .endsBefore(what))
    }

    func error(_ problem: JSONParseError.Problem) -> JSONParseError {
        error(problem, at: index)
    }

    func error(_ problem: JSONParseError.Problem, at offset: Int) -> JSONParseError {
        JSONParseError(problem, at: offset, of: bytes, startingAt: start)
    }
}

extension UInt8 {
    var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension JSONParser {
    mutating func parseNumber() throws(JSONParseError) -> JSONNumber {
        let first = index
        let isNegative = skip(UInt8(ascii: "-"))
        let whole = index
        if !skip(UInt8(ascii: "0")) { try skipDigits() }
        let wholeEnd = index
        if skip(UInt8(ascii: ".")) { try skipDigits() }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            try skipDigits()
        }
        let text = bytes[first..<index]
        return index == wholeEnd
            ? wholeNumber(text, digits: bytes[whole..<wholeEnd], isNegative: isNegative)
            : fractionalNumber(text)
    }

    private mutating func skipDigits() throws(JSONParseError) {
        let first = index
        while let byte = peek(), byte.isASCIIDigit { index += 1 }
        if index == first { throw missing("a digit") }
    }

    private func wholeNumber(
        _ text: ArraySlice<UInt8>, digits: ArraySlice<UInt8>, isNegative: Bool
    ) -> JSONNumber {
        var magnitude: UInt64 = 0
        for byte in digits {
            let (product, overflows) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carries) = product.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            if overflows || carries { return .literal(String(decoding: text, as: UTF8.self)) }
            magnitude = sum
        }
        if !isNegative {
            return Int64(exactly: magnitude).map(JSONNumber.int) ?? .uint(magnitude)
        }
        // No integer is -0.
        if magnitude == 0 { return .double(-0.0) }
        if magnitude <= Int64.min.magnitude {
            return .int(Int64(truncatingIfNeeded: 0 &- magnitude))
        }
        return .literal(String(decoding: text, as: UTF8.self))
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
}

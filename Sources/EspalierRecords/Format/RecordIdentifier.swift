// The identifier of a record, which most models repeat in a field: `Post:1000414` has the id
// 1000414. A record stores such text once.
//
//     identifier = a string value
//
// Bits 5 to 7 of the flags say what follows the bytes of that string in the identifier: 0 for
// nothing, n for the text of the value n - 1. The text of a string is the string, and the text of
// an integer its decimal digits.

extension RecordLayout {
    /// The most values in which a writer looks for the end of an identifier.
    static let tailFieldCount = 7

    /// Shorter ends are not worth a search.
    private static let shortestTail = 2

    /// The position among the values of the one whose text ends the identifier; nil if the
    /// identifier stands alone.
    package var tailField: Int? { tailCode == 0 ? nil : Int(tailCode) - 1 }

    // MARK: - Writing

    /// Returns which of the first values an identifier ends with, and the number of bytes before
    /// it; nil if it ends with none of them.
    static func splitIdentifier(
        _ identifier: String, in values: ArraySlice<UInt8>
    ) -> (field: Int, prefix: Int)? {
        ByteReader.reading(values) { reader in
            for field in 0..<tailFieldCount where !reader.isAtEnd {
                if let start = try? reader.startOfText(atEndOf: identifier),
                    start > 0, identifier.utf8.count - start >= shortestTail
                {
                    return (field, start)
                }
                guard (try? reader.skipValue()) != nil else { return nil }
            }
            return nil
        }
    }

    // MARK: - Reading

    /// Reads the identifier and leaves `reader` at the values.
    func readIdentifier(_ reader: inout ByteReader) throws(FormatError) -> String {
        guard let prefix = try reader.readString() else {
            throw .malformed("a record without an identifier")
        }
        guard let tailField else { return prefix }
        return prefix + (try reader.text(ofValue: tailField))
    }

    /// Returns whether the record has an identifier. Leaves `reader` at the values if it does.
    @inline(__always)
    func matchIdentifier(
        _ identifier: String, _ reader: inout ByteReader
    ) throws(FormatError) -> Bool {
        guard let count = try reader.readStringLength() else { return false }
        guard tailCode != 0 else { return try reader.matches(identifier, count: count) }
        return try matchParts(of: identifier, prefix: count, &reader)
    }

    private func matchParts(
        of identifier: String, prefix: Int, _ reader: inout ByteReader
    ) throws(FormatError) -> Bool {
        guard try reader.matches(identifier, from: 0, count: prefix) else { return false }
        var value = reader
        for _ in 1..<tailCode { try value.skipValue() }
        return try value.startOfText(atEndOf: identifier) == prefix
    }
}

extension ByteReader {
    /// Returns where the text of the value at the position begins in a string that ends with it;
    /// nil if the string does not, or if the value has no text.
    fileprivate func startOfText(atEndOf string: String) throws(FormatError) -> Int? {
        var ahead = self
        if let count = try ahead.readStringLength() {
            let start = string.utf8.count - count
            return try ahead.matches(string, from: start, count: count) ? start : nil
        }
        guard let text = try integerText() else { return nil }
        let start = string.utf8.count - text.utf8.count
        return start >= 0 && string.utf8.dropFirst(start).elementsEqual(text.utf8) ? start : nil
    }

    /// Returns the text of one of the values from the position on.
    fileprivate func text(ofValue index: Int) throws(FormatError) -> String {
        var ahead = self
        for _ in 0..<index { try ahead.skipValue() }
        if let text = try ahead.readString() { return text }
        guard let text = try ahead.integerText() else {
            throw .malformed("an identifier that ends with a value without text")
        }
        return text
    }

    /// Returns the digits of the integer at the position; nil if there is none of 64 bits.
    private func integerText() throws(FormatError) -> String? {
        guard try kind() == .integer else { return nil }
        var ahead = self
        if let value = try ahead.readInteger(Int64.self) { return "\(value)" }
        return try ahead.readInteger(UInt64.self).map { "\($0)" }
    }
}

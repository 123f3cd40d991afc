// The commonest fields without a call for each step: half of what a model's fields cost beyond
// their values.
extension RecordDecoder {
    /// Decodes one field of text.
    public mutating func decode(_ type: String.Type = String.self, forKey key: String) throws
        -> String
    {
        try decodeScalar(key) { reader throws(FormatError) in try reader.takeString() }
    }

    /// Decodes one field of text that may be nil.
    public mutating func decode(_ type: String?.Type = String?.self, forKey key: String) throws
        -> String?
    {
        try decodeScalar(key) { reader throws(FormatError) -> String?? in
            if try reader.takeNull() { return .some(nil) }
            guard let text = try reader.takeString() else { return nil }
            return text
        }
    }

    /// Decodes one integer field.
    public mutating func decode(_ type: Int.Type = Int.self, forKey key: String) throws -> Int {
        try decodeScalar(key) { reader throws(FormatError) in try reader.takeInteger(Int.self) }
    }

    /// Decodes one floating-point field.
    public mutating func decode(_ type: Double.Type = Double.self, forKey key: String) throws
        -> Double
    {
        try decodeScalar(key) { reader throws(FormatError) in try reader.takeDouble() }
    }

    /// Decodes one field that is true or false.
    public mutating func decode(_ type: Bool.Type = Bool.self, forKey key: String) throws -> Bool {
        try decodeScalar(key) { reader throws(FormatError) in try reader.takeBool() }
    }

    /// What `take` takes where the next expected field stands; where it takes nothing, the field is
    /// decoded as any other.
    @inline(__always)
    private mutating func decodeScalar<Value: FieldValue>(
        _ key: String, _ take: (inout ByteReader) throws(FormatError) -> Value?
    ) throws -> Value {
        if order == .straight, next < count {
            do throws(FormatError) {
                if let value = try take(&values.reader) {
                    next += 1
                    return value
                }
            } catch {
                throw values.treeReader.failure(of: error).inside(field: key)
            }
        }
        return try decodeField(Value.self, forKey: key)
    }
}

// The commonest fields without a call for each step: half of what a model's fields cost beyond their values.
extension RecordDecoder {
    /// Whether the next expected field is the one that stands here.
    @inline(__always)
    private var isInOrder: Bool { order == .straight && next < count }

    /// Decodes one field of text.
    public mutating func decode(_ type: String.Type = String.self, forKey key: String) throws -> String {
        guard isInOrder else { return try decodeField(type, forKey: key) }
        do {
            guard let value = try values.reader.takeString() else { return try decodeField(type, forKey: key) }
            next += 1
            return value
        } catch let error as FormatError {
            throw values.assembly.failure(of: error).inside(field: key)
        }
    }

    /// Decodes one field of text that may be nil.
    public mutating func decode(_ type: String?.Type = String?.self, forKey key: String) throws -> String? {
        guard isInOrder else { return try decodeField(type, forKey: key) }
        do {
            if try values.reader.takeNull() {
                next += 1
                return nil
            }
            guard let value = try values.reader.takeString() else { return try decodeField(type, forKey: key) }
            next += 1
            return value
        } catch let error as FormatError {
            throw values.assembly.failure(of: error).inside(field: key)
        }
    }

    /// Decodes one integer field.
    public mutating func decode(_ type: Int.Type = Int.self, forKey key: String) throws -> Int {
        guard isInOrder else { return try decodeField(type, forKey: key) }
        do {
            guard let value = try values.reader.takeInteger(type) else { return try decodeField(type, forKey: key) }
            next += 1
            return value
        } catch let error as FormatError {
            throw values.assembly.failure(of: error).inside(field: key)
        }
    }

    /// Decodes one floating-point field.
    public mutating func decode(_ type: Double.Type = Double.self, forKey key: String) throws -> Double {
        guard isInOrder else { return try decodeField(type, forKey: key) }
        do {
            guard let value = try values.reader.takeDouble() else { return try decodeField(type, forKey: key) }
            next += 1
            return value
        } catch let error as FormatError {
            throw values.assembly.failure(of: error).inside(field: key)
        }
    }

    /// Decodes one field that is true or false.
    public mutating func decode(_ type: Bool.Type = Bool.self, forKey key: String) throws -> Bool {
        guard isInOrder else { return try decodeField(type, forKey: key) }
        do {
            guard let value = try values.reader.takeBool() else { return try decodeField(type, forKey: key) }
            next += 1
            return value
        } catch let error as FormatError {
            throw values.assembly.failure(of: error).inside(field: key)
        }
    }
}

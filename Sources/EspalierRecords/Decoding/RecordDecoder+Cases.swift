// Enums with payloads, as `RecordEncoder.encodeCase` and synthesised `Codable` conformances write
// them.
extension RecordDecoder {
    /// The name of the case that stands here: that of the one field.
    ///
    /// ```swift
    /// let name = try decoder.caseName()
    /// switch name {
    /// case "card": self = try decoder.decodeCase("card") { .card(try $0.decode(forKey: "_0")) }
    /// case "none": self = try decoder.decodeCase("none") { _ in .none }
    /// default: throw decoder.unknownCase(name, of: Self.self)
    /// }
    /// ```
    ///
    /// No field, or more than one, is a mismatch, which makes the read a miss unless `known` names
    /// just one of them: a record that other types write, too, has fields besides.
    public mutating func caseName(among known: @autoclosure () -> [String] = []) throws -> String {
        if let name = try onlyField() { return name }
        // A field that is absent is as good as none.
        var names = try fieldNames()
        try names.removeAll { try !contains($0) }
        if names.count > 1 {
            let known = known()
            if !known.isEmpty { names.removeAll { !known.contains($0) } }
        }
        guard names.count == 1 else {
            throw ReadFailure(
                .undecodable("expected the one field of an enum's case, found \(names.count)"))
        }
        return names[0]
    }

    /// The name of the field, if there is one and nothing was read yet: read off without a plan,
    /// which a list of enums would make for each.
    private func onlyField() throws -> String? {
        guard count == 1, next == 0, plan == nil else { return nil }
        var ahead = values.reader
        let name = if let shape { shape.names[0] } else { try ahead.takeString() }
        return try ahead.peek() == Wire.absent ? nil : name
    }

    /// Decodes the payload of the case `name`.
    @inlinable
    public mutating func decodeCase<Value>(
        _ name: String, _ payload: (inout RecordDecoder) throws -> Value
    ) throws -> Value {
        guard let start = try start(name) else { throw missing(name) }
        do {
            return try values.decodeFields(payload)
        } catch {
            throw try failed(error, name, start)
        }
    }

    /// The error for a case that the type does not have, as a later version of it may: a miss that
    /// names it.
    public func unknownCase(_ name: String, of type: Any.Type) -> any Error {
        ReadFailure(.undecodable("\(TypeName.of(type)) has no case named \(name)"))
    }
}

extension ValueDecoder {
    /// A map of fields.
    @inlinable
    mutating func decodeFields<Value>(_ make: (inout RecordDecoder) throws -> Value) throws -> Value
    {
        let start = try startInline()
        defer { treeReader.leave() }
        var decoder = RecordDecoder(inline: fork(), count: start.count)
        let value = try make(&decoder)
        try finishInline(at: decoder.endPosition, start: start.position)
        return value
    }
}

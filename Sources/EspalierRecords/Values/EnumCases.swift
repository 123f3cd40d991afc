// Enums with payloads. A case is one field by its name, with the payload as fields inside, as
// `Codable` synthesises it: `{"card": {"_0": ...}}`. Each reads what the other wrote.

extension RecordEncoder {
    /// Encodes the case of an enum.
    ///
    /// ```swift
    /// switch self {
    /// case .card(let card): try encoder.encodeCase("card") { try $0.encode(card, forKey: "_0") }
    /// case .link(let url, let title):
    ///     try encoder.encodeCase("link") { fields in
    ///         try fields.encode(url, forKey: "_0")
    ///         try fields.encode(title, forKey: "title")
    ///     }
    /// case .none: try encoder.encodeCase("none") { _ in }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the case.
    ///   - payload: Writes the associated values as fields. A value without a label is named by its
    ///     position: `_0`, `_1`.
    /// - Throws: ``FlattenError/tooDeep(limit:)``, and what `payload` throws.
    public mutating func encodeCase(_ name: String, _ payload: (inout RecordEncoder) throws -> Void)
        throws
    {
        startField(name)
        isCase = true
        do {
            try values.encodeModel(identifier: nil, projection: "", payload)
        } catch {
            values.noteUnfinishedField(error, of: Self.self)
            throw error
        }
    }
}

extension RecordDecoder {
    /// Returns the name of the case that stands here.
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
    /// - Parameter known: The names of the type's cases. Needed only for a record that other types
    ///   write too, which has their fields besides the case.
    /// - Throws: A failure that makes the read a miss if there is not exactly one field, or more
    ///   than one and not exactly one of them in `known`.
    public mutating func caseName(among known: @autoclosure () -> [String] = []) throws -> String {
        if let name = try onlyField() { return name }
        // An absent field counts as none.
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

    /// Returns the name of the only field, if there is one and nothing was read yet. No plan is
    /// made for it: a list of enums would make one for each element.
    private func onlyField() throws -> String? {
        guard count == 1, next == 0, plan == nil else { return nil }
        var ahead = values.reader
        let name = if let shape { shape.names[0] } else { try ahead.readString() }
        return try ahead.peek() == Wire.absent ? nil : name
    }

    /// Decodes the payload of a case.
    ///
    /// - Parameters:
    ///   - name: The name of the case, as ``caseName(among:)`` returned it.
    ///   - payload: Reads the associated values, as fields.
    /// - Returns: The value that `payload` returns.
    /// - Throws: A failure that makes the read a miss if the case is not there, and what `payload`
    ///   throws.
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

    /// Returns the error for a case that the type does not have, as a later version of it may. The
    /// read is then a miss that names the case.
    ///
    /// - Parameters:
    ///   - name: The name of the unknown case.
    ///   - type: The enum.
    public func unknownCase(_ name: String, of type: Any.Type) -> any Error {
        ReadFailure(.undecodable("\(TypeName.of(type)) has no case named \(name)"))
    }
}

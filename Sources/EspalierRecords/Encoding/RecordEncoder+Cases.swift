extension RecordEncoder {
    /// Encodes the case of an enum: one field by its name, with its payload as fields inside.
    /// `{"card": {"_0": ...}}`, as `Codable` synthesises it; both read each other's.
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
    public mutating func encodeCase(_ name: String, _ payload: (inout RecordEncoder) throws -> Void)
        throws
    {
        startField(name)
        isCase = true
        try values.encodeModel(identifier: nil, projection: "", payload)
    }
}

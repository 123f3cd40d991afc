/// The single-value container of a value: the frame itself, so that it costs no box.
extension EncodingFrame: SingleValueEncodingContainer {
    func encodeNil() throws { try whole { $0.encodeNull() } }

    func encode<Value: Encodable>(_ value: Value) throws {
        // A wrapper that goes by the identifier of what it wraps has that model's fields: a
        // reference would lead back to this very record.
        if let identifier = recordIdentifier, let model = value as? any IdentifiedModel,
            model.modelIdentifier == identifier
        {
            return try value.encode(to: self)
        }
        try whole { _ in try encode(value, at: nil) }
    }

    func encode(_ value: Bool) throws { try whole { $0.encode(value) } }
    func encode(_ value: String) throws { try whole { $0.encode(value) } }
    func encode(_ value: Double) throws { try whole { $0.encode(value) } }
    func encode(_ value: Float) throws { try whole { $0.encode(value) } }
    func encode(_ value: Int) throws { try whole { $0.encode(Int64(value)) } }
    func encode(_ value: Int8) throws { try whole { $0.encode(Int64(value)) } }
    func encode(_ value: Int16) throws { try whole { $0.encode(Int64(value)) } }
    func encode(_ value: Int32) throws { try whole { $0.encode(Int64(value)) } }
    func encode(_ value: Int64) throws { try whole { $0.encode(Int64(value)) } }
    func encode(_ value: UInt) throws { try whole { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt8) throws { try whole { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt16) throws { try whole { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt32) throws { try whole { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt64) throws { try whole { $0.encode(UInt64(value)) } }
    func encode(_ value: Int128) throws { try whole { value.encodeValue(into: $0) } }
    func encode(_ value: UInt128) throws { try whole { value.encodeValue(into: $0) } }
}

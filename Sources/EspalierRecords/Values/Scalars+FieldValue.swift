extension Bool: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(self) }
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Bool {
        try decoder.decodeBool()
    }
}

extension String: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(self) }
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> String {
        try decoder.decodeString()
    }
}

extension Double: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(self) }
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Double {
        try decoder.decodeDouble()
    }
}

extension Float: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(self) }
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Float {
        try decoder.decodeFloat()
    }
}

/// Integers of 64 bits and less share this: the stored width is the value's, not the type's.
extension FieldValue where Self: FixedWidthInteger & SignedInteger {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(Int64(self)) }
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Self {
        try decoder.decodeInteger()
    }
}

extension FieldValue where Self: FixedWidthInteger & UnsignedInteger {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(UInt64(self)) }
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Self {
        try decoder.decodeInteger()
    }
}

extension Int: FieldValue {}
extension Int8: FieldValue {}
extension Int16: FieldValue {}
extension Int32: FieldValue {}
extension Int64: FieldValue {}
extension UInt: FieldValue {}
extension UInt8: FieldValue {}
extension UInt16: FieldValue {}
extension UInt32: FieldValue {}
extension UInt64: FieldValue {}

extension Int128: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) {
        if let short = Int64(exactly: self) { encoder.encode(short) } else { encoder.encode(self) }
    }
}

extension UInt128: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) {
        if let short = UInt64(exactly: self) { encoder.encode(short) } else { encoder.encode(self) }
    }
}

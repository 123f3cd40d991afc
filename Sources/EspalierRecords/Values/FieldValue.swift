/// A value that can stand in a field: the protocol through which hand-written and generated models
/// are stored.
///
/// These types conform: `Bool`, all integers, `Float`, `Double`, `String`, `Date`, `Data`, `UUID`,
/// `URL` and `Decimal`; optionals, arrays, sets and dictionaries of conforming types; and every
/// `NormalizedModel`, as a reference when it has an identifier and inline when not. An enum whose
/// raw value conforms only has to declare the conformance:
///
/// ```swift
/// enum Colour: String, FieldValue { case red, green }
/// ```
///
/// The methods are called on any thread. An error thrown while decoding makes the read a miss; an
/// error thrown while encoding fails the write's ticket.
public protocol FieldValue {
    /// Writes exactly one value.
    ///
    /// - Parameter encoder: Receives the value. Do not keep it.
    /// - Throws: Any error. The write then fails with ``FlattenError/modelFailed(type:reason:)``.
    func encodeValue(into encoder: ValueEncoder) throws

    /// Reads exactly one value.
    ///
    /// - Parameter decoder: Stands at the value.
    /// - Throws: Any error. The read is then a miss, unless the value is left out of a container.
    static func decodeValue(from decoder: inout ValueDecoder) throws -> Self

    /// Reads an array of values and leaves out elements whose record was deleted.
    ///
    /// The default implementation suits every type. This is a requirement so that it is specialised
    /// where the type is.
    ///
    /// - Parameter decoder: Stands at the array.
    /// - Throws: As ``decodeValue(from:)``.
    static func decodeValues(from decoder: inout ValueDecoder) throws -> [Self]

    /// The value of a field of this type that the record lacks. For an optional that is
    /// `.some(nil)`; all other types have no such value, and the read is a miss.
    static var valueWhenMissing: Self? { get }

    /// Returns whether ``encodeValue(into:)`` certainly writes the same bytes for both values, and
    /// refers to models that write the same. A write whose model has the encoding of the last one
    /// does not encode it again.
    ///
    /// The default is `false`, which is always right: the values are then encoded. `@Normalized`
    /// generates this function for structs and enums. A type that writes several fields compares
    /// each of them by this function, and not by `==`: `==` of `String` ignores how characters are
    /// composed, and an app's own `==` may ignore whole fields.
    ///
    /// The function must return `false` where something else than the two values decides what they
    /// write: for a class, and for a model whose identifier depends on a global variable. A
    /// `RawRepresentable` type has a default that compares the raw values. If it has an
    /// `encodeValue(into:)` of its own, it must implement this function, too.
    ///
    /// ```swift
    /// func hasSameEncoding(as other: Price) -> Bool {
    ///     amount.hasSameEncoding(as: other.amount) && unit.hasSameEncoding(as: other.unit)
    /// }
    /// ```
    ///
    /// - Parameter other: A value of the same type.
    /// - Complexity: Should be less than that of encoding. Called on any thread.
    func hasSameEncoding(as other: Self) -> Bool
}

extension FieldValue {
    @inlinable
    public static func decodeValues(from decoder: inout ValueDecoder) throws -> [Self] {
        var result: [Self] = []
        result.reserveCapacity(decoder.expectedCount())
        let start = decoder.position
        try decoder.decodeElements { result.append(try decodeValue(from: &$0)) }
        decoder.noteMemory(of: result.count, stride: MemoryLayout<Self>.stride, from: start)
        return result
    }

    @inlinable
    public static var valueWhenMissing: Self? { nil }

    /// `false`: it is not known what the type writes.
    @inlinable
    public func hasSameEncoding(as other: Self) -> Bool { false }
}

extension FieldValue where Self: RawRepresentable, RawValue: FieldValue {
    /// Writes the raw value.
    public func encodeValue(into encoder: ValueEncoder) throws {
        try rawValue.encodeValue(into: encoder)
    }

    /// Reads the raw value. Throws if it is none of the type's.
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Self {
        let raw = try RawValue.decodeValue(from: &decoder)
        guard let value = Self(rawValue: raw) else {
            throw ReadFailure(.undecodable("a value that is no case of \(Self.self)"))
        }
        return value
    }

    /// Compares the raw values. `false` for a type that is neither an enum of a byte nor of the
    /// size of its raw value: it may write more in an `encodeValue(into:)` of its own.
    @inlinable
    public func hasSameEncoding(as other: Self) -> Bool {
        let size = MemoryLayout<Self>.size
        guard
            size <= 1
                || size == MemoryLayout<RawValue>.size && _isPOD(Self.self) == _isPOD(RawValue.self)
        else { return false }
        return !(Self.self is AnyObject.Type) && rawValue.hasSameEncoding(as: other.rawValue)
    }
}

// MARK: - Scalars

extension Bool: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(self) }
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Bool {
        try decoder.decodeBool()
    }
    @inlinable
    public func hasSameEncoding(as other: Bool) -> Bool { self == other }
}

extension String: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(self) }
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> String {
        try decoder.decodeString()
    }

    // Without the attribute the compiler copies each model of an array for the call, and retains
    // all text in it, in case the call changes the array. The copies took two thirds of the time.
    /// Compares the bytes in UTF-8.
    @_effects(readonly)
    public func hasSameEncoding(as other: String) -> Bool {
        isIdentical(to: other) || hasSameBytes(as: other)
    }
}

extension Double: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(self) }
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Double {
        try decoder.decodeDouble()
    }
    /// Compares the bits, so that NaN equals itself, and -0 differs from 0.
    @inlinable
    public func hasSameEncoding(as other: Double) -> Bool { bitPattern == other.bitPattern }
}

extension Float: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(self) }
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Float {
        try decoder.decodeFloat()
    }
    /// Compares the bits, so that NaN equals itself, and -0 differs from 0.
    @inlinable
    public func hasSameEncoding(as other: Float) -> Bool { bitPattern == other.bitPattern }
}

// The stored width of an integer is its value's, not its type's: a field may change its type as
// long as the values fit.

extension FieldValue where Self: FixedWidthInteger & SignedInteger {
    /// Writes the integer in as few bytes as it needs.
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(Int64(self)) }

    /// Reads an integer of any stored width. Throws if it does not fit.
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Self {
        try decoder.decodeInteger()
    }

    @inlinable
    public func hasSameEncoding(as other: Self) -> Bool { self == other }
}

extension FieldValue where Self: FixedWidthInteger & UnsignedInteger {
    /// Writes the integer in as few bytes as it needs.
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(UInt64(self)) }

    /// Reads an integer of any stored width. Throws if it does not fit.
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Self {
        try decoder.decodeInteger()
    }

    @inlinable
    public func hasSameEncoding(as other: Self) -> Bool { self == other }
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

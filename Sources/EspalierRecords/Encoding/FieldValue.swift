/// A value that can stand in a field: the protocol that hand-written and generated models encode
/// through.
///
/// Conforming: `Bool`, all integers, `Float`, `Double`, `String`, `Date`, `Data`, `UUID`, `URL`,
/// `Decimal`; optionals, arrays, sets and dictionaries of conforming types; every `NormalizedModel`
/// (a reference when it has an identifier, inline when not); and enums by declaring the conformance
/// when their raw value conforms:
///
/// ```swift
/// enum Colour: String, FieldValue { case red, green }
/// ```
///
/// Calls happen on any thread. Errors thrown while decoding make the read a miss; errors thrown
/// while encoding fail the write's ticket.
public protocol FieldValue {
    /// Writes exactly one value.
    func encodeValue(into encoder: ValueEncoder) throws
    /// Reads exactly one value.
    static func decodeValue(from decoder: inout ValueDecoder) throws -> Self
    /// Reads an array of values, leaving elements out whose record was deleted. The given
    /// implementation is what conforming types want; it is a requirement so that it specialises
    /// where the type is.
    static func decodeValues(from decoder: inout ValueDecoder) throws -> [Self]
    /// What a field of this type is when the record has none: nil for optionals; for all others
    /// there is no such value, and the read is a miss.
    static var valueWhenMissing: Self? { get }
}

extension FieldValue {
    @inlinable
    public static func decodeValues(from decoder: inout ValueDecoder) throws -> [Self] {
        var result: [Self] = []
        result.reserveCapacity(decoder.expectedCount())
        try decoder.decodeElements { result.append(try decodeValue(from: &$0)) }
        return result
    }

    @inlinable
    public static var valueWhenMissing: Self? { nil }
}

extension FieldValue where Self: RawRepresentable, RawValue: FieldValue {
    public func encodeValue(into encoder: ValueEncoder) throws {
        try rawValue.encodeValue(into: encoder)
    }

    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Self {
        let raw = try RawValue.decodeValue(from: &decoder)
        guard let value = Self(rawValue: raw) else {
            throw ReadFailure(.undecodable("a value that is no case of \(Self.self)"))
        }
        return value
    }
}

/// A field that tells apart *not fetched*, *null* and a value.
///
/// ```swift
/// struct Issue: Codable, NormalizedModel {
///     let id: Int
///     let title: String?            // nil: not fetched, or null
///     let closedAt: Field<Date>     // absent: not fetched; null: open again
///     var modelIdentifier: String? { "Issue:\(id)" }
/// }
/// ```
///
/// Where the node is merged, ``absent`` keeps the stored field, and ``null`` or a value overwrites
/// it. A plain optional can't say so: there nil means *not fetched*, and the stored field is kept.
/// Where the node is replaced, the record gets what it is given, absent too.
///
/// A `Codable` model reads a missing key of JSON as ``absent`` and an explicit `null` as ``null``,
/// and writes them so. For that, the synthesized code uses functions for fields in containers with
/// keys, which this module adds: the file that declares the model has to import it, or `Espalier`.
/// Inside of an array, or as the value of a dictionary, an absent field is written as null, for
/// lack of a key to leave out.
///
/// A field whose model was deleted reads as ``null``. `Value` should not be an optional: null and a
/// value that is nil have the same bytes.
public enum Field<Value> {
    /// Not fetched. A merge keeps the stored field.
    case absent
    /// Fetched, and null. A merge overwrites the stored field.
    case null
    /// Fetched. A merge overwrites the stored field.
    case value(Value)

    /// Makes a field that was fetched.
    ///
    /// - Parameter value: The value; nil for null.
    public init(_ value: Value?) {
        self = value.map(Field.value) ?? .null
    }

    /// The value; nil if the field is absent or null.
    public var wrapped: Value? {
        guard case .value(let value) = self else { return nil }
        return value
    }

    /// Whether the field was not fetched.
    public var isAbsent: Bool {
        guard case .absent = self else { return false }
        return true
    }

    /// Returns the field with its value transformed.
    ///
    /// - Parameter transform: Called with the value, if there is one.
    /// - Returns: The new field; absent or null as this one is.
    /// - Throws: What `transform` throws.
    public func map<Other>(_ transform: (Value) throws -> Other) rethrows -> Field<Other> {
        switch self {
        case .absent: .absent
        case .null: .null
        case .value(let value): .value(try transform(value))
        }
    }

    /// Returns the field after a merge of `newer` into this one: `newer`, unless it is absent.
    ///
    /// - Parameter newer: The field that is merged.
    public func merging(_ newer: Field) -> Field { newer.isAbsent ? self : newer }
}

extension Field: Sendable where Value: Sendable {}
extension Field: Equatable where Value: Equatable {}
extension Field: Hashable where Value: Hashable {}

extension Field: FieldValue where Value: FieldValue {
    /// Writes *absent*, an explicit null, or the value.
    ///
    /// - Throws: What the value throws.
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) throws {
        switch self {
        case .absent: encoder.encodeAbsent()
        case .null: encoder.encodeExplicitNull()
        case .value(let value):
            encoder.noteField()
            try value.encodeValue(into: encoder)
        }
    }

    /// Reads *absent*, nil or a value. A reference to a deleted record, and one back to a record
    /// that is being read, is null.
    ///
    /// - Throws: What the value throws.
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Field {
        try decoder.decodeField { try Value.decodeValue(from: &$0) }
    }

    /// Absent: a record without the field does not make the read a miss.
    @inlinable
    public static var valueWhenMissing: Field? { .absent }

    @inlinable
    public func hasSameEncoding(as other: Field) -> Bool {
        switch (self, other) {
        case (.absent, .absent), (.null, .null): true
        case (.value(let value), .value(let other)): value.hasSameEncoding(as: other)
        default: false
        }
    }
}

extension ValueDecoder {
    /// Reads a field with `body`.
    @inlinable
    package mutating func decodeField<Value>(
        _ body: (inout ValueDecoder) throws -> Value
    ) throws -> Field<Value> {
        if try kind() == .absent {
            try skipValue()
            return .absent
        }
        return Field(try decodeOptional(body))
    }
}

// MARK: - Codable

extension Field: Encodable where Value: Encodable {
    /// Writes null or the value. Absent is null here: only a container with keys can leave it out.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .absent, .null: try container.encodeNil()
        case .value(let value): try container.encode(value)
        }
    }
}

extension Field: Decodable where Value: Decodable {
    /// Reads null or a value. Only a container with keys can tell that the field is absent.
    ///
    /// - Throws: What the decoder throws.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : .value(try container.decode(Value.self))
    }
}

// The compiler prefers these functions to the generic ones, in synthesized code too.

extension KeyedEncodingContainer {
    /// Encodes a field: null as null, and absent not at all.
    ///
    /// - Parameters:
    ///   - field: The field.
    ///   - key: The key of the field.
    /// - Throws: What the encoder and the value throw.
    public mutating func encode<Value: Encodable>(_ field: Field<Value>, forKey key: Key) throws {
        switch field {
        case .absent: try encodeIfPresent(nil as AbsentField?, forKey: key)
        case .null: try encode(NullField(), forKey: key)
        case .value: try encodeWhole(field, forKey: key)
        }
    }

    /// Encodes a value by the generic function. The containers of this module then see that it is a
    /// field; others get the value in it.
    private mutating func encodeWhole<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encode(value, forKey: key)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a field: a missing key as absent, and null as null.
    ///
    /// - Parameters:
    ///   - type: The type of the field.
    ///   - key: The key of the field.
    /// - Throws: What the decoder and the value throw.
    public func decode<Value: Decodable>(
        _ type: Field<Value>.Type, forKey key: Key
    ) throws -> Field<Value> {
        guard contains(key) else { return .absent }
        return Field(try decodeIfPresent(Value.self, forKey: key))
    }
}

/// Stands for an absent field: encoders leave out a value that is not present, and the containers
/// of this module recognise the type.
struct AbsentField: Encodable {}

/// Stands for null: other encoders write nil, and this module an explicit null.
struct NullField: Encodable, FieldValue {
    init() {}

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }

    func encodeValue(into encoder: ValueEncoder) throws { encoder.encodeExplicitNull() }

    static func decodeValue(from decoder: inout ValueDecoder) throws -> NullField {
        try decoder.skipValue()
        return NullField()
    }
}

// MARK: - Values that are Codable alone

extension Field: BridgedContainer {
    static var encodingStrategy: Strategy { BridgedFieldEncoding<Value>() }
    static var decodingStrategy: Strategy { BridgedFieldDecoding<Value>() }
}

private final class BridgedFieldEncoding<Value>: EncodingStrategy<Field<Value>> {
    private let wrapped = EncodingStrategy<Value>.of()
    override var needsPath: Bool { wrapped.needsPath }

    override func encode(_ field: Field<Value>, into encoder: ValueEncoder) throws {
        switch field {
        case .absent: encoder.encodeAbsent()
        case .null: encoder.encodeExplicitNull()
        case .value(let value):
            encoder.noteField()
            try wrapped.encode(value, into: encoder)
        }
    }
}

private final class BridgedFieldDecoding<Value>: DecodingStrategy<Field<Value>> {
    private let wrapped = DecodingStrategy<Value>.of()
    override var needsPath: Bool { wrapped.needsPath }
    override var valueWhenMissing: Field<Value>? { .absent }

    override func decode(from decoder: inout ValueDecoder) throws -> Field<Value> {
        try decoder.decodeField { try wrapped.decode(from: &$0) }
    }
}

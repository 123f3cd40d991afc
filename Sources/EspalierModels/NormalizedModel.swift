public import EspalierRecords

/// A model that can be stored: it writes its fields to a `RecordEncoder` and is created from a
/// `RecordDecoder`.
///
/// `Codable` types get both functions from their `Codable` conformance:
/// `struct Person: Codable, NormalizedModel { ... }`. `@Normalized` generates them. By hand:
///
/// ```swift
/// struct Person: NormalizedModel {
///     let id: String
///     let name: String
///     var modelIdentifier: String? { "Person:\(id)" }
///
///     init(from decoder: inout RecordDecoder) throws {
///         id = try decoder.decode(forKey: "id")
///         name = try decoder.decode(forKey: "name")
///     }
///
///     func encode(to encoder: inout RecordEncoder) throws {
///         try encoder.encode(id, forKey: "id")
///         try encoder.encode(name, forKey: "name")
///     }
/// }
/// ```
///
/// A model without identifier is stored inline in its parent. Encoding and decoding run on any
/// thread, also concurrently.
public protocol NormalizedModel: FieldValue, IdentifiedModel {
    /// Writes all fields, including those that are `nil`.
    ///
    /// - Parameter encoder: Receives the fields.
    /// - Throws: Any error, which fails the write of the whole tree.
    func encode(to encoder: inout RecordEncoder) throws

    /// Creates a model from a stored record.
    ///
    /// - Parameter decoder: Provides the fields by name.
    /// - Throws: Any error, which makes the read a miss.
    init(from decoder: inout RecordDecoder) throws
}

extension NormalizedModel {
    /// `nil`: the model is stored inline in its parent.
    public var modelIdentifier: String? { nil }

    // `FieldValue` has these three defaults as well. They are repeated for clients that import only
    // this module.
    /// Decodes an array of models of this type.
    ///
    /// - Throws: The error of the first model that cannot be decoded.
    @inlinable
    public static func decodeValues(from decoder: inout ValueDecoder) throws -> [Self] {
        var result: [Self] = []
        result.reserveCapacity(decoder.expectedCount())
        try decoder.decodeModels(into: &result, hasMaxAge: maxAge != nil) {
            try decodeValue(from: &$0)
        }
        return result
    }

    /// `nil`: a record that lacks the field of a required model is a miss.
    @inlinable
    public static var valueWhenMissing: Self? { nil }

    /// `false`: it is not known what the model writes.
    @inlinable
    public func hasSameEncoding(as other: Self) -> Bool { false }

    /// Writes the model as a reference to its own record, or inline if it has no identifier.
    ///
    /// - Throws: The error of `encode(to:)`.
    public func encodeValue(into encoder: ValueEncoder) throws {
        try encoder.encodeModel(
            identifier: modelIdentifier, projection: projectionIdentifier,
            object: Self.self is AnyObject.Type ? self as AnyObject : nil,
            traits: TypeTraits(of: Self.self),
            isSame: { ($0 as? ComparableModel<Self>)?.model.hasSameEncoding(as: self) == true },
            model: Self.self is AnyObject.Type ? nil : ComparableModel(self)
        ) {
            try encode(to: &$0)
        }
    }

    /// Reads the model from its own record, or from its parent if it is stored inline.
    ///
    /// - Throws: The error of `init(from:)`, or one that says that the record is missing.
    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Self {
        try decoder.decodeModel(Self.self, isCacheable: isCacheable, maxAge: maxAge) {
            try Self(from: &$0)
        }
    }
}

// Both protocols have a default `hasSameEncoding(as:)`. Without this one, a call is ambiguous.
extension NormalizedModel where Self: RawRepresentable, RawValue: FieldValue {
    /// `false`: it is not known what the model writes.
    @inlinable
    public func hasSameEncoding(as other: Self) -> Bool { false }
}

extension NormalizedModel where Self: Encodable {
    /// Writes the fields by the `Encodable` conformance.
    ///
    /// - Throws: The error of the `Encodable` conformance.
    public func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encodeFields(of: self)
    }
}

extension NormalizedModel where Self: Decodable {
    /// Creates a model by the `Decodable` conformance.
    ///
    /// - Throws: The error of the `Decodable` conformance.
    @inlinable
    public init(from decoder: inout RecordDecoder) throws {
        self = try decoder.decodeFields(as: Self.self)
    }
}

public import EspalierRecords

/// A model that can be stored: it writes its fields into a `RecordEncoder` and is made from a
/// `RecordDecoder`.
///
/// By hand:
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
/// `Codable` types get both from their `Codable` conformance: `struct Person: Codable,
/// NormalizedModel { ... }`. A model without identifier is stored inline in its parent. Encoding
/// and decoding run on any thread, several at a time.
public protocol NormalizedModel: FieldValue, IdentifiedModel {
    /// Writes all fields, nil ones too.
    func encode(to encoder: inout RecordEncoder) throws
    /// Throwing makes the read a miss.
    init(from decoder: inout RecordDecoder) throws
}

extension NormalizedModel {
    public var modelIdentifier: String? { nil }

    // Stated here too, so that models need no import but this module's.
    @inlinable
    public static func decodeValues(from decoder: inout ValueDecoder) throws -> [Self] {
        var result: [Self] = []
        result.reserveCapacity(decoder.expectedCount())
        try decoder.decodeElements { result.append(try decodeValue(from: &$0)) }
        return result
    }

    @inlinable
    public static var valueWhenMissing: Self? { nil }

    public func encodeValue(into encoder: ValueEncoder) throws {
        try encoder.encodeModel(identifier: modelIdentifier, projection: projectionIdentifier) {
            try encode(to: &$0)
        }
    }

    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Self {
        try decoder.decodeModel(Self.self) { try Self(from: &$0) }
    }
}

extension NormalizedModel where Self: Encodable {
    public func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encodeFields(of: self)
    }
}

extension NormalizedModel where Self: Decodable {
    @inlinable
    public init(from decoder: inout RecordDecoder) throws {
        self = try decoder.decodeFields(as: Self.self)
    }
}

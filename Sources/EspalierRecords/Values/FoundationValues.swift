public import Foundation

extension Date: FieldValue {
    /// Writes the seconds since the reference date, to the bit.
    public func encodeValue(into encoder: ValueEncoder) {
        encoder.encode(timeIntervalSinceReferenceDate)
    }

    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Date {
        Date(timeIntervalSinceReferenceDate: try decoder.decodeDouble())
    }

    public func hasSameEncoding(as other: Date) -> Bool {
        timeIntervalSinceReferenceDate.hasSameEncoding(as: other.timeIntervalSinceReferenceDate)
    }
}

extension Data: FieldValue {
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(bytes: [UInt8](self)) }

    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Data {
        Data(try decoder.decodeBytes())
    }

    public func hasSameEncoding(as other: Data) -> Bool { self == other }
}

extension UUID: FieldValue {
    /// Writes sixteen bytes.
    public func encodeValue(into encoder: ValueEncoder) {
        let (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) = uuid
        encoder.encode(bytes: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p])
    }

    /// Reads sixteen bytes, or the text that a UUID writes by its own `encode(to:)`.
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> UUID {
        if try decoder.kind() == .string {
            guard let uuid = UUID(uuidString: try decoder.decodeString()) else {
                throw ReadFailure(.undecodable("text that is no UUID"))
            }
            return uuid
        }
        let bytes = try decoder.decodeBytes()
        guard let uuid = UUID(bytes: bytes) else {
            throw ReadFailure(.undecodable("a UUID of \(bytes.count) bytes"))
        }
        return uuid
    }

    public func hasSameEncoding(as other: UUID) -> Bool { self == other }

    /// Returns nil unless there are sixteen bytes.
    init?(bytes b: [UInt8]) {
        guard b.count == 16 else { return nil }
        self.init(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                b[13], b[14], b[15]
            ))
    }
}

extension URL: FieldValue {
    /// Writes the text of the URL; for a URL with a base, an array of text and base.
    public func encodeValue(into encoder: ValueEncoder) throws {
        guard let baseURL else { return encoder.encode(relativeString) }
        try encoder.encodeArray(count: 2) {
            encoder.encode(relativeString)
            try baseURL.encodeValue(into: encoder)
        }
    }

    public static func decodeValue(from decoder: inout ValueDecoder) throws -> URL {
        if try decoder.kind() == .string {
            return try url(try decoder.decodeString(), relativeTo: nil)
        }
        var text: String?
        var base: URL?
        try decoder.decodeElements {
            if text == nil {
                text = try $0.decodeString()
            } else {
                base = try URL.decodeValue(from: &$0)
            }
        }
        return try url(text ?? "", relativeTo: base)
    }

    public func hasSameEncoding(as other: URL) -> Bool {
        relativeString.hasSameEncoding(as: other.relativeString)
            && baseURL.hasSameEncoding(as: other.baseURL)
    }

    private static func url(_ text: String, relativeTo base: URL?) throws -> URL {
        guard let url = URL(string: text, relativeTo: base) else {
            throw ReadFailure(.undecodable("text that is no URL"))
        }
        return url
    }
}

extension Decimal: FieldValue {
    /// Writes the digits of the number; NaN as the text `NaN`.
    public func encodeValue(into encoder: ValueEncoder) { encoder.encode(decimal: description) }

    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Decimal {
        switch try decoder.kind() {
        case .integer:
            let start = decoder.reader.position
            if let value = try decoder.reader.readInteger(Int64.self) { return Decimal(value) }
            decoder.reader.position = start
            return Decimal(try decoder.decodeInteger(UInt64.self))
        default:
            let digits = try decoder.decodeDecimalDigits()
            if digits == "NaN" { return .nan }
            guard let value = Decimal(string: digits, locale: nil) else {
                throw ReadFailure(.undecodable("digits that are no Decimal"))
            }
            return value
        }
    }

    /// Compares the digits: of equal numbers, one may have more zeros.
    public func hasSameEncoding(as other: Decimal) -> Bool {
        description.hasSameEncoding(as: other.description)
    }
}

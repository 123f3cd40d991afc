/// A JSON number that keeps what its text says: whole or not, and every digit.
enum JSONNumber: Sendable, Equatable {
    case int(Int64)

    /// Only above `Int64.max`.
    case uint(UInt64)

    /// Written with a fraction or an exponent (or as `-0`), and printed back as the same decimal
    /// number.
    case double(Double)

    /// A number none of the others holds without changing it, such as `12345678901234567890123`,
    /// `0.12345678901234567890123` or `1e400`, as it was written.
    case literal(String)

    init<Integer: BinaryInteger>(_ value: Integer) {
        if let value = Int64(exactly: value) {
            self = .int(value)
        } else if let value = UInt64(exactly: value) {
            self = .uint(value)
        } else {
            self = .literal(String(value))
        }
    }
}

extension JSONNumber {
    /// The number as JSON writes it; nil for infinities and NaN, which JSON has no text for.
    var text: String? {
        switch self {
        case .int(let value): String(value)
        case .uint(let value): String(value)
        case .double(let value): value.isFinite ? value.description : nil
        case .literal(let text): text
        }
    }
}

import EspalierModels
import EspalierRecords

/// One version of a model. All versions of a row have the identifier `Message:34`, and the name of
/// their type in common.
protocol Versioned: NormalizedModel, Equatable {
    var id: Int { get }
    /// What the version knows, as the table shows it.
    var shown: String { get }
}

extension Versioned {
    var modelIdentifier: String? { "Message:\(id)" }
}

/// A version whose field `value` changes; the field behind it has to survive whatever happens to
/// `value`.
protocol VersionedValue: Versioned {
    associatedtype Value
    var value: Value { get }
    var after: String { get }
}

extension VersionedValue {
    var shown: String { after == "end" ? text(of: value) : "\(text(of: value)), then \(after)" }
}

/// The value as Swift would write it, without the optionals around it.
func text(of value: Any) -> String {
    switch value {
    case let value as String: return "\"\(value)\""
    case let values as [Any]: return "[" + values.map(text(of:)).joined(separator: ", ") + "]"
    default: break
    }
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return String(describing: value) }
    return mirror.children.first.map { text(of: $0.value) } ?? "nil"
}

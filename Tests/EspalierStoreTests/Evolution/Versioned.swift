import EspalierModels
import EspalierRecords

/// One version of a model. All versions of a row share the identifier `Message:34` and the name of
/// their type.
protocol Versioned: NormalizedModel, Equatable {
    var id: Int { get }
    /// The values of the version's fields as the table shows them.
    var shown: String { get }
}

extension Versioned {
    var modelIdentifier: String? { "Message:\(id)" }
}

/// A version whose field `value` changes. The field `after` must stay readable whatever happens to
/// `value`.
protocol VersionedValue: Versioned {
    associatedtype Value
    var value: Value { get }
    var after: String { get }
}

extension VersionedValue {
    var shown: String { after == "end" ? text(of: value) : "\(text(of: value)), then \(after)" }
}

/// Returns the value as a Swift literal, without the optionals around it.
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

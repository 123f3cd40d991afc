import EspalierRecords

/// What a stored reference leads to, named as it can be outside of its cache, where handles mean
/// nothing.
package enum RecordReference: Sendable, Hashable {
    /// The node of this identifier.
    case node(String)
    /// A record that was deleted. The number tells one from another.
    case deleted(Int)
    /// A record that is damaged or not there. The number tells one from another.
    case lost(Int)

    // Identifiers are compared by their bytes.
    package static func == (a: RecordReference, b: RecordReference) -> Bool {
        switch (a, b) {
        case (.node(let a), .node(let b)): Identifier(a) == Identifier(b)
        case (.deleted(let a), .deleted(let b)), (.lost(let a), .lost(let b)): a == b
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .node(let identifier): hasher.combine(Identifier(identifier))
        case .deleted(let number), .lost(let number): hasher.combine(number)
        }
    }
}

/// Why a model could not be flattened.
public enum FlattenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A model's identifier is the empty string.
    case emptyIdentifier(type: String)
    /// The tree is nested deeper than the limit.
    case tooDeep(limit: Int)
    /// The tree has more nodes than the limit.
    case tooManyNodes(limit: Int)
    /// The tree takes more bytes than one write may.
    case treeTooLarge(limit: Int)
    /// The type is neither a `NormalizedModel` nor `Codable`.
    case notStorable(type: String)
    /// A model encodes two fields of one name.
    case duplicateField(type: String, field: String)
    /// The model's own `encode` threw.
    case modelFailed(type: String, reason: String)

    public var description: String {
        switch self {
        case .emptyIdentifier(let type):
            "A model of type \(type) has an empty identifier. Return nil for a model without identity."
        case .tooDeep(let limit):
            "The tree is nested deeper than \(limit) levels. Raise Configuration.limits.maximumDepth or flatten the model."
        case .tooManyNodes(let limit):
            "The tree has more than \(limit) nodes. Store it in parts, or raise Configuration.limits.maximumNodes."
        case .treeTooLarge(let limit):
            "The tree takes more than \(limit) bytes, the most that one write may. Store it in parts or raise the budget."
        case .notStorable(let type):
            "\(type) can't be stored. Conform it to NormalizedModel or Codable."
        case .duplicateField(let type, let field):
            "\(type) encodes the field \(field) twice."
        case .modelFailed(let type, let reason):
            "Encoding \(type) failed: \(reason)"
        }
    }
}

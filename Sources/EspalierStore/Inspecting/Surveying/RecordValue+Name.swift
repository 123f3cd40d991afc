import EspalierRecords

extension RecordValue {
    /// As the key of a map that is a model, or a dictionary of strings or numbers.
    var name: String? {
        switch self {
        case .string(let name): name
        case .integer(let number): "\(number)"
        case .unsigned(let number): "\(number)"
        default: nil
        }
    }
}

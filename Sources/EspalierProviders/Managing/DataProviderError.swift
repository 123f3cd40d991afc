/// Why a data provider could not do what was asked.
public enum DataProviderError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no collection under the key, in memory or in the cache, that could be edited.
    case notFound
    /// The index is outside the collection.
    case outOfRange
    /// The cache let go of a completion without calling it.
    case noAnswer

    public var description: String {
        switch self {
        case .notFound: "There is no collection under this key. Set it, or append to it, first."
        case .outOfRange: "The index is outside the collection."
        case .noAnswer:
            "The cache let go of a completion without calling it. A cache delegate has to call each once."
        }
    }
}

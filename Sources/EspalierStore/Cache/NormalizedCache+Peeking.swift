public import EspalierRecords

// Reads that are no access: what they show is evicted when it would have been. For tools, for
// prefetching, for whatever looks at more than a user does. Everything else is as with the reads of
// the same kind.
extension NormalizedCache {
    /// The tree of the node `identifier`, untouched; nil for a miss.
    public func peek<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest
    ) -> Model? {
        peekOutcome(type, identifier, consistency: consistency).value
    }

    /// The tree of the node `identifier`, untouched; nil for a miss.
    public func peek<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest
    ) async -> Model? {
        await peekOutcome(type, identifier, consistency: consistency).value
    }

    /// The same with the reason of a miss.
    public func peekOutcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest
    ) -> ReadOutcome<Model> {
        outcome(.node(type, identifier), consistency, .peek) { try $0.node(type, identifier) }
    }

    /// The same with the reason of a miss.
    public func peekOutcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest
    ) async -> ReadOutcome<Model> {
        await outcome(.node(type, identifier), consistency, .peek) { try $0.node(type, identifier) }
    }

    /// What was set under `key`, untouched; else the node whose identifier `key` is.
    public func peekModelOutcome<Model: IdentifiedModel>(
        _ type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest
    ) -> ReadOutcome<Model> {
        outcome(.key(type, key), consistency, .peek) { try $0.model(type, forKey: key) }
    }

    /// What was set under `key`, untouched; else the node whose identifier `key` is.
    public func peekModelOutcome<Model: IdentifiedModel>(
        _ type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest
    ) async -> ReadOutcome<Model> {
        await outcome(.key(type, key), consistency, .peek) { try $0.model(type, forKey: key) }
    }

    /// The collection under `key`, untouched.
    public func peekCollectionOutcome<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest
    ) -> ReadOutcome<[Model]> {
        outcome(.collection(type, key), consistency, .peek) { try $0.collection(type, forKey: key) }
    }

    /// The collection under `key`, untouched.
    public func peekCollectionOutcome<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest
    ) async -> ReadOutcome<[Model]> {
        await outcome(.collection(type, key), consistency, .peek) {
            try $0.collection(type, forKey: key)
        }
    }
}

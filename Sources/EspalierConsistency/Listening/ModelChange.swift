public import EspalierModels

/// What became of the model with one identifier.
public enum ModelChange: Equatable, Sendable {
    /// The new models: one for each projection that was posted, one altogether where there are no
    /// projections.
    case updated([any ConsistencyManagerModel])
    case deleted

    public static func == (a: ModelChange, b: ModelChange) -> Bool {
        switch (a, b) {
        case (.updated(let models), .updated(let others)):
            models.count == others.count && zip(models, others).allSatisfy { $0.isEqualToModel($1) }
        case (.deleted, .deleted): true
        default: false
        }
    }
}

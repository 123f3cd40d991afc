import EspalierModels

/// Which model a listener shows, whatever it says: what a listener chooses, and no update changes.
enum ShownIdentity: Equatable {
    case nothing
    /// With the identifier of the root, if it has one.
    case model(NodeIdentifier?)
    /// That of a batch, which is about each of its listeners.
    case batch([ShownIdentity])

    init(_ model: (any ConsistencyManagerModel)?) {
        guard let model else {
            self = .nothing
            return
        }
        if let batch = model as? BatchUpdateModel, batch.modelIdentifier == nil {
            self = .batch(batch.models.map { ShownIdentity($0) })
        } else {
            self = .model(model.modelIdentifier.map { NodeIdentifier($0) })
        }
    }
}

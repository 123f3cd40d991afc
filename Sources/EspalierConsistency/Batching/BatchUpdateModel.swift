public import EspalierModels

/// Several models as one: to post them in one update, or to listen to all of them.
///
/// ```swift
/// manager.updateModel(BatchUpdateModel(models: [person, message]))       // each listener is called once
/// ```
///
/// Deleting one of the models leaves nil in its place, so that places keep their meaning.
public final class BatchUpdateModel: ConsistencyManagerModel {
    public let models: [(any ConsistencyManagerModel)?]
    /// Two batches of one identifier are one model: posting one replaces the other.
    public let modelIdentifier: String?

    public init(models: [any ConsistencyManagerModel], modelIdentifier: String? = nil) {
        self.models = models
        self.modelIdentifier = modelIdentifier
    }

    /// With places that are empty.
    public init(models: [(any ConsistencyManagerModel)?], modelIdentifier: String? = nil) {
        self.models = models
        self.modelIdentifier = modelIdentifier
    }

    /// What is at the places that are not empty, in the order of `forEach`.
    var children: [(place: Int, model: any ConsistencyManagerModel)] {
        models.enumerated().compactMap { place, model in model.map { (place, $0) } }
    }

    public func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)? {
        let mapped: [(any ConsistencyManagerModel)?] = models.map { $0.flatMap(transform) }
        return BatchUpdateModel(models: mapped, modelIdentifier: modelIdentifier)
    }

    public func forEach(_ visit: (any ConsistencyManagerModel) -> Void) {
        for case let model? in models { visit(model) }
    }

    public func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool {
        guard let other = other as? BatchUpdateModel, other.models.count == models.count else {
            return false
        }
        if other === self { return true }
        return zip(models, other.models).allSatisfy { model, other in
            switch (model, other) {
            case (let model?, let other?): model.isEqualToModel(other)
            case (nil, nil): true
            default: false
            }
        }
    }
}

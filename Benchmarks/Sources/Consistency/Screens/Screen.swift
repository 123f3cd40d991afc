import Espalier

/// Shows a tree.
@MainActor
final class Screen: ConsistencyManagerListener {
    private(set) var model: (any ConsistencyManagerModel)?
    private(set) var updates = 0

    init(_ model: any ConsistencyManagerModel) { self.model = model }

    func currentModel() -> (any ConsistencyManagerModel)? { model }

    func modelUpdated(_ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?)
    {
        self.model = model
        self.updates += 1
    }
}

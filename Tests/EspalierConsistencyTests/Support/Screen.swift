import EspalierConsistency
import EspalierModels

/// Shows a model, and records the calls of the listener.
@MainActor
final class Screen: ConsistencyManagerListener {
    struct Call {
        let model: Child?
        let updates: ModelUpdates
        let context: Any?
    }

    var model: Child?
    private(set) var calls: [Call] = []
    /// Called after the model has been read.
    var whenRead: (() -> Void)?
    /// Called before the new model is shown.
    var whenCalled: ((Call) -> Void)?
    var showsUpdates = true

    init(_ model: Child?) { self.model = model }

    func currentModel() -> Child? {
        let shown = model
        whenRead?()
        return shown
    }

    func modelUpdated(_ model: Child?, updates: ModelUpdates, context: Any?) {
        let call = Call(model: model, updates: updates, context: context)
        calls.append(call)
        whenCalled?(call)
        if showsUpdates { self.model = model }
    }

    var updates: [ModelUpdates] { calls.map(\.updates) }
    var contexts: [String?] { calls.map { $0.context as? String } }

    func removeCalls() -> [Call] {
        defer { calls = [] }
        return calls
    }
}

extension ConsistencyManager {
    /// Returns a screen that shows `model` and listens.
    @MainActor
    func screen(_ model: Child?) -> Screen {
        let screen = Screen(model)
        addListener(screen)
        return screen
    }
}

extension ModelUpdates {
    static func changed(_ changed: Set<String>, deleted: Set<String> = []) -> ModelUpdates {
        ModelUpdates(changedModelIds: changed, deletedModelIds: deleted)
    }

    static func deleted(_ deleted: Set<String>) -> ModelUpdates {
        ModelUpdates(deletedModelIds: deleted)
    }
}

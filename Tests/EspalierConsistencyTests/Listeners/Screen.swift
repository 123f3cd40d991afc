import EspalierConsistency
import EspalierModels

/// Shows a model and writes down what it is told.
@MainActor
final class Screen: ConsistencyManagerListener {
    struct Call {
        let model: Child?
        let updates: ModelUpdates
        let context: Any?
    }

    var model: Child?
    private(set) var calls: [Call] = []
    /// After the model has been read.
    var whenAsked: (() -> Void)?
    /// Before the model is taken over.
    var whenTold: ((Call) -> Void)?
    var takesOver = true

    init(_ model: Child?) { self.model = model }

    func currentModel() -> Child? {
        let shown = model
        whenAsked?()
        return shown
    }

    func modelUpdated(_ model: Child?, updates: ModelUpdates, context: Any?) {
        let call = Call(model: model, updates: updates, context: context)
        calls.append(call)
        whenTold?(call)
        if takesOver { self.model = model }
    }

    var updates: [ModelUpdates] { calls.map(\.updates) }
    var contexts: [String?] { calls.map { $0.context as? String } }

    func takeCalls() -> [Call] {
        defer { calls = [] }
        return calls
    }
}

extension ConsistencyManager {
    /// A screen that shows `model` and listens.
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

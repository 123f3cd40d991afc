import EspalierConsistency
import EspalierModels

/// The calls and the model that a listener must have, by the naive implementation.
struct PlainListener {
    private struct Pause {
        var model: Child?
        var updates = ModelUpdates()
        var isChanged = false
        var isResuming = false
    }

    /// The work in the queue.
    private enum Work {
        case update(PlainUpdate)
        case resume
    }

    private var queue: [Work] = []
    private(set) var model: Child?
    private var pause: Pause?
    private(set) var expected: [PlainUpdate.Result] = []

    init(_ model: Child) { self.model = model }

    mutating func removeExpected() -> [PlainUpdate.Result] {
        defer { expected = [] }
        return expected
    }

    mutating func post(_ update: PlainUpdate) { queue.append(.update(update)) }

    /// Does all work in the queue.
    mutating func flush() {
        for work in queue {
            switch work {
            case .update(let update): apply(update)
            case .resume: if pause?.isResuming == true { endPause() }
            }
        }
        queue = []
    }

    private mutating func apply(_ update: PlainUpdate) {
        guard let base = pause == nil ? model : pause?.model else { return }
        let result = update.apply(to: base)
        guard result.updates != ModelUpdates() || result.model == nil else { return }
        if pause == nil {
            model = result.model
            expected.append(result)
        } else {
            pause?.model = result.model
            pause?.updates.changedModelIds.formUnion(result.updates.changedModelIds)
            pause?.updates.deletedModelIds.formUnion(result.updates.deletedModelIds)
            pause?.isChanged = true
        }
    }

    mutating func beginPause() {
        if pause == nil { pause = Pause(model: model) }
        pause?.isResuming = false
    }

    mutating func resume() {
        guard pause?.isResuming == false else { return }
        pause?.isResuming = true
        queue.append(.resume)
    }

    private mutating func endPause() {
        defer { pause = nil }
        guard let pause, pause.isChanged, let shown = model else { return }
        if let new = pause.model, new.isEqualToModel(shown) { return }
        expected.append(
            PlainUpdate.Result(
                model: pause.model,
                updates: PlainUpdate.net(from: shown, to: pause.model, pause.updates)))
        model = pause.model
    }

    /// Called with an empty queue.
    mutating func show(_ new: Child) {
        // Nothing that is shown changes during a pause, except by this.
        let isSameTree = isSame(model, new)
        model = new
        if let pause, !pause.isChanged || !isSameTree { self.pause = Pause(model: new) }
    }
}

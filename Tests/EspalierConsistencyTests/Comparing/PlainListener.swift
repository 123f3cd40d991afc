import EspalierConsistency
import EspalierModels

/// What a listener has to show and to hear of, by the plain rules.
struct PlainListener {
    private struct Pause {
        var model: Child?
        var updates = ModelUpdates()
        var isChanged = false
    }

    private(set) var model: Child?
    private var pause: Pause?
    private(set) var expected: [PlainUpdate.Result] = []

    init(_ model: Child) { self.model = model }

    mutating func takeExpected() -> [PlainUpdate.Result] {
        defer { expected = [] }
        return expected
    }

    mutating func apply(_ update: PlainUpdate) {
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
    }

    mutating func endPause() {
        defer { pause = nil }
        guard let pause, pause.isChanged, let shown = model else { return }
        if let new = pause.model, new.isEqualToModel(shown) { return }
        expected.append(
            PlainUpdate.Result(
                model: pause.model, updates: PlainUpdate.net(from: shown, to: pause.model, pause.updates)))
        model = pause.model
    }

    mutating func show(_ new: Child) {
        let isOther = model?.modelIdentifier != new.modelIdentifier
        model = new
        if let pause, !pause.isChanged || isOther { self.pause = Pause(model: new) }
    }
}

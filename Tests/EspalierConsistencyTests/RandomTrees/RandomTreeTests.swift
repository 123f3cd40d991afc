import EspalierModels
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierConsistency

/// Several listeners of random trees, the last two in a batch, beside the naive implementation.
@MainActor
private struct Garden {
    let manager = ConsistencyManager()
    var gardener: Gardener
    var screens: [Screen] = []
    var plain: [PlainListener] = []
    private let batch: BatchListener
    private let recorder = BatchRecorder()
    private var batchCalls = 0
    /// A description of the latest step, for messages.
    private(set) var latest: [String] = []

    init(seed: UInt64, listeners: Int) {
        gardener = Gardener(random: SeededGenerator(quietly: seed))
        for _ in 0..<listeners + 2 {
            let tree = gardener.wildTree()
            screens.append(Screen(tree))
            plain.append(PlainListener(tree))
        }
        for screen in screens.prefix(listeners) { manager.addListener(screen) }
        batch = BatchListener(listeners: Array(screens.suffix(2)), consistencyManager: manager)
        batch.delegate = recorder
    }

    private var single: Int { screens.count - 2 }

    /// Does several things that an app does, without waiting in between.
    mutating func step() {
        latest = []
        if gardener.step() < 3 { show(gardener.wildTree(), on: gardener.place(screens.count)) }
        for _ in 0...gardener.place(4) { act(on: gardener.place(single)) }
    }

    private mutating func act(on place: Int) {
        switch gardener.step() {
        case 0..<9: post(gardener.tameTree())
        case 9: post(BatchUpdateModel(models: [gardener.tameTree()]))
        case 10..<14:
            let identifier = gardener.identifier()
            latest.append("deleted \(identifier)")
            manager.deleteModel(Leaf(identifier))
            applyToAll(PlainUpdate(deleting: identifier))
        case 14..<17:
            latest.append("paused \(place)")
            manager.pauseListener(screens[place])
            plain[place].beginPause()
        default:
            latest.append("resumed \(place)")
            manager.resumeListener(screens[place])
            plain[place].resume()
        }
    }

    private mutating func show(_ tree: any Plant, on place: Int) {
        latest.append("\(place) shows \(tree)")
        screens[place].model = tree
        if place < single {
            manager.addListener(screens[place])
        } else {
            batch.listenerHasUpdatedModel(screens[place], consistencyManager: manager)
        }
        plain[place].show(tree)
    }

    private mutating func post(_ model: Child) {
        latest.append("posted \(model)")
        manager.updateModel(model)
        applyToAll(PlainUpdate(posting: model))
    }

    private mutating func applyToAll(_ update: PlainUpdate) {
        for place in plain.indices { plain[place].post(update) }
    }

    /// Returns the differences from the naive implementation.
    mutating func differences() -> [String] {
        var found: [String] = []
        let batched = screens.suffix(2).map(\.calls.count)
        let calls = recorder.calls.count - batchCalls
        batchCalls = recorder.calls.count
        if calls < batched.max()! || calls > batched.reduce(0, +) {  // there are two
            found.append("\(calls) calls of the batch for \(batched)")
        }
        for (place, screen) in screens.enumerated() {
            plain[place].flush()
            let calls = screen.removeCalls()
            let expected = plain[place].removeExpected()
            if calls.count != expected.count {
                found.append(
                    "\(calls.count) calls, not \(expected.count); shows \(screen.model as Any), "
                        + "expected \(expected.last?.model as Any)"
                )
            }
            for (call, expected) in zip(calls, expected) {
                if call.updates != expected.updates {
                    found.append("\(call.updates), not \(expected.updates)")
                }
                if !isSame(call.model, expected.model) {
                    found.append("\(call.model as Any), not \(expected.model as Any)")
                }
            }
            if !isSame(screen.model, plain[place].model) { found.append("shows another model") }
        }
        return found
    }
}

@MainActor @Suite("Random trees and updates give the same results as a naive implementation")
struct ComparingTests {
    /// `ESPALIER_GARDENS=5000` runs for an hour.
    private let seeds = UInt64(ProcessInfo.processInfo.environment["ESPALIER_GARDENS"] ?? "") ?? 40

    @Test("Models, calls and update sets match the naive implementation, and the index is valid")
    func compared() async {
        for seed in 0..<seeds {
            var garden = Garden(seed: seed, listeners: 3)
            for step in 0..<40 {
                garden.step()
                await garden.manager.flush()
                let found = garden.differences() + (await garden.manager.worker.violations())
                guard found.isEmpty else {
                    Issue.record("seed \(seed) step \(step), \(garden.latest): \(found.prefix(3))")
                    return
                }
            }
        }
    }

    @Test("The comparison detects a listener that was not notified")
    func canary() async {
        var garden = Garden(seed: 3, listeners: 2)
        garden.manager.removeListener(garden.screens[0])
        var hasDiffered = false
        for _ in 0..<40 {
            garden.step()
            await garden.manager.flush()
            hasDiffered = hasDiffered || !garden.differences().isEmpty
        }
        #expect(hasDiffered)
    }

    @Test(
        "All listeners end with the same version of a node that an update contradicts itself about")
    func contradictions() async {
        for seed in 0..<seeds * 2 {
            let manager = ConsistencyManager()
            var gardener = Gardener(random: SeededGenerator(quietly: seed))
            let screens = (0..<4).map { _ in manager.screen(gardener.wildTree(depth: 3, minimum: 0))
            }
            for step in 0..<8 {
                let posted = gardener.wildTree(depth: 3, minimum: 0)
                manager.updateModel(posted)
                await manager.flush()
                let shown = screens.compactMap(\.model)
                for (id, type) in posts(in: posted) {
                    let versions = shown.flatMap { PlainUpdate.versions(of: id, in: $0) }
                        .filter { Swift.type(of: $0) == type }
                    guard versions.allSatisfy({ $0.isEqualToModel(versions[0]) }) else {
                        Issue.record("seed \(seed) step \(step), posted \(posted): \(versions)")
                        return
                    }
                }
                let found = await manager.worker.violations()
                #expect(found == [])
            }
        }
    }

    private func posts(in model: Child) -> [(String, any ConsistencyManagerModel.Type)] {
        var result: [(String, any ConsistencyManagerModel.Type)] = []
        if let id = model.modelIdentifier { result.append((id, type(of: model))) }
        model.forEach { result += posts(in: $0) }
        return result
    }
}

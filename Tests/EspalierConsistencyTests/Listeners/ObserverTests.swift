import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("Updates listeners are notified of every change")
struct ObserverTests {
    private let manager = ConsistencyManager()
    private let recorder = ChangeRecorder()
    private let page = Page("0", 0, [Page(nil, 5)], leaf: Leaf("1"))

    @Test("An updates listener gets one call with the change of each identifier, shown or not")
    func update() async {
        manager.addModelUpdatesListener(recorder)
        manager.updateModel(page, context: "why")
        await manager.flush()
        #expect(recorder.calls.count == 1)
        #expect(recorder.calls.first?.model as? Page == page)
        #expect(
            recorder.calls.first?.changes == ["0": .updated([page]), "1": .updated([Leaf("1")])])
        #expect(recorder.calls.first?.context as? String == "why")
    }

    @Test("An updates listener gets a deletion with one identifier")
    func deletion() async {
        manager.addModelUpdatesListener(recorder)
        manager.deleteModel(page)
        await manager.flush()
        #expect(recorder.calls.map(\.changes) == [["0": .deleted]])
    }

    @Test("An updates listener gets all projections of an identifier together")
    func projections() async {
        manager.addModelUpdatesListener(recorder)
        let (data, other) = (Profile(.data, "1", data: 3), Profile(.otherData, "1", otherData: 4))
        manager.updateModel(Profile(.both, "0", child: data, otherChild: other))
        await manager.flush()
        #expect(recorder.calls.first?.changes["1"] == .updated([data, other]))
    }

    @Test("All updates listeners are notified, each once, even if added twice")
    func several() async {
        let other = ChangeRecorder()
        for listener in [recorder, other, recorder] { manager.addModelUpdatesListener(listener) }
        manager.updateModel(page)
        await manager.flush()
        #expect(recorder.calls.count == 1 && other.calls.count == 1)
    }

    @Test("Updates listeners are called after the listeners")
    func afterListeners() async {
        let screen = manager.screen(Leaf("1", 0))
        var shown: Int?
        recorder.whenCalled = { shown = (screen.model as? Leaf)?.value }
        manager.addModelUpdatesListener(recorder)
        manager.updateModel(Leaf("1", 3))
        await manager.flush()
        #expect(shown == 3)
    }

    @Test("A removed or deallocated updates listener is not called")
    func removed() async {
        manager.addModelUpdatesListener(recorder)
        manager.removeModelUpdatesListener(recorder)
        weak var gone: ChangeRecorder?
        do {
            let listener = ChangeRecorder()
            manager.addModelUpdatesListener(listener)
            gone = listener
        }
        manager.updateModel(page)
        await manager.flush()
        #expect(recorder.calls.isEmpty && gone == nil)
    }

    @Test("An updates listener that another one removes during a delivery is not called")
    func removedByOther() async {
        let manager = manager
        let other = ChangeRecorder()
        recorder.whenCalled = { manager.removeModelUpdatesListener(other) }
        other.whenCalled = { [recorder] in manager.removeModelUpdatesListener(recorder) }
        manager.addModelUpdatesListener(recorder)
        manager.addModelUpdatesListener(other)
        manager.updateModel(page)
        manager.updateModel(page)
        await manager.flush()
        #expect([recorder.calls.count, other.calls.count].sorted() == [0, 2])
    }

    @Test("An updates listener stays registered after a clearing")
    func clearing() async {
        manager.addModelUpdatesListener(recorder)
        manager.updateModel(page)
        manager.clearListenersAndCancelAllTasks()
        manager.updateModel(Leaf("9"))
        await manager.flush()
        #expect(recorder.calls.compactMap { $0.model as? Leaf } == [Leaf("9")])
    }

    @Test("Changes are equal if their models are equal")
    func equality() {
        let two: [Child] = [Leaf("1"), Page("1")]
        #expect(ModelChange.updated(two) == .updated(two))
        #expect(ModelChange.updated(two) != .updated([Leaf("1")]))
        #expect(ModelChange.updated([Leaf("1", 1)]) != .updated([Leaf("1", 2)]))
        #expect(ModelChange.updated([]) != .deleted && ModelChange.deleted == .deleted)
    }
}

@MainActor @Suite("The delegate is notified of replacements and mistakes")
struct DelegateTests {
    private let manager = ConsistencyManager()
    private let delegate = DelegateRecorder()

    init() { manager.delegate = delegate }

    @Test("The delegate is called once for each replaced node, before the listener")
    func replacements() async {
        let screen = manager.screen(Shelf("s", 0, [Leaf("a", 0), Leaf("a", 0)]))
        var callsBefore: [Int] = []
        delegate.whenReplacing = { callsBefore.append(screen.calls.count) }
        manager.updateModel(Leaf("a", 1))
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        #expect(delegate.replacements.map { $0.old as? Leaf } == [Leaf("a", 0), Leaf("a", 0)])
        #expect(delegate.replacements.map { $0.new as? Leaf } == [Leaf("a", 1), Leaf("a", 1)])
        #expect(callsBefore == [0, 0])
    }

    @Test("Deleting a model without identifier is reported, and deletes nothing")
    func deletionWithoutIdentifier() async {
        let screen = manager.screen(Shelf("s", 0, [Leaf(nil, 1)]))
        manager.deleteModel(Leaf(nil, 1))
        await manager.flush()
        #expect(delegate.errors == [CriticalError.DeleteIDFailure.rawValue])
        #expect(screen.calls.isEmpty)
    }

    @Test("A map that returns another type is reported, and leaves the model unchanged")
    func wrongMap() async {
        let screen = manager.screen(WrongMap(leaf: Leaf("1", 0)))
        manager.updateModel(Leaf("1", 1))
        await manager.flush()
        #expect(delegate.errors == [CriticalError.WrongMapClass.rawValue])
        #expect(screen.calls.isEmpty)
    }

    @Test("A map that visits children and returns another type is reported, and others are updated")
    func wrongAfterAsking() async {
        let screen = manager.screen(
            Shelf("s", 0, [WrongAfterAsking(leaf: Leaf("1", 0)), Leaf("1", 0)]))
        for value in 1...3 {
            manager.updateModel(Leaf("1", value))
            await manager.flush()
            #expect(
                isSame(
                    screen.model,
                    Shelf("s", 0, [WrongAfterAsking(leaf: Leaf("1", 0)), Leaf("1", value)])))
        }
        #expect(delegate.errors == Array(repeating: CriticalError.WrongMapClass.rawValue, count: 3))
    }

    @Test("A delegate is held weakly, and need not implement anything")
    func weak() async {
        final class Silent: ConsistencyManagerDelegate {}
        let silent = Silent()
        manager.delegate = silent
        _ = manager.screen(Leaf("a"))
        manager.deleteModel(Leaf(nil))
        await manager.flush()
        do {
            let recorder = DelegateRecorder()
            manager.delegate = recorder
        }
        #expect(manager.delegate == nil)
    }
}

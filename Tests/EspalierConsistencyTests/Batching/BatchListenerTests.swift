import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("A batch listener makes one call of those of several listeners")
struct BatchListenerTests {
    private let manager = ConsistencyManager()
    private let recorder = BatchRecorder()

    private func batch(_ screens: [any ConsistencyManagerListener]) -> BatchListener {
        let batch = BatchListener(listeners: screens, consistencyManager: manager)
        batch.delegate = recorder
        return batch
    }

    @Test("one listener is told, and then the delegate once")
    func one() async {
        let screen = Screen(Page("0", 0, leaf: Leaf("1")))
        let batch = batch([screen])
        manager.updateModel(Leaf("1", 3), context: "why")
        await manager.flush()
        #expect(screen.updates == [.changed(["0", "1"])] && screen.contexts == ["why"])
        #expect(recorder.calls.map(\.updates) == [.changed(["0", "1"])])
        #expect(recorder.calls.first?.context as? String == "why")
        #expect((screen.model as? Page)?.leaf.value == 3)
        _ = batch
    }

    @Test("of two listeners the one that is affected is told and named")
    func oneOfTwo() async {
        let screens = [
            Screen(Page("0", 0, leaf: Leaf("1"))), Screen(Page("2", 0, leaf: Leaf("3"))),
        ]
        let batch = batch(screens)
        manager.updateModel(Leaf("3", 3))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [0, 1])
        #expect(recorder.calls.map(\.listeners) == [[ObjectIdentifier(screens[1])]])
        #expect(recorder.calls.map(\.updates) == [.changed(["2", "3"])])
        _ = batch
    }

    @Test("both are told of their own, the delegate of all")
    func both() async {
        let screens = [
            Screen(Page("0", 0, leaf: Leaf("1"))), Screen(Page("2", 0, leaf: Leaf("1"))),
        ]
        let batch = batch(screens)
        manager.updateModel(Leaf("1", 3))
        await manager.flush()
        #expect(screens.map(\.updates) == [[.changed(["0", "1"])], [.changed(["2", "1"])]])
        #expect(recorder.calls.map(\.listeners) == [screens.map { ObjectIdentifier($0) }])
        #expect(recorder.calls.map(\.updates) == [.changed(["0", "1", "2"])])
        _ = batch
    }

    @Test("deletions in several listeners, up to their whole models")
    func deletions() async {
        let child = Page("3", 0, leaf: Leaf("4"))
        let screens = [
            Screen(Page("0", 0, [child])), Screen(Page("2", 0, [child])), Screen(child),
            Screen(Leaf("9")), Screen(nil),
        ]
        let batch = batch(screens)
        manager.deleteModel(Leaf("4"), context: "why")
        await manager.flush()
        let deleted: Set<String> = ["3", "4"]
        #expect(
            screens.map(\.updates) == [
                [.changed(["0"], deleted: deleted)], [.changed(["2"], deleted: deleted)],
                [.deleted(deleted)], [], [],
            ])
        #expect(recorder.calls.map(\.updates) == [.changed(["0", "2"], deleted: deleted)])
        #expect(screens[2].model == nil && screens[3].model != nil)
        // Places keep their meaning when one of them is empty.
        manager.updateModel(Leaf("9", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [1, 1, 1, 1, 0])
        _ = batch
    }

    @Test(
        "a listener that shows another model is listened to once the batch is told",
        arguments: [true, false])
    func otherModel(byListener: Bool) async {
        let screens = [Screen(Leaf("0", 0)), Screen(nil)]
        let batch = batch(screens)
        await manager.flush()
        let model = Page("5", 0, leaf: Leaf("6"))
        screens[1].model = model
        if byListener {
            batch.listenerHasUpdatedModel(screens[1], consistencyManager: manager)
        } else {
            batch.listenerHasUpdatedModel(model, consistencyManager: manager)
        }
        manager.updateModel(Leaf("6", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [0, 1])
        #expect((screens[1].model as? Page)?.leaf.value == 1)
    }

    //  main actor                       queue
    //  update of 0 and 1
    //                                   asks what is shown
    //  the first listener shows 7
    //                                   tells: the second one alone
    @Test("a listener that shows another model by then is left alone")
    func changedMeanwhile() async {
        let screens = [Screen(Leaf("0", 0)), Screen(Leaf("1", 0))]
        let batch = batch(screens)
        await manager.flush()
        screens[0].whenAsked = { screens[0].model = Leaf("7", 7) }
        manager.updateModel(BatchUpdateModel(models: [Leaf("0", 1), Leaf("1", 1)]))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [0, 1])
        #expect(screens[0].model as? Leaf == Leaf("7", 7))
        #expect(recorder.calls.map(\.listeners) == [[ObjectIdentifier(screens[1])]])
        _ = batch
    }

    @Test(
        "an update costs no walk over the trees of a batch, though the batch makes its model anew each time"
    )
    func cost() async {
        let (tally, walks) = (Tally(), Tally())
        let tree = Counted(
            name: "root", id: "0",
            items: (1...50).map { Counted(name: "item", id: "\($0)", tally: tally, walks: walks) },
            tally: tally)
        let screens = [Screen(tree), Screen(Page("p", 0, leaf: Leaf("1")))]
        let batch = batch(screens)
        for value in 1...3 {
            manager.updateModel(Counted(name: "item", id: "7", value: value, tally: tally))
            await manager.flush()
            #expect(tally.take() == ["root": 1])
            // All of them when they are indexed at first, then no more than the one that is
            // replaced.
            let walked = walks.take()["item"] ?? 0
            #expect(value == 1 || walked <= 1)
        }
        #expect(screens.map(\.calls.count) == [3, 0])
        _ = batch
    }

    @Test(
        "a batch inside a batch tells each listener once, and each delegate",
        arguments: [false, true])
    func nested(isOuterFirst: Bool) async {
        let inner = BatchRecorder()
        let screens = [Screen(Leaf("0", 0)), Screen(Shelf("1", 0, [Leaf("0", 0)]))]
        let innerBatch = BatchListener(listeners: screens, consistencyManager: manager)
        innerBatch.delegate = inner
        let outer = batch([innerBatch, Screen(Leaf("9", 0))])
        let other = Screen(Leaf("other"))
        if isOuterFirst {
            // Listeners are told in the order of their places in the index, which the other one
            // takes.
            manager.removeListener(innerBatch)
            manager.addListener(other)
            manager.addListener(innerBatch)
        }
        for value in 1...3 {
            manager.updateModel(Leaf("0", value))
            await manager.flush()
            #expect(screens.map(\.calls.count) == [value, value])
            #expect(inner.calls.count == value && recorder.calls.count == value)
        }
        #expect(screens.map(\.updates.last) == [.changed(["0"]), .changed(["0", "1"])])
        #expect(recorder.calls.last?.listeners == [ObjectIdentifier(innerBatch)])
        _ = outer
    }

    @Test("a listener that listens on its own and in a batch is told by both, with the same")
    func both2() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        let batch = batch([screen])
        manager.updateModel(Leaf("0", 4))
        await manager.flush()
        #expect(screen.calls.count == 1 && recorder.calls.count == 1)
        // What it has gathered for itself is what it shows already.
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.count == 1)
        _ = batch
    }

    @Test("a batch that is let go listens no more, and its listeners go with it")
    func letGo() async {
        weak var reference: Screen?
        do {
            let screen = Screen(Leaf("0"))
            reference = screen
            _ = batch([screen])
        }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(reference == nil && recorder.calls.isEmpty)
    }

    @Test("told by hand, a batch tells those whose model differs, each of its own")
    func byHand() {
        let screens = [
            Screen(Page("0", 0, leaf: Leaf("1"))), Screen(Leaf("2", 0)), Screen(Leaf("3", 0)),
        ]
        let batch = batch(screens)
        let updates = ModelUpdates.changed(["0", "1", "3"])
        let models: [Child?] = [Page("0", 0, leaf: Leaf("1", 1)), Leaf("2", 0), Leaf("3", 1)]
        batch.modelUpdated(BatchUpdateModel(models: models), updates: updates, context: nil)
        #expect(screens.map(\.updates) == [[.changed(["0", "1"])], [], [.changed(["3"])]])
        #expect(recorder.calls.map(\.updates) == [updates])
        batch.modelUpdated(Leaf("x"), updates: updates, context: nil)
        batch.modelUpdated(nil, updates: updates, context: nil)
        #expect(recorder.calls.count == 1)
    }
}

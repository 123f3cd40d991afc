import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("A batch listener combines the calls of several listeners")
struct BatchListenerTests {
    private let manager = ConsistencyManager()
    private let recorder = BatchRecorder()

    private func batch(_ screens: [any ConsistencyManagerListener]) -> BatchListener {
        let batch = BatchListener(listeners: screens, consistencyManager: manager)
        batch.delegate = recorder
        return batch
    }

    @Test("A batch notifies the changed listener, and then its delegate once")
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

    @Test("A batch notifies only the listener that an update changes, and names it")
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

    @Test("A batch reports to each listener its own changes, and to the delegate all of them")
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

    @Test("A batch delivers deletions in several listeners, including whole models")
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
        // The places of the others stay when one of them is empty.
        manager.updateModel(Leaf("9", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [1, 1, 1, 1, 0])
        _ = batch
    }

    @Test(
        "A batch listens to a new model of a listener once it is told of it",
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
    //                                   reads what is shown
    //  the first listener shows 7
    //                                   delivers: only to the second
    @Test("A batch does not overwrite a listener that shows another model by the time of delivery")
    func changedMeanwhile() async {
        let screens = [Screen(Leaf("0", 0)), Screen(Leaf("1", 0))]
        let batch = batch(screens)
        await manager.flush()
        screens[0].whenRead = { screens[0].model = Leaf("7", 7) }
        manager.updateModel(BatchUpdateModel(models: [Leaf("0", 1), Leaf("1", 1)]))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [0, 1])
        #expect(screens[0].model as? Leaf == Leaf("7", 7))
        #expect(recorder.calls.map(\.listeners) == [[ObjectIdentifier(screens[1])]])
        _ = batch
    }

    @Test("An update does not walk over the trees of a batch, whose model is new at each call")
    func cost() async {
        let (counter, walks) = (CallCounter(), CallCounter())
        let tree = Counted(
            name: "root", id: "0",
            items: (1...50).map {
                Counted(name: "item", id: "\($0)", counter: counter, walks: walks)
            },
            counter: counter)
        let screens = [Screen(tree), Screen(Page("p", 0, leaf: Leaf("1")))]
        let batch = batch(screens)
        for value in 1...3 {
            manager.updateModel(Counted(name: "item", id: "7", value: value, counter: counter))
            await manager.flush()
            #expect(counter.removeCounts() == ["root": 1])
            // All items are visited when the trees are first indexed, and only the replaced one
            // afterwards.
            let walked = walks.removeCounts()["item"] ?? 0
            #expect(value == 1 || walked <= 1)
        }
        #expect(screens.map(\.calls.count) == [3, 0])
        _ = batch
    }

    @Test(
        "A nested batch notifies each listener once, and each delegate once",
        arguments: [false, true])
    func nested(isOuterFirst: Bool) async {
        let inner = BatchRecorder()
        let screens = [Screen(Leaf("0", 0)), Screen(Shelf("1", 0, [Leaf("0", 0)]))]
        let innerBatch = BatchListener(listeners: screens, consistencyManager: manager)
        innerBatch.delegate = inner
        let outer = batch([innerBatch, Screen(Leaf("9", 0))])
        let other = Screen(Leaf("other"))
        if isOuterFirst {
            // Listeners are called in the order of their owners in the index, and the other batch
            // comes first.
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

    @Test("A listener that is added alone and in a batch gets the same model from both")
    func both2() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        let batch = batch([screen])
        manager.updateModel(Leaf("0", 4))
        await manager.flush()
        #expect(screen.calls.count == 1 && recorder.calls.count == 1)
        // The changes that it recorded on its own are those that it already shows.
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.count == 1)
        _ = batch
    }

    @Test("A deallocated batch no longer listens, and releases its listeners")
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

    @Test("`modelUpdated` of a batch notifies the listeners whose models differ")
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

import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("A paused batch listener gets one call for all its listeners")
struct PausedBatchTests {
    private let manager = ConsistencyManager()
    private let recorder = BatchRecorder()
    private let screens: [Screen]
    private let batch: BatchListener

    init() {
        screens = [
            Screen(Page("0", 0, [Page("4")], leaf: Leaf("1", 0))),
            Screen(Page("5", 0, leaf: Leaf("1", 0))),
            Screen(Leaf("8", 0)),
        ]
        batch = BatchListener(listeners: screens, consistencyManager: manager)
        batch.delegate = recorder
        manager.pauseListener(batch)
    }

    private func resume() async {
        await manager.flush()
        #expect(recorder.calls.isEmpty && screens.map(\.calls.count) == [0, 0, 0])
        manager.resumeListener(batch)
        await manager.flush()
    }

    @Test("A resumed batch reports to each listener what changed in its tree")
    func resumed() async {
        manager.updateModel(Leaf("1", 3))
        manager.deleteModel(Page("4"))
        await resume()
        #expect(
            screens.map(\.updates) == [
                [.changed(["0", "1"], deleted: ["4"])], [.changed(["5", "1"])], [],
            ])
        #expect(recorder.calls.count == 1)
        #expect(recorder.calls.first?.listeners == screens.prefix(2).map { ObjectIdentifier($0) })
    }

    @Test("A resumed batch leaves out listeners whose changes cancelled out")
    func cancelledOut() async {
        manager.updateModel(Leaf("1", 3))
        manager.updateModel(Leaf("8", 3))
        manager.updateModel(Leaf("1", 0))
        await resume()
        #expect(screens.map(\.calls.count) == [0, 0, 1])
    }

    @Test("A resumed batch reports the deletion of a whole model")
    func deleted() async {
        manager.deleteModel(Leaf("8"))
        await resume()
        #expect(screens.map(\.updates) == [[], [], [.deleted(["8"])]])
    }

    @Test(
        "A listener that shows another model during a pause gets no changes of the one before",
        arguments: [true, false])
    func otherModel(isDeletion: Bool) async {
        if isDeletion { manager.deleteModel(Leaf("8")) } else { manager.updateModel(Leaf("8", 1)) }
        manager.updateModel(Leaf("1", 1))
        await manager.flush()
        screens[2].model = Leaf("9", 0)
        batch.listenerHasUpdatedModel(screens[2], consistencyManager: manager)
        await resume()
        #expect(screens.map(\.calls.count) == [1, 1, 0])
        #expect(screens[2].model as? Leaf == Leaf("9", 0))
    }

    @Test("A paused batch records the changes of a model that a listener shows later")
    func otherModelChanges() async {
        manager.updateModel(Leaf("8", 1))
        await manager.flush()
        screens[2].model = Leaf("9", 0)
        batch.listenerHasUpdatedModel(screens[2], consistencyManager: manager)
        manager.updateModel(Leaf("9", 1))
        manager.updateModel(Leaf("1", 1))
        await resume()
        #expect(screens.map(\.calls.count) == [1, 1, 1])
        #expect(screens[2].model as? Leaf == Leaf("9", 1))
        #expect(screens[2].updates == [.changed(["9"])])
    }
}

@MainActor @Suite("Several models are posted, and shown, as one")
struct BatchUpdateTests {
    private let manager = ConsistencyManager()

    @Test("An update of several models calls a listener once")
    func oneCall() async {
        let screen = manager.screen(Page("0", 0, [Page("2", 2), Page("4", 4)]))
        manager.updateModel(BatchUpdateModel(models: [Page("2", -2), Page("4", -4)]))
        await manager.flush()
        #expect(screen.model as? Page == Page("0", 0, [Page("2", -2), Page("4", -4)]))
        #expect(screen.calls.count == 1)
    }

    @Test("A nested batch, empty places and an empty batch can be posted")
    func nested() async {
        let screen = manager.screen(Shelf("0", 0, [Leaf("a"), Leaf("b")]))
        let inner = BatchUpdateModel(models: [nil, Leaf("b", 1)])
        manager.updateModel(BatchUpdateModel(models: [Leaf("a", 1), inner, nil]))
        manager.updateModel(BatchUpdateModel(models: [any ConsistencyManagerModel]()))
        await manager.flush()
        #expect(screen.updates == [.changed(["0", "a", "b"])])
    }

    @Test("A shown batch has empty places for deleted models")
    func shown() async {
        let screen = manager.screen(
            BatchUpdateModel(models: [Leaf("a"), Leaf("b")], modelIdentifier: "batch"))
        manager.deleteModel(Leaf("a"))
        await manager.flush()
        #expect(screen.updates == [.changed(["batch"], deleted: ["a"])])
        let models = (screen.model as? BatchUpdateModel)?.models
        #expect(models?.count == 2 && models?[0] == nil && models?[1] as? Leaf == Leaf("b"))
        manager.updateModel(BatchUpdateModel(models: [Leaf("c")], modelIdentifier: "batch"))
        await manager.flush()
        #expect((screen.model as? BatchUpdateModel)?.models.count == 1)
        manager.deleteModel(BatchUpdateModel(models: [nil], modelIdentifier: "batch"))
        await manager.flush()
        #expect(screen.model == nil)
    }

    @Test("Batches are equal if their models are equal place by place")
    func equality() {
        let batch = BatchUpdateModel(models: [Leaf("a"), nil])
        #expect(batch.isEqualToModel(BatchUpdateModel(models: [Leaf("a"), nil])))
        #expect(!batch.isEqualToModel(BatchUpdateModel(models: [nil, Leaf("a")])))
        #expect(!batch.isEqualToModel(BatchUpdateModel(models: [Leaf("a")])))
        #expect(!batch.isEqualToModel(BatchUpdateModel(models: [Leaf("a", 1), nil])))
        #expect(!batch.isEqualToModel(Leaf("a")))
    }
}

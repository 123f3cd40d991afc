import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("A paused listener may show another model")
struct PausedModelTests {
    private let manager = ConsistencyManager()

    @Test("a local edit that is posted, too, comes back as nothing")
    func localEdit() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        screen.model = Leaf("0", 1)
        manager.updateModel(Leaf("0", 1))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty && screen.model as? Leaf == Leaf("0", 1))
    }

    @Test("a local edit, told or not, is what later updates are applied to")
    func localEditKept() async {
        let screen = manager.screen(Shelf("0", 0, [Leaf("1", 0)]))
        manager.pauseListener(screen)
        screen.model = Shelf("0", 7, [Leaf("1", 0), Leaf("2", 0)])
        manager.addListener(screen)
        manager.updateModel(Leaf("2", 1))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(isSame(screen.model, Shelf("0", 7, [Leaf("1", 0), Leaf("2", 1)])))
        #expect(screen.updates == [.changed(["0", "2"])])
    }

    @Test("what comes with a local edit is listened to after a pause in which nothing happened")
    func localEditAlone() async {
        let screen = manager.screen(Shelf("0", 0))
        manager.pauseListener(screen)
        screen.model = Shelf("0", 0, [Leaf("2", 0)])
        manager.addListener(screen)
        manager.resumeListener(screen)
        manager.updateModel(Leaf("2", 1))
        await manager.flush()
        #expect(isSame(screen.model, Shelf("0", 0, [Leaf("2", 1)])))
    }

    @Test("another model starts anew: nothing of what was gathered before comes", arguments: [true, false])
    func otherModel(isTold: Bool) async {
        let screen = manager.screen(Leaf("0", 0))
        let other = manager.screen(Leaf("1", 0))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        screen.model = Leaf("1", 0)
        if isTold { manager.addListener(screen) }
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty && screen.model as? Leaf == Leaf("1", 0))
        _ = other
    }

    @Test("another model is not deleted with the one before", arguments: [true, false])
    func deletedBefore(isTold: Bool) async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        manager.deleteModel(Leaf("0"))
        await manager.flush()
        screen.model = Leaf("1", 0)
        if isTold { manager.addListener(screen) }
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("changes of the other model are gathered")
    func otherModelChanges() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        screen.model = Leaf("1", 0)
        manager.addListener(screen)
        manager.updateModel(Leaf("1", 5))
        manager.updateModel(Leaf("0", 6))
        await manager.flush()
        #expect(screen.calls.isEmpty)
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.updates == [.changed(["1"])] && screen.model as? Leaf == Leaf("1", 5))
    }

    @Test("adding the listener anew with the model it shows loses nothing")
    func addedAnew() async {
        let screen = manager.screen(Shelf("0", 0, [Leaf("1", 0)]))
        manager.pauseListener(screen)
        manager.updateModel(Shelf("0", 0, [Leaf("1", 0), Leaf("2", 0)]))
        await manager.flush()
        manager.addListener(screen)
        // 2 is not shown yet, but would be.
        manager.updateModel(Leaf("2", 1))
        await manager.flush()
        manager.addListener(screen)
        manager.resumeListener(screen)
        await manager.flush()
        #expect(isSame(screen.model, Shelf("0", 0, [Leaf("1", 0), Leaf("2", 1)])))
    }

    @Test("adding the listener anew after its model was deleted does not bring it back")
    func deletedAndAdded() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        manager.deleteModel(Leaf("0"))
        await manager.flush()
        manager.addListener(screen)
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.updates == [.deleted(["0"])] && screen.model == nil)
    }

    @Test("paused while it showed nothing, it gathers for what it shows later", arguments: ["1", nil])
    func shownLater(identifier: String?) async {
        let screen = manager.screen(nil)
        manager.pauseListener(screen)
        screen.model = Shelf(identifier, 0, [Leaf("2", 0)])
        manager.addListener(screen)
        manager.updateModel(Leaf("2", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty)
        manager.resumeListener(screen)
        await manager.flush()
        #expect(isSame(screen.model, Shelf(identifier, 0, [Leaf("2", 1)])))
    }

    @Test("shown nothing when it resumes, it is not told")
    func nothingShown() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        screen.model = nil
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty && screen.model == nil)
    }

    @Test("updates after resuming are applied to what was told, and what came with it is listened to")
    func afterResuming() async {
        let screen = manager.screen(Page("0", 0, [Page("1")]))
        manager.pauseListener(screen)
        manager.updateModel(Page("1", 1, [Page("2", 0)]))
        manager.resumeListener(screen)
        await manager.flush()
        manager.updateModel(Page("2", 5))
        await manager.flush()
        #expect(screen.model as? Page == Page("0", 0, [Page("1", 1, [Page("2", 5)])]))
    }
}

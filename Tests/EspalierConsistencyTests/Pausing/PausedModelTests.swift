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

    @Test(
        "another model starts anew: nothing of what was gathered before comes",
        arguments: [true, false])
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

    @Test(
        "paused while it showed nothing, it gathers for what it shows later", arguments: ["1", nil])
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

    @Test(
        "updates after resuming are applied to what was told, and what came with it is listened to")
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

    @Test(
        "another tree whose root has no identifier starts anew, too, and what is in it is listened to"
    )
    func otherUnnamed() async {
        let screen = manager.screen(Shelf(nil, 1, [Leaf("1", 0)]))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("1", 1))
        await manager.flush()
        screen.model = Shelf(nil, 2, [Leaf("1", 0), Leaf("2", 0)])
        manager.addListener(screen)
        manager.updateModel(Leaf("2", 5))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(isSame(screen.model, Shelf(nil, 2, [Leaf("1", 0), Leaf("2", 5)])))
        #expect(screen.updates == [.changed(["2"])])
    }

    @Test("nothing of what was gathered comes to another tree without identifier")
    func nothingForOtherUnnamed() async {
        let screen = manager.screen(Page(nil, 1, [Page("1", 0)]))
        manager.pauseListener(screen)
        manager.updateModel(Page("1", 1))
        await manager.flush()
        screen.model = Page(nil, 2, [Page("1", 0)])
        manager.addListener(screen)
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty && screen.model as? Page == Page(nil, 2, [Page("1", 0)]))
    }

    @Test("the tree it was paused with, added again, goes on", arguments: [true, false])
    func sameUnnamed(isSameObject: Bool) async {
        let page = Page(nil, 1, [Page("1", 0)])
        let screen = manager.screen(page)
        manager.pauseListener(screen)
        manager.updateModel(Page("1", 1, [Page("2", 0)]))
        await manager.flush()
        screen.model = isSameObject ? page : Page(nil, 1, [Page("1", 0)])
        manager.addListener(screen)
        manager.updateModel(Page("2", 1))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.model as? Page == Page(nil, 1, [Page("1", 1, [Page("2", 1)])]))
        #expect(screen.calls.count == 1)
    }

    @Test("an edit that it is told of after changes were gathered is kept")
    func laterEdit() async {
        let screen = manager.screen(Shelf("0", 0, [Leaf("1", 0)]))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("1", 1))
        await manager.flush()
        screen.model = Shelf("0", 7, [Leaf("1", 0), Leaf("2", 0)])
        manager.addListener(screen)
        manager.updateModel(Leaf("2", 1))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(isSame(screen.model, Shelf("0", 7, [Leaf("1", 0), Leaf("2", 1)])))
    }

    //  manager                          listener, paused, with something gathered
    //  asks what would be shown         page 1, as gathered
    //                                   shows page 2, and adds itself
    //  makes page 1 anew
    //  (nothing)
    @Test(
        "another tree chosen while the one before is made anew is kept", arguments: [true, false])
    func chosenBetween(isGathered: Bool) async {
        let manager = manager
        let screen = manager.screen(Shelf(nil, 1, [Leaf("1", 0)]))
        manager.pauseListener(screen)
        if isGathered { manager.updateModel(Leaf("1", 1)) }
        await manager.flush()
        screen.whenAsked = {
            screen.whenAsked = nil
            // Once it has answered, and before the manager is back.
            Task {
                screen.model = Shelf(nil, 2, [Leaf("1", 0)])
                manager.addListener(screen)
            }
        }
        manager.updateModel(Leaf("1", 2))
        await manager.flush()
        manager.resumeListener(screen)
        await manager.flush()
        #expect((screen.model as? Shelf)?.value == 2)
    }
}

@MainActor @Suite("A paused batch follows each of its listeners")
struct PausedPlacesTests {
    private let manager = ConsistencyManager()

    @Test(
        "one that shows another tree without identifier starts anew, the others go on",
        arguments: ["1", nil])
    func otherPlace(identifier: String?) async {
        let screens = [
            Screen(Shelf(identifier, 1, [Leaf("a", 0)])), Screen(Shelf(nil, 1, [Leaf("a", 0)])),
        ]
        let batch = BatchListener(listeners: screens, consistencyManager: manager)
        manager.pauseListener(batch)
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        screens[0].model = Shelf(identifier, 2, [Leaf("b", 0)])
        batch.listenerHasUpdatedModel(screens[0], consistencyManager: manager)
        manager.updateModel(Leaf("b", 1))
        manager.resumeListener(batch)
        await manager.flush()
        #expect(isSame(screens[0].model, Shelf(identifier, 2, [Leaf("b", 1)])))
        #expect(isSame(screens[1].model, Shelf(nil, 1, [Leaf("a", 1)])))
    }
}

import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("A paused listener may show another model")
struct PausedModelTests {
    private let manager = ConsistencyManager()

    @Test("A local edit that is also posted comes back as no change")
    func localEdit() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        screen.model = Leaf("0", 1)
        manager.updateModel(Leaf("0", 1))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty && screen.model as? Leaf == Leaf("0", 1))
    }

    @Test("Updates during a pause apply to the local edit, whether or not it was registered")
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

    @Test("Children that arrive with a local edit are updated after a pause without changes")
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
        "A listener that shows another model gets no changes of the one before",
        arguments: [true, false])
    func otherModel(isRegistered: Bool) async {
        let screen = manager.screen(Leaf("0", 0))
        let other = manager.screen(Leaf("1", 0))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        screen.model = Leaf("1", 0)
        if isRegistered { manager.addListener(screen) }
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty && screen.model as? Leaf == Leaf("1", 0))
        _ = other
    }

    @Test("Another model is not deleted along with the one before", arguments: [true, false])
    func deletedBefore(isRegistered: Bool) async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        manager.deleteModel(Leaf("0"))
        await manager.flush()
        screen.model = Leaf("1", 0)
        if isRegistered { manager.addListener(screen) }
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("Changes of the other model are recorded")
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

    @Test("Adding a paused listener again with its current model loses no changes")
    func addedAnew() async {
        let screen = manager.screen(Shelf("0", 0, [Leaf("1", 0)]))
        manager.pauseListener(screen)
        manager.updateModel(Shelf("0", 0, [Leaf("1", 0), Leaf("2", 0)]))
        await manager.flush()
        manager.addListener(screen)
        // 2 is not shown yet, but would be without the pause.
        manager.updateModel(Leaf("2", 1))
        await manager.flush()
        manager.addListener(screen)
        manager.resumeListener(screen)
        await manager.flush()
        #expect(isSame(screen.model, Shelf("0", 0, [Leaf("1", 0), Leaf("2", 1)])))
    }

    @Test("Adding a paused listener again after its model was deleted does not restore the model")
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
        "A listener that was paused without a model records changes of a model it shows later",
        arguments: ["1", nil])
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

    @Test("A listener that shows nothing when it is resumed is not called")
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

    @Test("Updates after resuming apply to the delivered tree, and its new children are updated")
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

    @Test("Another tree without identifier restarts the recording, and its nodes are updated")
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

    @Test("Recorded changes do not reach another tree without identifier")
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

    @Test(
        "The tree that was paused can be added again without losing changes",
        arguments: [true, false])
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

    @Test("A registered edit after recorded changes is kept")
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

    //  manager                          listener, paused, with something recorded
    //  reads what would be shown        page 1, as recorded
    //                                   shows page 2, and adds itself
    //  rebuilds page 1
    //  (nothing)
    @Test(
        "A tree that is chosen while the previous one is rebuilt is kept", arguments: [true, false])
    func chosenBetween(isGathered: Bool) async {
        let manager = manager
        let screen = manager.screen(Shelf(nil, 1, [Leaf("1", 0)]))
        manager.pauseListener(screen)
        if isGathered { manager.updateModel(Leaf("1", 1)) }
        await manager.flush()
        screen.whenRead = {
            screen.whenRead = nil
            // After it was read, and before the manager continues.
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

@MainActor @Suite("A paused batch records changes for each of its listeners")
struct PausedPlacesTests {
    private let manager = ConsistencyManager()

    @Test(
        "A listener in a paused batch that shows another tree restarts, and the others continue",
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

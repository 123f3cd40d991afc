import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("A paused listener keeps its model, and gets one call with the net change")
struct PausingTests {
    private let manager = ConsistencyManager()

    @Test("A resumed listener gets all changes in one call, with the latest context")
    func oneCall() async {
        let screen = manager.screen(Page("0", 0, [Page("2", 2), Page("4", 4)]))
        manager.pauseListener(screen)
        #expect(manager.isListenerPaused(screen))
        for value in [1, 2] {
            manager.updateModel(
                BatchUpdateModel(models: [Page("2", -value), Page("4", -value)]),
                context: "\(value)")
        }
        await manager.flush()
        #expect(screen.calls.isEmpty)
        #expect(screen.model as? Page == Page("0", 0, [Page("2", 2), Page("4", 4)]))
        manager.resumeListener(screen)
        #expect(!manager.isListenerPaused(screen))
        await manager.flush()
        #expect(screen.model as? Page == Page("0", 0, [Page("2", -2), Page("4", -2)]))
        #expect(screen.updates == [.changed(["0", "2", "4"])])
        #expect(screen.contexts == ["2"])
    }

    @Test("Other listeners are called during a pause, and all agree afterwards")
    func others() async {
        let screens = (0..<2).map { _ in manager.screen(Page("0", 0, [Page("2", 2)])) }
        manager.pauseListener(screens[1])
        manager.updateModel(Page("2", 3))
        manager.updateModel(Page("2", 4))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [2, 0])
        manager.resumeListener(screens[1])
        manager.updateModel(Page("2", 5))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [3, 2])
        #expect(screens[0].model as? Page == screens[1].model as? Page)
    }

    @Test("A resumed listener gets no call if nothing was posted that changes anything")
    func nothing() async {
        let screen = manager.screen(Page("0", 0, [Page("2")]))
        manager.pauseListener(screen)
        manager.resumeListener(screen)
        await manager.flush()
        manager.pauseListener(screen)
        manager.updateModel(Page("0", 0, [Page("2")]))
        manager.updateModel(Page("2"))
        manager.deleteModel(Page("9"))
        await manager.flush()
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("A resumed listener gets no call if its changes cancelled out")
    func cancelledOut() async {
        let screen = manager.screen(Page("0", 0, leaf: Leaf("1", 0)))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("1", -5), context: "there")
        manager.updateModel(Leaf("1", 0), context: "and back")
        await manager.flush()
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty)
        manager.updateModel(Leaf("1", 7))
        await manager.flush()
        #expect(screen.updates == [.changed(["0", "1"])])
    }

    @Test("The net change names only nodes that differ, and none that was deleted and came back")
    func someCancelledOut() async {
        let two = Page("2", 0, leaf: Leaf("3", 0))
        let screen = manager.screen(Page("0", 0, [two, Page("4")], leaf: Leaf("1", 0)))
        manager.pauseListener(screen)
        manager.deleteModel(Leaf("3"))
        manager.updateModel(Page("0", 0, [two, Page("4")], leaf: Leaf("1", -1)))
        manager.updateModel(Page("0", 0, [two, Page("4")], leaf: Leaf("1", 0)))
        manager.updateModel(Page("2", 6, leaf: Leaf("3", -1)))
        manager.updateModel(Page("2", 6, leaf: Leaf("3", 0)), context: "last")
        await manager.flush()
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.updates == [.changed(["0", "2"])])
        #expect(screen.contexts == ["last"])
    }

    @Test("A node that was changed and then deleted is reported as deleted")
    func deleted() async {
        let screens = (0..<2).map { _ in manager.screen(Page("0", 0, [Page("2"), Page("4")])) }
        manager.pauseListener(screens[0])
        manager.updateModel(Page("2", 1))
        manager.deleteModel(Page("2"))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [0, 2])
        manager.resumeListener(screens[0])
        await manager.flush()
        #expect(screens[0].updates == [.changed(["0"], deleted: ["2"])])
        #expect(screens[0].model as? Page == Page("0", 0, [Page("4")]))
    }

    @Test("The net change of a deleted model names what was deleted, and nothing else")
    func wholeDeleted() async {
        let screen = manager.screen(Page("0", 0, [Page("2", 0, leaf: Leaf("5"))], leaf: Leaf("1")))
        manager.pauseListener(screen)
        manager.updateModel(Page("2", 1))
        manager.deleteModel(Leaf("1"))
        await manager.flush()
        #expect(screen.calls.isEmpty)
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.updates == [.deleted(["0", "1"])])
        #expect(screen.model == nil)
    }

    @Test("A model that was deleted before a pause is not deleted again after it")
    func deletedBefore() async {
        let screen = manager.screen(Leaf("0"))
        manager.deleteModel(Leaf("0"))
        await manager.flush()
        manager.pauseListener(screen)
        #expect(manager.isListenerPaused(screen))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.updates == [.deleted(["0"])])
    }

    @Test("A node that came and went, or came and changed, is not named in the net change")
    func cameAndWent() async {
        let screen = manager.screen(Shelf("0", 0, [Leaf("1")]))
        manager.pauseListener(screen)
        manager.updateModel(Shelf("0", 0, [Leaf("1"), Leaf("2"), Leaf("3")]))
        manager.deleteModel(Leaf("2"))
        manager.updateModel(Leaf("3", 1))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.updates == [.changed(["0"])])
        #expect(isSame(screen.model, Shelf("0", 0, [Leaf("1"), Leaf("3", 1)])))
    }

    @Test("A node of which two versions were shown is named when they become one")
    func twoVersions() async {
        let screen = manager.screen(Shelf("0", 0, [Leaf("1", 1), Leaf("1", 2)]))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("1", 1))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.updates == [.changed(["0", "1"])])
    }

    @Test("Children that arrive during a pause are updated before and after resuming")
    func newChildren() async {
        let screen = manager.screen(Shelf("0", 0, [Leaf("1")]))
        manager.pauseListener(screen)
        manager.updateModel(Shelf("0", 0, [Leaf("2", 0)]))
        manager.updateModel(Leaf("2", 1))
        manager.resumeListener(screen)
        manager.updateModel(Leaf("2", 2))
        await manager.flush()
        #expect(isSame(screen.model, Shelf("0", 0, [Leaf("2", 2)])))
        #expect(screen.calls.count == 2)
    }

    @Test("Updates of projections are recorded during a pause")
    func projections() async {
        let screen = manager.screen(Profile(.both, "0", data: 1, otherData: 1))
        manager.pauseListener(screen)
        manager.updateModel(Profile(.data, "0", data: 2))
        manager.updateModel(Profile(.otherData, "0", otherData: 3))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.model as? Profile == Profile(.both, "0", data: 2, otherData: 3))
        #expect(screen.updates == [.changed(["0"])])
        manager.pauseListener(screen)
        manager.updateModel(Profile(.data, "0", data: 9))
        manager.updateModel(Profile(.both, "0", data: 2, otherData: 3))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.count == 1)
    }

    @Test("A listener that is released while paused is deallocated")
    func letGo() async {
        weak var reference: Screen?
        do {
            let screen = manager.screen(Leaf("0"))
            reference = screen
            manager.pauseListener(screen)
            manager.updateModel(Leaf("0", 1))
            manager.resumeListener(screen)
        }
        await manager.flush()
        #expect(reference == nil)
    }

    @Test("A listener may be paused before it is added")
    func beforeAdding() async {
        let screen = Screen(Leaf("0"))
        manager.pauseListener(screen)
        manager.addListener(screen)
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty)
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.count == 1)
    }
}

import EspalierModels
import Testing

@testable import EspalierConsistency

@MainActor @Suite("Listeners are held weakly")
struct LifetimeTests {
    private let manager = ConsistencyManager()

    @Test("a listener that is let go is gone, and is not called")
    func weak() async {
        var screen: Screen? = manager.screen(Page("a", 0, leaf: Leaf("b")))
        weak let reference = screen
        await manager.flush()
        manager.updateModel(Leaf("b", 1))
        screen = nil
        await manager.flush()
        #expect(reference == nil)
    }

    @Test("an update finds out that a listener is gone, and takes it out of the index")
    func foundOut() async {
        var screen: Screen? = manager.screen(Page("a", 0, leaf: Leaf("b")))
        await manager.flush()
        #expect(await manager.worker.listenerCount == 1)
        _ = screen
        screen = nil
        manager.updateModel(Leaf("b", 1))
        await manager.flush()
        #expect(await manager.worker.listenerCount == 0)
        #expect(await manager.worker.nodeCount == 0)
    }

    @Test("objects are not kept alive once their listener is gone, without cleaning")
    func objects() async {
        var model: Page? = Page("a", 0, [Page("c")], leaf: Leaf("b"))
        weak let root = model
        weak let child = model?.children.first
        var screen: Screen? = manager.screen(model)
        model = nil
        await manager.flush()
        #expect(root != nil && child != nil)
        _ = screen
        screen = nil
        await manager.flush()
        #expect(root == nil && child == nil)
    }

    @Test("objects that an update replaced are let go")
    func replacedObjects() async {
        weak var child: Page?
        let screen: Screen
        do {
            let page = Page("a", 0, [Page("c")], leaf: Leaf("b"))
            child = page.children[0]
            screen = manager.screen(page)
        }
        manager.updateModel(Page("a", 1))
        await manager.flush()
        #expect(child == nil && screen.model != nil)
    }

    @Test("what values hold is let go by a cleaning after their listener")
    func values() async {
        weak var object: Page?
        do {
            let page = Page("c")
            object = page
            _ = manager.screen(Shelf("a", 0, [page]))
        }
        await manager.flush()
        manager.cleanMemory()
        await manager.flush()
        #expect(object == nil)
        #expect(await manager.worker.nodeCount == 0)
    }

    @Test(
        "of a paused listener what it showed and would show is let go with the pause, or by a cleaning",
        arguments: 0..<3)
    func pausedTrees(ending: Int) async {
        weak var shown: Page?
        weak var wouldShow: Page?
        var screen: Screen?
        do {
            let (old, new) = (Page("a", 0), Page("a", 1))
            (shown, wouldShow) = (old, new)
            let paused = manager.screen(old)
            manager.pauseListener(paused)
            manager.updateModel(new)
            await manager.flush()
            screen = paused
        }
        #expect(shown != nil && wouldShow != nil)
        switch ending {
        case 0:
            if let screen { manager.resumeListener(screen) }
            await manager.flush()
            #expect(shown == nil && wouldShow != nil)
        case 1:
            if let screen { manager.removeListener(screen) }
            #expect(shown != nil && wouldShow == nil)
        default:
            screen = nil
            manager.cleanMemory()
        }
        screen = nil
        await manager.flush()
        #expect(shown == nil && wouldShow == nil)
    }

    @Test("the manager itself is let go, with its queue and its cleaning")
    func managerItself() async {
        var manager: ConsistencyManager? = ConsistencyManager()
        weak let reference = manager
        weak let board = manager?.board
        let screen = manager?.screen(Leaf("a"))
        manager?.garbageCollectionInterval = 0.001
        await manager?.flush()
        manager = nil
        for _ in 0..<1_000 where board != nil { try? await Task.sleep(for: .milliseconds(1)) }
        #expect(reference == nil && board == nil)
        #expect(screen?.calls.isEmpty == true)
    }

    @Test("what was submitted is done even if the manager is let go")
    func submittedLast() async {
        let screen: Screen
        do {
            let manager = ConsistencyManager()
            screen = manager.screen(Leaf("a", 0))
            manager.updateModel(Leaf("a", 1))
        }
        for _ in 0..<1_000 where screen.calls.isEmpty {
            try? await Task.sleep(for: .milliseconds(1))
        }
        #expect(screen.model as? Leaf == Leaf("a", 1))
    }

    @Test("a listener at the address of one that is gone is another one")
    func sameAddress() async {
        var addresses: Set<ObjectIdentifier> = []
        var hasSeenAgain = false
        for round in 0..<500 {
            let screen = Screen(Leaf("new \(round)"))
            hasSeenAgain = hasSeenAgain || !addresses.insert(ObjectIdentifier(screen)).inserted
            #expect(!manager.isListenerPaused(screen))
            manager.addListener(screen)
            manager.pauseListener(screen)
            if round % 7 == 0 { await manager.flush() }
            manager.updateModel(Leaf("new \(round - 1)", 1))
            if round % 2 == 0 { manager.resumeListener(screen) }
            manager.updateModel(Leaf("new \(round)", 1))
            if round % 5 == 0 {
                await manager.flush()
                #expect(screen.calls.count == (round % 2 == 0 ? 1 : 0))
            }
        }
        #expect(hasSeenAgain)
    }

    @Test("a cleaning finds those that are gone, also where another one has got their address")
    func cleanedAtSameAddress() async {
        for round in 0..<200 { manager.addListener(Screen(Leaf("\(round)"))) }
        manager.cleanMemory()
        await manager.flush()
        #expect(await manager.worker.nodeCount == 0)
        #expect(manager.board.listenerCount == 0)
    }
}

@MainActor @Suite("A listener may have itself forgotten when it goes")
struct ForgettingTests {
    private let manager = ConsistencyManager()

    /// Its `deinit` runs on whichever thread lets go of it.
    private final class Passing: ConsistencyManagerListener {
        private let manager: ConsistencyManager
        private(set) var model: Leaf?

        init(_ manager: ConsistencyManager, _ model: Leaf) {
            self.manager = manager
            self.model = model
            manager.addListener(self)
        }

        deinit { manager.forget(ObjectIdentifier(self)) }

        func currentModel() -> Child? { model }
        func modelUpdated(_ model: Child?, updates: ModelUpdates, context: Any?) {
            self.model = model as? Leaf
        }
    }

    @Test("then its nodes leave the index without a cleaning", arguments: [true, false])
    func forgotten(isPaused: Bool) async {
        for _ in 0..<200 {
            let passing = Passing(manager, Leaf("a", 0))
            if isPaused { manager.pauseListener(passing) }
        }
        await manager.flush()
        #expect(await manager.worker.nodeCount == 0)
        #expect(manager.board.listenerCount == 0)
    }

    @Test("whoever has got its address goes on listening")
    func sameAddress() async {
        var addresses: Set<ObjectIdentifier> = []
        var hasSeenAgain = false
        var latest: Passing?
        for round in 1...300 {
            latest = nil
            let passing = Passing(manager, Leaf("a", 0))
            hasSeenAgain = hasSeenAgain || !addresses.insert(ObjectIdentifier(passing)).inserted
            latest = passing
            if round % 10 == 0 { await manager.flush() }
        }
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        #expect(hasSeenAgain && latest?.model == Leaf("a", 1))
        #expect(await manager.worker.listenerCount == 1)
        #expect(manager.board.listenerCount == 1)
    }

    @Test("whichever thread lets go of it")
    func anyThread() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                let passing = Passing(manager, Leaf("a", 0))
                group.addTask {
                    await Task.yield(); _ = passing
                }
            }
        }
        await manager.flush()
        await manager.flush()
        #expect(await manager.worker.nodeCount == 0)
        #expect(manager.board.listenerCount == 0)
    }

    @Test("forgetting whom nobody knows, or who is there, does nothing")
    func unknown() async {
        let screen = manager.screen(Leaf("a", 0))
        manager.forget(ObjectIdentifier(screen))
        manager.forget(ObjectIdentifier(manager))
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        #expect(screen.calls.count == 1)
    }
}

@MainActor @Suite("A listener may be removed")
struct RemovingTests {
    private let manager = ConsistencyManager()

    @Test("a removed listener is not called, and its nodes leave the index")
    func removed() async {
        let screen = manager.screen(Page("a", 0, leaf: Leaf("b")))
        manager.removeListener(screen)
        manager.updateModel(Leaf("b", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty)
        #expect(await manager.worker.nodeCount == 0)
        #expect(manager.board.listenerCount == 0)
    }

    @Test("nothing that was submitted before reaches a removed listener")
    func submittedBefore() async {
        let screen = manager.screen(Leaf("b", 0))
        manager.updateModel(Leaf("b", 1))
        manager.removeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("removed and added anew, it misses nothing")
    func addedAnew() async {
        let screen = manager.screen(Leaf("b", 0))
        manager.updateModel(Leaf("b", 1))
        manager.removeListener(screen)
        manager.addListener(screen)
        await manager.flush()
        #expect(screen.calls.count == 1)
        manager.updateModel(Leaf("b", 2))
        await manager.flush()
        #expect(screen.model as? Leaf == Leaf("b", 2))
    }

    @Test("removing ends a pause, and nothing of what was gathered comes")
    func paused() async {
        let screen = manager.screen(Leaf("b", 0))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("b", 1))
        manager.removeListener(screen)
        #expect(!manager.isListenerPaused(screen))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("a listener that was never added can be removed")
    func neverAdded() async {
        manager.removeListener(Screen(Leaf("b")))
        await manager.flush()
    }

    @Test("a listener can be removed from its deinit")
    func fromDeinit() async {
        for _ in 0..<100 {
            var leaving: Leaving? = Leaving(manager, Leaf("b", 0))
            manager.updateModel(Leaf("b", 1))
            _ = leaving
            leaving = nil
        }
        manager.updateModel(Leaf("b", 2))
        await manager.flush()
        #expect(await manager.worker.listenerCount == 0)
        #expect(manager.board.listenerCount == 0)
    }

    @MainActor
    private final class Leaving: ConsistencyManagerListener {
        private let manager: ConsistencyManager
        private let model: Leaf

        init(_ manager: ConsistencyManager, _ model: Leaf) {
            self.manager = manager
            self.model = model
            manager.addListener(self)
        }

        deinit {
            // Traps if anything but the main actor was the last to hold it.
            MainActor.assumeIsolated { manager.removeListener(self) }
        }

        func currentModel() -> Child? { model }
        func modelUpdated(_ model: Child?, updates: ModelUpdates, context: Any?) {}
    }
}

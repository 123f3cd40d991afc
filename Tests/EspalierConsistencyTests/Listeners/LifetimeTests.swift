import EspalierModels
import Testing

@testable import EspalierConsistency

@MainActor @Suite("Listeners are held weakly")
struct LifetimeTests {
    private let manager = ConsistencyManager()

    @Test("A released listener is deallocated, and not called")
    func weak() async {
        var screen: Screen? = manager.screen(Page("a", 0, leaf: Leaf("b")))
        weak let reference = screen
        await manager.flush()
        manager.updateModel(Leaf("b", 1))
        screen = nil
        await manager.flush()
        #expect(reference == nil)
    }

    @Test("An update removes a deallocated listener from the index")
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

    @Test("The index does not keep the objects of a deallocated listener alive")
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

    @Test("Objects that an update has replaced are released")
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

    @Test("Cleaning releases what the values of a deallocated listener hold")
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
        "A paused listener's models are released with its pause, or by a cleaning",
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

    @Test("A released manager is deallocated, with its queue and its cleaning")
    func managerItself() async {
        var manager: ConsistencyManager? = ConsistencyManager()
        weak let reference = manager
        weak let registry = manager?.registry
        let screen = manager?.screen(Leaf("a"))
        manager?.garbageCollectionInterval = 0.001
        await manager?.flush()
        manager = nil
        for _ in 0..<1_000 where registry != nil { try? await Task.sleep(for: .milliseconds(1)) }
        #expect(reference == nil && registry == nil)
        #expect(screen?.calls.isEmpty == true)
    }

    @Test("Work that was submitted is done even if the manager is released")
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

    @Test("A listener at the address of a deallocated one is another listener")
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

    @Test("Cleaning finds deallocated listeners whose address is in use again")
    func cleanedAtSameAddress() async {
        for round in 0..<200 { manager.addListener(Screen(Leaf("\(round)"))) }
        manager.cleanMemory()
        await manager.flush()
        #expect(await manager.worker.nodeCount == 0)
        #expect(manager.registry.listenerCount == 0)
    }
}

@MainActor @Suite("A listener may report its own deallocation")
struct ForgettingTests {
    private let manager = ConsistencyManager()

    /// Its `deinit` runs on the thread that releases it.
    private final class Passing: ConsistencyManagerListener {
        private let manager: ConsistencyManager
        private(set) var model: Leaf?

        init(_ manager: ConsistencyManager, _ model: Leaf) {
            self.manager = manager
            self.model = model
            manager.addListener(self)
        }

        deinit { manager.listenerDeallocated(at: ObjectIdentifier(self)) }

        func currentModel() -> Child? { model }
        func modelUpdated(_ model: Child?, updates: ModelUpdates, context: Any?) {
            self.model = model as? Leaf
        }
    }

    @Test(
        "`listenerDeallocated` removes the nodes of a listener without a cleaning",
        arguments: [true, false])
    func forgotten(isPaused: Bool) async {
        for _ in 0..<200 {
            let passing = Passing(manager, Leaf("a", 0))
            if isPaused { manager.pauseListener(passing) }
        }
        await manager.flush()
        #expect(await manager.worker.nodeCount == 0)
        #expect(manager.registry.listenerCount == 0)
    }

    @Test("A new listener at the address of a deallocated one stays registered")
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
        #expect(manager.registry.listenerCount == 1)
    }

    @Test("`listenerDeallocated` may be called on any thread")
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
        #expect(manager.registry.listenerCount == 0)
    }

    @Test("`listenerDeallocated` does nothing for objects that are unknown or alive")
    func unknown() async {
        let screen = manager.screen(Leaf("a", 0))
        manager.listenerDeallocated(at: ObjectIdentifier(screen))
        manager.listenerDeallocated(at: ObjectIdentifier(manager))
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        #expect(screen.calls.count == 1)
    }
}

@MainActor @Suite("A listener may be removed")
struct RemovingTests {
    private let manager = ConsistencyManager()

    @Test("A removed listener is not called, and its nodes leave the index")
    func removed() async {
        let screen = manager.screen(Page("a", 0, leaf: Leaf("b")))
        manager.removeListener(screen)
        manager.updateModel(Leaf("b", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty)
        #expect(await manager.worker.nodeCount == 0)
        #expect(manager.registry.listenerCount == 0)
    }

    @Test("A removed listener gets nothing that was submitted before")
    func submittedBefore() async {
        let screen = manager.screen(Leaf("b", 0))
        manager.updateModel(Leaf("b", 1))
        manager.removeListener(screen)
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("A listener that is removed and added again misses nothing")
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

    @Test("Removing a listener ends its pause and drops what it recorded")
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

    @Test("Removing a listener that was never added does nothing")
    func neverAdded() async {
        manager.removeListener(Screen(Leaf("b")))
        await manager.flush()
    }

    @Test("A listener can be removed in its deinit")
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
        #expect(manager.registry.listenerCount == 0)
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
            // Traps if it is released on another thread than the main thread.
            MainActor.assumeIsolated { manager.removeListener(self) }
        }

        func currentModel() -> Child? { model }
        func modelUpdated(_ model: Child?, updates: ModelUpdates, context: Any?) {}
    }
}

import EspalierModels
import Testing

@testable import EspalierConsistency

@MainActor @Suite("Clearing forgets all listeners and drops what was not delivered")
struct ClearingTests {
    private let manager = ConsistencyManager()

    private func clear() async {
        await withCheckedContinuation { continuation in
            manager.clearListenersAndCancelAllTasks { continuation.resume() }
        }
    }

    @Test("Clearing forgets active and paused listeners")
    func cleared() async {
        let screens = [manager.screen(Leaf("0")), manager.screen(Leaf("0"))]
        manager.pauseListener(screens[1])
        await clear()
        #expect(await manager.worker.listenerCount == 0)
        #expect(await manager.worker.nodeCount == 0)
        #expect(!manager.isListenerPaused(screens[1]) && manager.registry.pausedCount == 0)
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [0, 0])
    }

    @Test("The epoch of a manager changes with each clearing")
    func counted() async {
        let before = manager.epoch
        await clear()
        #expect(manager.epoch == before + 1)
    }

    @Test("Clearing drops updates that were submitted before")
    func pending() async {
        let screen = manager.screen(Leaf("0"))
        for value in 1...20 { manager.updateModel(Leaf("0", value)) }
        manager.deleteModel(Leaf("0"))
        await clear()
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    //  manager                          listener
    //  reads what is shown
    //                                   clears, while it is read
    //  rebuilds the model
    //  (nothing)
    @Test("Clearing drops an update that is in progress")
    func underWay() async {
        let manager = manager
        let screen = manager.screen(Leaf("0"))
        await manager.flush()
        var hasCompleted = false
        screen.whenRead = { manager.clearListenersAndCancelAllTasks { hasCompleted = true } }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        await manager.flush()
        #expect(screen.calls.isEmpty && hasCompleted)
    }

    @Test("If the first listener clears during a delivery, the others are not notified")
    func whileTelling() async {
        let manager = manager
        let screens = (0..<3).map { _ in manager.screen(Leaf("0")) }
        for screen in screens {
            screen.whenCalled = { _ in manager.clearListenersAndCancelAllTasks() }
        }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count).reduce(0, +) == 1)
    }

    @Test("Clearing drops what a paused listener has recorded")
    func recorded() async {
        let screen = manager.screen(Leaf("0"))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        manager.resumeListener(screen)
        await clear()
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("Listeners that are added after a clearing get updates")
    func afterwards() async {
        let screen = manager.screen(Leaf("0"))
        manager.clearListenersAndCancelAllTasks()
        manager.addListener(screen)
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(screen.model as? Leaf == Leaf("0", 1))
        await clear()
        manager.addListener(screen)
        manager.updateModel(Leaf("0", 2))
        await manager.flush()
        #expect(screen.model as? Leaf == Leaf("0", 2))
    }
}

@MainActor @Suite("Cleaning forgets deallocated listeners")
struct CleaningTests {
    private let manager = ConsistencyManager()

    private func addAndLetGo() {
        let screen = manager.screen(Page("a", 0, [Page("b")]))
        manager.pauseListener(screen)
        manager.addModelUpdatesListener(ChangeRecorder())
    }

    @Test("`cleanMemory` removes the nodes of deallocated listeners from the index")
    func cleaning() async {
        let living = manager.screen(Leaf("l"))
        addAndLetGo()
        await manager.flush()
        #expect(await manager.worker.nodeCount == 5)
        manager.cleanMemory()
        await manager.flush()
        #expect(await manager.worker.nodeCount == 1)
        #expect(manager.registry.listenerCount == 1)
        #expect(!manager.registry.hasUpdatesListeners)
        manager.updateModel(Leaf("l", 1))
        await manager.flush()
        #expect(living.calls.count == 1)
    }

    @Test("Cleaning runs at each interval, also one that is set late, and never at 0")
    func interval() async {
        addAndLetGo()
        await manager.flush()
        manager.garbageCollectionInterval = 0
        try? await Task.sleep(for: .milliseconds(20))
        #expect(await manager.worker.nodeCount == 4)
        manager.garbageCollectionInterval = 0.005
        for round in 0..<2 {
            if round > 0 { addAndLetGo() }
            await manager.flush()
            for _ in 0..<2_000 where await manager.worker.nodeCount > 0 {
                try? await Task.sleep(for: .milliseconds(1))
            }
            #expect(await manager.worker.nodeCount == 0)
        }
    }

    @Test(
        "Cleaning is off for intervals that are no length of time",
        arguments: [
            -1, -.infinity, .infinity, .nan, .greatestFiniteMagnitude, 1e19, 1e9, 1e9.nextUp,
        ])
    func odd(interval: Double) async {
        addAndLetGo()
        manager.garbageCollectionInterval = interval
        await manager.flush()
        try? await Task.sleep(for: .milliseconds(5))
        #expect(await manager.worker.nodeCount == 4)
        #expect(manager.garbageCollectionInterval == interval || interval.isNaN)
    }

    @Test("The default interval of cleaning is 300 seconds")
    func standard() { #expect(ConsistencyManager().garbageCollectionInterval == 300) }

    @Test("`cleanMemory` may be called on any thread")
    func anyThread() async {
        let manager = manager
        await Task.detached { manager.cleanMemory() }.value
        await manager.flush()
    }
}

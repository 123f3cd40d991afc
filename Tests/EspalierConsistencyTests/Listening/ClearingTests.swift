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

    @Test("active and paused listeners are forgotten")
    func cleared() async {
        let screens = [manager.screen(Leaf("0")), manager.screen(Leaf("0"))]
        manager.pauseListener(screens[1])
        await clear()
        #expect(await manager.worker.listenerCount == 0)
        #expect(await manager.worker.nodeCount == 0)
        #expect(!manager.isListenerPaused(screens[1]) && manager.board.pausedCount == 0)
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [0, 0])
    }

    @Test("whoever keeps the number of clearings finds out")
    func counted() async {
        let before = manager.clearings
        await clear()
        #expect(manager.clearings == before + 1)
    }

    @Test("what was submitted is dropped")
    func pending() async {
        let screen = manager.screen(Leaf("0"))
        for value in 1...20 { manager.updateModel(Leaf("0", value)) }
        manager.deleteModel(Leaf("0"))
        await clear()
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    //  manager                          listener
    //  asks what is shown
    //                                   clears, while it is asked
    //  makes the model anew
    //  (nothing)
    @Test("what is under way is dropped")
    func underWay() async {
        let manager = manager
        let screen = manager.screen(Leaf("0"))
        await manager.flush()
        var hasCompleted = false
        screen.whenAsked = { manager.clearListenersAndCancelAllTasks { hasCompleted = true } }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        await manager.flush()
        #expect(screen.calls.isEmpty && hasCompleted)
    }

    @Test("cleared by the first who is told, the others are not told")
    func whileTelling() async {
        let manager = manager
        let screens = (0..<3).map { _ in manager.screen(Leaf("0")) }
        for screen in screens {
            screen.whenTold = { _ in manager.clearListenersAndCancelAllTasks() }
        }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count).reduce(0, +) == 1)
    }

    @Test("what a listener has gathered is dropped")
    func gathered() async {
        let screen = manager.screen(Leaf("0"))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        manager.resumeListener(screen)
        await clear()
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("listeners added afterwards are listeners")
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

@MainActor @Suite("Cleaning forgets listeners that are gone")
struct CleaningTests {
    private let manager = ConsistencyManager()

    private func addAndLetGo() {
        let screen = manager.screen(Page("a", 0, [Page("b")]))
        manager.pauseListener(screen)
        manager.addModelUpdatesListener(ChangeRecorder())
    }

    @Test("cleanMemory")
    func cleaning() async {
        let living = manager.screen(Leaf("l"))
        addAndLetGo()
        await manager.flush()
        #expect(await manager.worker.nodeCount == 5)
        manager.cleanMemory()
        await manager.flush()
        #expect(await manager.worker.nodeCount == 1)
        #expect(manager.board.listenerCount == 1)
        #expect(!manager.board.hasUpdatesListeners)
        manager.updateModel(Leaf("l", 1))
        await manager.flush()
        #expect(living.calls.count == 1)
    }

    @Test("by itself after each interval, also if the interval is set late; never at 0")
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
        "never, at what is no time to wait",
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

    @Test("300 seconds unless set")
    func standard() { #expect(ConsistencyManager().garbageCollectionInterval == 300) }

    @Test("from any thread")
    func anyThread() async {
        let manager = manager
        await Task.detached { manager.cleanMemory() }.value
        await manager.flush()
    }
}

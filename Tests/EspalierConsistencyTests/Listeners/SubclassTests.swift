import EspalierConsistency
import EspalierModels
import Testing

/// Records the calls of its functions.
private final class ObservedConsistency: ConsistencyManager, @unchecked Sendable {
    @MainActor var calls: [String] = []
    @MainActor private var kept: Double = 0

    override var delegate: (any ConsistencyManagerDelegate)? {
        didSet { calls.append("delegate") }
    }
    override var garbageCollectionInterval: Double {
        get { kept }
        set { kept = newValue }
    }

    override func pauseListener(_ listener: any ConsistencyManagerListener) {
        calls.append("pause")
        super.pauseListener(listener)
    }
    override func resumeListener(_ listener: any ConsistencyManagerListener) {
        calls.append("resume")
        super.resumeListener(listener)
    }
    override func isListenerPaused(_ listener: any ConsistencyManagerListener) -> Bool {
        calls.append("isPaused")
        return super.isListenerPaused(listener)
    }
    override func clearListenersAndCancelAllTasks(
        _ completion: (@MainActor @Sendable () -> Void)? = nil
    ) {
        calls.append("clear")
        super.clearListenersAndCancelAllTasks(completion)
    }
    override func addModelUpdatesListener(_ updatesListener: any ConsistencyManagerUpdatesListener)
    {
        calls.append("add")
        super.addModelUpdatesListener(updatesListener)
    }
    override func removeModelUpdatesListener(
        _ updatesListener: any ConsistencyManagerUpdatesListener
    ) {
        calls.append("remove")
        super.removeModelUpdatesListener(updatesListener)
    }
    override func cleanMemory() {
        super.cleanMemory()
        Task { @MainActor in calls.append("clean") }
    }
}

@MainActor @Suite("A manager may be subclassed")
struct SubclassTests {
    @Test("A subclass can override the functions about listeners, pauses and memory")
    func overridden() async {
        let manager = ObservedConsistency()
        let (recorder, delegate) = (ChangeRecorder(), DelegateRecorder())
        let screen = manager.screen(Leaf("0", 0))
        manager.delegate = delegate
        manager.garbageCollectionInterval = 7
        manager.addModelUpdatesListener(recorder)
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 1))
        #expect(manager.isListenerPaused(screen))
        manager.resumeListener(screen)
        await manager.flush()
        manager.removeModelUpdatesListener(recorder)
        manager.clearListenersAndCancelAllTasks()
        #expect(
            manager.calls == ["delegate", "add", "pause", "isPaused", "resume", "remove", "clear"])
        #expect(manager.garbageCollectionInterval == 7)
        #expect(screen.model as? Leaf == Leaf("0", 1) && recorder.calls.count == 1)
        manager.cleanMemory()
        for _ in 0..<100 where manager.calls.last != "clean" { await Task.yield() }
        #expect(manager.calls.last == "clean")
    }
}

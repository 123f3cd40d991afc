import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("Pausing and resuming take effect in the order of submission")
struct PausingOrderTests {
    private let manager = ConsistencyManager()

    private func value(_ screen: Screen) -> Int? { (screen.model as? Leaf)?.value }

    @Test("Pausing twice and adding again change nothing")
    func twice() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        manager.pauseListener(screen)
        manager.addListener(screen)
        #expect(manager.isListenerPaused(screen))
        manager.updateModel(Leaf("0", 2))
        await manager.flush()
        #expect(screen.calls.isEmpty)
        manager.resumeListener(screen)
        manager.resumeListener(screen)
        await manager.flush()
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.updates == [.changed(["0"])] && value(screen) == 2)
    }

    @Test("Resuming a listener that is not paused does nothing")
    func notPaused() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.resumeListener(screen)
        manager.resumeListener(Screen(nil))
        await manager.flush()
        #expect(screen.calls.isEmpty && !manager.isListenerPaused(screen))
    }

    //  main actor                       queue
    //  pause
    //  update 1
    //  resume
    //                                   update 1: recorded, though it is no longer paused
    //                                   resume: one call
    @Test("An update that was submitted before resuming is part of the recorded change")
    func updateBeforeResuming() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 1), context: "1")
        manager.updateModel(Leaf("0", 2), context: "2")
        manager.resumeListener(screen)
        manager.updateModel(Leaf("0", 3), context: "3")
        await manager.flush()
        #expect(screen.contexts == ["2", "3"] && value(screen) == 3)
    }

    //  main actor                       queue
    //  pause, update, resume, pause
    //                                   update: recorded
    //                                   resume: paused again, nothing
    //  resume
    //                                   resume: one call
    @Test("A listener that is paused again before its changes arrive continues to record")
    func pausedAnew() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 1))
        manager.resumeListener(screen)
        manager.pauseListener(screen)
        #expect(manager.isListenerPaused(screen))
        await manager.flush()
        #expect(screen.calls.isEmpty)
        manager.updateModel(Leaf("0", 2))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.count == 1 && value(screen) == 2)
    }

    @Test("A listener that is resumed, paused and resumed again gets one call")
    func thrice() async {
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 1))
        manager.resumeListener(screen)
        manager.pauseListener(screen)
        manager.updateModel(Leaf("0", 2))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(value(screen) == 2)
        #expect(screen.calls.count <= 2 && !manager.isListenerPaused(screen))
    }

    //  main actor                       queue
    //  update
    //                                   reads what is shown
    //  pause
    //                                   delivers: recorded
    @Test("A listener that is paused between lookup and delivery is not called")
    func pausedBetween() async {
        let manager = manager
        let screen = manager.screen(Leaf("0", 0))
        await manager.flush()
        screen.whenRead = {
            screen.whenRead = nil
            manager.pauseListener(screen)
        }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty && manager.isListenerPaused(screen))
        manager.resumeListener(screen)
        await manager.flush()
        #expect(value(screen) == 1)
    }

    //  main actor                       queue
    //  pause
    //  update
    //                                   reads what would be shown
    //  resume
    //                                   delivers: recorded
    //                                   resume: one call
    @Test("A listener that is resumed between lookup and delivery is called once")
    func resumedBetween() async {
        let manager = manager
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        await manager.flush()
        screen.whenRead = {
            screen.whenRead = nil
            manager.resumeListener(screen)
        }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        await manager.flush()
        #expect(screen.calls.count == 1 && value(screen) == 1)
    }

    @Test("A listener that pauses itself when it is called gets the rest when it resumes")
    func fromCall() async {
        let manager = manager
        let screen = manager.screen(Leaf("0", 0))
        screen.whenCalled = { _ in manager.pauseListener(screen) }
        for value in 1...5 { manager.updateModel(Leaf("0", value)) }
        await manager.flush()
        #expect(screen.calls.count == 1 && value(screen) == 1)
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.count == 2 && value(screen) == 5)
    }

    @Test("A listener that is paused by another one's call is not called in the same round")
    func byOther() async {
        let manager = manager
        let screens = (0..<2).map { _ in manager.screen(Leaf("0", 0)) }
        for (screen, other) in [(screens[0], screens[1]), (screens[1], screens[0])] {
            screen.whenCalled = { _ in manager.pauseListener(other) }
        }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count).sorted() == [0, 1])
        for screen in screens { manager.resumeListener(screen) }
        await manager.flush()
        #expect(screens.map(\.calls.count) == [1, 1])
    }
}

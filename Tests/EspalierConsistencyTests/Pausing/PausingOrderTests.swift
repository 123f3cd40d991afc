import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("Pausing and resuming take effect where they stand among updates")
struct PausingOrderTests {
    private let manager = ConsistencyManager()

    private func value(_ screen: Screen) -> Int? { (screen.model as? Leaf)?.value }

    @Test("pausing twice and adding anew change nothing")
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

    @Test("resuming who is not paused does nothing")
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
    //                                   update 1: gathered, though it is not paused any more
    //                                   resume: one call
    @Test("an update submitted before resuming is part of what is gathered")
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
    //                                   update: gathered
    //                                   resume: paused again, nothing
    //  resume
    //                                   resume: one call
    @Test("paused anew before the news came, it goes on gathering")
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

    @Test("resumed, paused, resumed before the queue got there: one call")
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
    //                                   asks what is shown
    //  pause
    //                                   tells: gathered
    @Test("paused between being asked and being told, it is not told")
    func pausedBetween() async {
        let manager = manager
        let screen = manager.screen(Leaf("0", 0))
        await manager.flush()
        screen.whenAsked = {
            screen.whenAsked = nil
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
    //                                   asks what would be shown
    //  resume
    //                                   tells: gathered
    //                                   resume: one call
    @Test("resumed between being asked and being told, it is told once")
    func resumedBetween() async {
        let manager = manager
        let screen = manager.screen(Leaf("0", 0))
        manager.pauseListener(screen)
        await manager.flush()
        screen.whenAsked = {
            screen.whenAsked = nil
            manager.resumeListener(screen)
        }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        await manager.flush()
        #expect(screen.calls.count == 1 && value(screen) == 1)
    }

    @Test("a listener that pauses itself when it is told hears the rest once it resumes")
    func fromCall() async {
        let manager = manager
        let screen = manager.screen(Leaf("0", 0))
        screen.whenTold = { _ in manager.pauseListener(screen) }
        for value in 1...5 { manager.updateModel(Leaf("0", value)) }
        await manager.flush()
        #expect(screen.calls.count == 1 && value(screen) == 1)
        manager.resumeListener(screen)
        await manager.flush()
        #expect(screen.calls.count == 2 && value(screen) == 5)
    }

    @Test("a listener paused by another one's call is not told in the same go")
    func byOther() async {
        let manager = manager
        let screens = (0..<2).map { _ in manager.screen(Leaf("0", 0)) }
        for (screen, other) in [(screens[0], screens[1]), (screens[1], screens[0])] {
            screen.whenTold = { _ in manager.pauseListener(other) }
        }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count).sorted() == [0, 1])
        for screen in screens { manager.resumeListener(screen) }
        await manager.flush()
        #expect(screens.map(\.calls.count) == [1, 1])
    }
}

import Dispatch
import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("Updates are applied in the order in which they were submitted")
struct OrderTests {
    private let manager = ConsistencyManager()

    @Test("A thousand updates from one thread arrive in order, large ones included")
    func oneThread() async {
        let screen = manager.screen(Page("0", 0, leaf: Leaf("l", -1)))
        for value in 0..<1_000 {
            if value % 100 == 0 {
                let pages = (1...500).map { Page("\($0)", value) }
                manager.updateModel(
                    Page("x", value, pages, leaf: Leaf("l", value)), context: "\(value)")
            } else {
                manager.updateModel(Leaf("l", value), context: "\(value)")
            }
        }
        await manager.flush()
        #expect(screen.contexts == (0..<1_000).map { "\($0)" })
    }

    @Test("Updates from several threads all arrive, those of each thread in order")
    func severalThreads() async {
        let manager = manager
        let screen = manager.screen(Shelf("s", 0, (0..<8).map { Leaf("\($0)", 0) }))
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: 8) { thread in
                    for value in 1...100 {
                        manager.updateModel(Leaf("\(thread)", value), context: "\(thread) \(value)")
                    }
                }
                continuation.resume()
            }
        }
        await manager.flush()
        for thread in 0..<8 {
            let mine = screen.contexts.compactMap { $0 }.filter { $0.hasPrefix("\(thread) ") }
            #expect(mine == (1...100).map { "\(thread) \($0)" })
        }
    }

    @Test("Updates, deletions and registrations take effect in order")
    func mixed() async {
        let first = manager.screen(Shelf("s", 0, [Leaf("a", 0)]))
        manager.updateModel(Leaf("a", 1))
        let second = manager.screen(Shelf("s", 0, [Leaf("a", 0)]))
        manager.updateModel(Leaf("a", 2))
        manager.deleteModel(Leaf("a"))
        manager.updateModel(Shelf("s", 1, [Leaf("a", 3)]))
        await manager.flush()
        #expect(first.calls.count == 4)
        #expect(second.calls.count == 3)
        #expect(
            isSame(first.model, second.model) && isSame(first.model, Shelf("s", 1, [Leaf("a", 3)])))
    }

    @Test("Updates that a listener posts follow those that were submitted before")
    func fromCall() async {
        let manager = manager
        let screen = manager.screen(Leaf("a", 0))
        screen.whenCalled = { call in
            guard let value = (call.model as? Leaf)?.value, value < 100 else { return }
            manager.updateModel(Leaf("a", value * 100))
            manager.updateModel(Leaf("a", value * 100 + 1))
        }
        manager.updateModel(Leaf("a", 1))
        manager.updateModel(Leaf("a", 2))
        await manager.flush()
        await manager.flush()
        #expect(
            screen.calls.compactMap { ($0.model as? Leaf)?.value } == [1, 2, 100, 101, 200, 201])
    }

    @Test("Flush returns after everything before it was delivered")
    func flush() async {
        let screen = manager.screen(Leaf("a", 0))
        for value in 1...50 {
            manager.updateModel(Leaf("a", value))
            await manager.flush()
            #expect(screen.calls.count == value)
        }
    }

    @Test("Listeners are called on the main actor, whatever thread posts")
    func mainActor() async {
        let manager = manager
        let screen = manager.screen(Leaf("a", 0))
        let recorder = ChangeRecorder()
        manager.addModelUpdatesListener(recorder)
        // Traps on any other thread.
        screen.whenCalled = { _ in MainActor.preconditionIsolated() }
        screen.whenRead = { MainActor.preconditionIsolated() }
        recorder.whenCalled = { MainActor.preconditionIsolated() }
        await Task.detached {
            manager.updateModel(Leaf("a", 1))
            await manager.flush()
        }.value
        #expect(screen.calls.count == 1 && recorder.calls.count == 1)
    }

    @Test("The context reaches every listener, also if it is nil")
    func contexts() async {
        let recorder = ChangeRecorder()
        let delegate = DelegateRecorder()
        manager.addModelUpdatesListener(recorder)
        manager.delegate = delegate
        let screens = [manager.screen(Leaf("a", 0)), manager.screen(Shelf("s", 0, [Leaf("a", 0)]))]
        manager.updateModel(Leaf("a", 1), context: "first")
        manager.updateModel(Leaf("a", 2))
        manager.deleteModel(Leaf("a"), context: "last")
        await manager.flush()
        for screen in screens { #expect(screen.contexts == ["first", nil, "last"]) }
        #expect(recorder.calls.map { $0.context as? String } == ["first", nil, "last"])
        #expect(
            delegate.replacements.map { $0.context as? String } == ["first", "first", nil, nil])
    }
}

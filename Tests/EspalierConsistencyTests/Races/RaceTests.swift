import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("Listeners may change during an update")
struct RaceTests {
    private let manager = ConsistencyManager()

    /// Runs `body` once, after the model of `screen` has been read.
    private func once(_ screen: Screen, _ body: @escaping @MainActor () -> Void) {
        screen.whenRead = {
            screen.whenRead = nil
            body()
        }
    }

    //  manager                          listener
    //  reads what is shown              0
    //                                   shows 2
    //  rebuilds 0
    //  reads again                      2
    //  (nothing)
    @Test("A listener that shows another model by then keeps it", arguments: [false, true])
    func otherModel(isDeletion: Bool) async {
        let screen = manager.screen(Page("0", 0, leaf: Leaf("1")))
        await manager.flush()
        once(screen) { screen.model = Page("2", 2) }
        if isDeletion { manager.deleteModel(Page("0")) } else { manager.updateModel(Page("0", 1)) }
        await manager.flush()
        #expect(screen.calls.isEmpty && (screen.model as? Page)?.value == 2)
    }

    //  manager                          listener
    //  reads what is shown              0
    //                                   shows 2, and adds itself
    //  rebuilds 0
    //  (nothing)
    //  update of 2                      called
    @Test("A listener gets the updates of a model that it shows during an update")
    func otherModelAdded() async {
        let manager = manager
        let screen = manager.screen(Leaf("0", 0))
        await manager.flush()
        once(screen) {
            screen.model = Leaf("2", 0)
            manager.addListener(screen)
            manager.updateModel(Leaf("2", 1))
        }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        await manager.flush()
        #expect(screen.model as? Leaf == Leaf("2", 1) && screen.calls.count == 1)
    }

    //  manager                          listener
    //  reads what is shown              0
    //                                   shows nothing
    //  rebuilds 0
    //  (nothing)
    @Test("A listener that shows nothing by then is not called")
    func nothing() async {
        let screen = manager.screen(Leaf("0", 0))
        await manager.flush()
        once(screen) { screen.model = nil }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty && screen.model == nil)
    }

    //  manager                          listener
    //  reads what is shown              "é" in one form
    //                                   shows "é" in another
    //  (nothing)
    @Test("A model whose identifier has other bytes is another model")
    func lookalike() async {
        let screen = manager.screen(Leaf("caf\u{E9}", 0))
        await manager.flush()
        once(screen) { screen.model = Leaf("cafe\u{301}", 5) }
        manager.updateModel(Leaf("caf\u{E9}", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    //  manager                          listeners
    //  reads                            first, second     in one go
    //  rebuilds both
    //  calls                            first, second     in one go
    @Test("All listeners are read in one step, and called in one step")
    func sameMoment() async {
        let manager = manager
        let screens: [Screen] = [
            manager.screen(Page("0", 0, leaf: Leaf("1"))), manager.screen(Leaf("1")),
            manager.screen(Leaf("1")),
        ]
        await manager.flush()
        var read = 0
        var called = 0
        var seen: [String] = []
        for screen in screens {
            screen.whenRead = {
                read += 1
                Task { @MainActor in seen.append("read \(read) called \(called)") }
            }
            screen.whenCalled = { _ in
                called += 1
                Task { @MainActor in seen.append("read \(read) called \(called)") }
            }
        }
        manager.updateModel(Leaf("1", 1))
        await manager.flush()
        for _ in 0..<10 { await Task.yield() }
        #expect(called == 3 && read == 6)
        #expect(Set(seen).isSubset(of: ["read 3 called 0", "read 6 called 3"]))
    }

    //  listener, called                 others
    //  removes the second, adds a third
    //                                   second: no longer called
    //  update                           first and third: called
    @Test("A listener may add and remove others when it is called")
    func addingAndRemoving() async {
        let manager = manager
        let screens = [manager.screen(Leaf("1", 0)), manager.screen(Leaf("1", 0))]
        let third = Screen(Leaf("1", 1))
        let first = screens.sorted { ObjectIdentifier($0) < ObjectIdentifier($1) }
        for (screen, other) in [(first[0], first[1]), (first[1], first[0])] {
            screen.whenCalled = { _ in
                screen.whenCalled = nil
                manager.removeListener(other)
                manager.addListener(third)
                manager.updateModel(Leaf("1", 2))
            }
        }
        manager.updateModel(Leaf("1", 1))
        await manager.flush()
        await manager.flush()
        #expect(first.map(\.calls.count).sorted() == [0, 2])
        #expect(third.model as? Leaf == Leaf("1", 2))
    }

    @Test("A listener that removes itself when it is called is called once")
    func removingItself() async {
        let manager = manager
        let screen = manager.screen(Leaf("1", 0))
        screen.whenCalled = { _ in manager.removeListener(screen) }
        manager.updateModel(Leaf("1", 1))
        manager.updateModel(Leaf("1", 2))
        await manager.flush()
        #expect(screen.calls.count == 1)
    }

    @Test("A listener that answers each update with another ends with the last one")
    func replies() async {
        let manager = manager
        let screens = (0..<2).map { _ in manager.screen(Leaf("1", 0)) }
        for screen in screens {
            screen.whenCalled = { call in
                guard let value = (call.model as? Leaf)?.value, value < 50 else { return }
                manager.updateModel(Leaf("1", value + 1))
            }
        }
        manager.updateModel(Leaf("1", 1))
        for _ in 0..<60 { await manager.flush() }
        #expect(screens.map { $0.model as? Leaf } == [Leaf("1", 50), Leaf("1", 50)])
    }
}

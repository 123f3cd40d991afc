import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("What listeners do while an update is under way")
struct RaceTests {
    private let manager = ConsistencyManager()

    /// Runs `body` once, when `screen` has said what it shows.
    private func once(_ screen: Screen, _ body: @escaping @MainActor () -> Void) {
        screen.whenAsked = {
            screen.whenAsked = nil
            body()
        }
    }

    //  manager                          listener
    //  asks what is shown               0
    //                                   shows 2
    //  makes 0 anew
    //  asks again                       2
    //  (nothing)
    @Test("a listener that has gone on to another model keeps it", arguments: [false, true])
    func otherModel(isDeletion: Bool) async {
        let screen = manager.screen(Page("0", 0, leaf: Leaf("1")))
        await manager.flush()
        once(screen) { screen.model = Page("2", 2) }
        if isDeletion { manager.deleteModel(Page("0")) } else { manager.updateModel(Page("0", 1)) }
        await manager.flush()
        #expect(screen.calls.isEmpty && (screen.model as? Page)?.value == 2)
    }

    //  manager                          listener
    //  asks what is shown               0
    //                                   shows 2, and adds itself
    //  makes 0 anew
    //  (nothing)
    //  update of 2                      told
    @Test("it hears of the model it has gone on to")
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
    //  asks what is shown               0
    //                                   shows nothing
    //  makes 0 anew
    //  (nothing)
    @Test("a listener that shows nothing by then is left alone")
    func nothing() async {
        let screen = manager.screen(Leaf("0", 0))
        await manager.flush()
        once(screen) { screen.model = nil }
        manager.updateModel(Leaf("0", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty && screen.model == nil)
    }

    //  manager                          listener
    //  asks what is shown               "é" in one form
    //                                   shows "é" in another
    //  (nothing)
    @Test("a model whose identifier only looks the same is another model")
    func lookalike() async {
        let screen = manager.screen(Leaf("caf\u{E9}", 0))
        await manager.flush()
        once(screen) { screen.model = Leaf("cafe\u{301}", 5) }
        manager.updateModel(Leaf("caf\u{E9}", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    //  manager                          listeners
    //  asks                             first, second     in one go
    //  makes both anew
    //  tells                            first, second     in one go
    @Test("all are asked in one go and told in one go, and nothing of the main actor comes between")
    func sameMoment() async {
        let manager = manager
        let screens: [Screen] = [
            manager.screen(Page("0", 0, leaf: Leaf("1"))), manager.screen(Leaf("1")),
            manager.screen(Leaf("1")),
        ]
        await manager.flush()
        var asked = 0
        var told = 0
        var seen: [String] = []
        for screen in screens {
            screen.whenAsked = {
                asked += 1
                Task { @MainActor in seen.append("asked \(asked) told \(told)") }
            }
            screen.whenTold = { _ in
                told += 1
                Task { @MainActor in seen.append("asked \(asked) told \(told)") }
            }
        }
        manager.updateModel(Leaf("1", 1))
        await manager.flush()
        for _ in 0..<10 { await Task.yield() }
        #expect(told == 3 && asked == 6)
        #expect(Set(seen).isSubset(of: ["asked 3 told 0", "asked 6 told 3"]))
    }

    //  listener, told                   others
    //  removes the second, adds a third
    //                                   second: not told any more
    //  update                           first and third: told
    @Test("a listener may add and remove others when it is told")
    func addingAndRemoving() async {
        let manager = manager
        let screens = [manager.screen(Leaf("1", 0)), manager.screen(Leaf("1", 0))]
        let third = Screen(Leaf("1", 1))
        let first = screens.sorted { ObjectIdentifier($0) < ObjectIdentifier($1) }
        for (screen, other) in [(first[0], first[1]), (first[1], first[0])] {
            screen.whenTold = { _ in
                screen.whenTold = nil
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

    @Test("a listener that removes itself when it is told is told once")
    func removingItself() async {
        let manager = manager
        let screen = manager.screen(Leaf("1", 0))
        screen.whenTold = { _ in manager.removeListener(screen) }
        manager.updateModel(Leaf("1", 1))
        manager.updateModel(Leaf("1", 2))
        await manager.flush()
        #expect(screen.calls.count == 1)
    }

    @Test("a listener that replies to each update with another ends with the last")
    func replies() async {
        let manager = manager
        let screens = (0..<2).map { _ in manager.screen(Leaf("1", 0)) }
        for screen in screens {
            screen.whenTold = { call in
                guard let value = (call.model as? Leaf)?.value, value < 50 else { return }
                manager.updateModel(Leaf("1", value + 1))
            }
        }
        manager.updateModel(Leaf("1", 1))
        for _ in 0..<60 { await manager.flush() }
        #expect(screens.map { $0.model as? Leaf } == [Leaf("1", 50), Leaf("1", 50)])
    }
}

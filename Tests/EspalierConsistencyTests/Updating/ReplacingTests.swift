import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("An update takes the place of the nodes of its identifier")
struct ReplacingTests {
    private let manager = ConsistencyManager()

    @Test("the whole model of a listener")
    func root() async {
        let screen = manager.screen(Page("a", 0, [Page("b")], leaf: Leaf("l")))
        manager.updateModel(Page("a", 1, leaf: Leaf("m", 4)), context: "why")
        await manager.flush()
        #expect(screen.model as? Page == Page("a", 1, leaf: Leaf("m", 4)))
        #expect(screen.contexts == ["why"])
    }

    @Test("the listener's model inside a larger one that is posted")
    func insidePosted() async {
        let screen = manager.screen(Page("a", 0))
        manager.updateModel(Page("z", 9, [Page("y", 8, [Page("a", 1, [Page("b", 2)])])]))
        await manager.flush()
        #expect(screen.model as? Page == Page("a", 1, [Page("b", 2)]))
    }

    @Test("a subtree of the listener's model, below models without identifiers, too")
    func subtree() async {
        let screen = manager.screen(
            Page("a", 0, [Page(nil, 1, [Page("b", 2, [Page("c")])]), Page("d", 4)]))
        manager.updateModel(Page("b", 3))
        await manager.flush()
        #expect(
            screen.model as? Page == Page("a", 0, [Page(nil, 1, [Page("b", 3)]), Page("d", 4)]))
        #expect(screen.updates == [.changed(["a", "b"])])
    }

    @Test("what both have in common, whatever is around it")
    func common() async {
        let screen = manager.screen(Page("a", 0, [Page("b", 1), Page("c", 2)]))
        manager.updateModel(Page("x", 9, [Page("c", 12), Page("y", 9, [Page("b", 11)])]))
        await manager.flush()
        #expect(screen.model as? Page == Page("a", 0, [Page("b", 11), Page("c", 12)]))
        #expect(screen.updates == [.changed(["a", "b", "c"])])
    }

    @Test("several nodes at once, of which one is inside the other in what is posted")
    func nested() async {
        let one = Page("1", 1)
        let screen = manager.screen(Page("0", 0, [one, Page("2", 2, [one])]))
        let newTwo = Page("2", -2)
        let newOne = Page("1", -1, [newTwo])
        manager.updateModel(Page("5", 0, [newTwo, newOne]))
        await manager.flush()
        #expect(screen.model as? Page == Page("0", 0, [newOne, newTwo]))
        #expect(screen.calls.count == 1)
    }

    @Test("nobody is called for a model that nobody shows")
    func unknown() async {
        let screen = manager.screen(Page("a", 0, [Page("b")]))
        manager.updateModel(Page("x", 0, [Page("y"), Page(nil, 3)]))
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("nobody is called for a model that is equal, be it another object")
    func equal() async {
        let make = {
            Page("a", 0, [Page("b", 1), Page(nil, 2, [Page("c", 3)])], leaf: Leaf("l", 4))
        }
        let screen = manager.screen(make())
        let shelf = manager.screen(Shelf("s", 0, [make()]))
        manager.updateModel(make())
        manager.updateModel(Page("b", 1))
        manager.updateModel(Shelf("s", 0, [make()]))
        await manager.flush()
        #expect(screen.calls.isEmpty && shelf.calls.isEmpty)
    }

    @Test("a node that is there several times is replaced everywhere")
    func repeated() async {
        let leaf = Leaf("l", 0)
        let screen = manager.screen(
            Shelf("s", 0, [leaf, Shelf(nil, 0, [leaf, leaf]), leaf], best: leaf))
        manager.updateModel(Leaf("l", 1))
        await manager.flush()
        let new = Leaf("l", 1)
        #expect(
            isSame(screen.model, Shelf("s", 0, [new, Shelf(nil, 0, [new, new]), new], best: new)))
        #expect(screen.updates == [.changed(["s", "l"])])
    }

    @Test("a model of another type leaves the one that stands there as it is")
    func otherType() async {
        let screen = manager.screen(Shelf("s", 0, [Leaf("a", 0)]))
        manager.updateModel(Page("a", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("a listener that keeps its old model gets the next update made of that")
    func ignored() async {
        let screen = manager.screen(Page("a", 0, [Page("b", 0), Page("c", 0)]))
        screen.takesOver = false
        manager.updateModel(Page("b", 1))
        await manager.flush()
        manager.updateModel(Page("c", 1))
        await manager.flush()
        #expect(screen.calls.last?.model as? Page == Page("a", 0, [Page("b", 0), Page("c", 1)]))
    }

    @Test("a listener that shows a tree it did not tell of gets the update made of that")
    func untold() async {
        let screen = manager.screen(Page("a", 0, [Page("b", 0)]))
        await manager.flush()
        screen.model = Page("a", 5, [Page("x"), Page("y", 0, [Page("b", 0)])])
        manager.updateModel(Page("b", 1))
        await manager.flush()
        #expect(screen.model as? Page == Page("a", 5, [Page("x"), Page("y", 0, [Page("b", 1)])]))
        #expect(screen.updates == [.changed(["a", "y", "b"])])
    }

    @Test(
        "the same where that tree has a node twice that the one before had once",
        arguments: [true, false])
    func untoldTwice(isBatched: Bool) async {
        let screen = Screen(Shelf("s", 0, [Leaf("a", 0), Leaf("b", 0)]))
        let batch =
            isBatched ? BatchListener(listeners: [screen], consistencyManager: manager) : nil
        if !isBatched { manager.addListener(screen) }
        await manager.flush()
        screen.model = Shelf("s", 0, [Leaf("b", 0), Leaf("b", 0)])
        manager.updateModel(Leaf("b", 1))
        await manager.flush()
        #expect(isSame(screen.model, Shelf("s", 0, [Leaf("b", 1), Leaf("b", 1)])))
        _ = batch
    }

    @Test("a listener that computes an equal model whenever it is asked is updated like others")
    func computed() async {
        let manager = manager
        let screen = Computing()
        manager.addListener(screen)
        for value in 1...3 {
            screen.isStruct.toggle()
            manager.addListener(screen)
            manager.updateModel(Leaf("l", value))
            await manager.flush()
            #expect(screen.value == value)
        }
    }

    @MainActor
    private final class Computing: ConsistencyManagerListener {
        var value = 0
        var isStruct = false
        func currentModel() -> Child? {
            isStruct ? Shelf("s", 0, [Leaf("l", value)]) : Page("s", 0, leaf: Leaf("l", value))
        }
        func modelUpdated(_ model: Child?, updates: ModelUpdates, context: Any?) {
            value =
                (model as? Page)?.leaf.value ?? ((model as? Shelf)?.items[0] as? Leaf)?.value ?? -1
        }
    }

    @Test("models whose map and forEach go different ways are updated like others")
    func backwards() async {
        let screen = manager.screen(
            Backwards(id: "s", items: [Leaf("a", 0), Shelf(nil, 0, [Leaf("b", 0)]), Leaf("c", 0)]))
        for value in 1...3 {
            manager.updateModel(
                BatchUpdateModel(models: [Leaf("a", value), Leaf("b", value * 10)]))
            await manager.flush()
            let items: [Child] = [
                Leaf("a", value), Shelf(nil, 0, [Leaf("b", value * 10)]), Leaf("c", 0),
            ]
            #expect(isSame(screen.model, Backwards(id: "s", items: items)))
        }
        #expect(screen.updates == Array(repeating: .changed(["s", "a", "b"]), count: 3))
        manager.deleteModel(Leaf("a"))
        await manager.flush()
        #expect(
            isSame(
                screen.model,
                Backwards(id: "s", items: [Shelf(nil, 0, [Leaf("b", 30)]), Leaf("c", 0)])))
    }

    @Test("what comes with an update of such a model is listened to")
    func backwardsNewChildren() async {
        let screen = manager.screen(Backwards(id: "s", items: [Shelf("a"), Leaf("b"), Leaf("c")]))
        manager.updateModel(Shelf("a", 0, [Leaf("new", 0)]))
        manager.updateModel(Leaf("new", 1))
        await manager.flush()
        #expect(screen.updates == [.changed(["s", "a"]), .changed(["s", "a", "new"])])
    }

    @Test(
        "two nodes of one identifier that say different things both say the new thing, whatever the order"
    )
    func contradictingShown() async {
        for items in [[Leaf("a", 0), Leaf("a", 1)], [Leaf("a", 1), Leaf("a", 0)]] {
            let screens: [Screen] = [
                manager.screen(Backwards(id: "s", items: items)),
                manager.screen(Shelf("t", 0, items)),
            ]
            manager.updateModel(Leaf("a", 1))
            await manager.flush()
            #expect(
                isSame(screens[0].model, Backwards(id: "s", items: [Leaf("a", 1), Leaf("a", 1)])))
            #expect(isSame(screens[1].model, Shelf("t", 0, [Leaf("a", 1), Leaf("a", 1)])))
        }
    }

    @Test("models that are equal whatever their children are updated below")
    func shallow() async {
        let screen = manager.screen(
            Shallow(id: "s", value: 0, items: [Leaf("a", 0), Leaf("b", 0)]))
        manager.updateModel(Leaf("b", 1))
        await manager.flush()
        #expect(((screen.model as? Shallow)?.items[1] as? Leaf)?.value == 1)
        // Not told of, and equal by its own account.
        screen.model = Shallow(
            id: "s", value: 0, items: [Leaf("b", 1), Leaf("a", 0), Leaf("c", 0)])
        manager.updateModel(Leaf("b", 2))
        await manager.flush()
        #expect(((screen.model as? Shallow)?.items[0] as? Leaf)?.value == 2)
    }
}

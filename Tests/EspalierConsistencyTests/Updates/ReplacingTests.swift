import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("An update replaces the nodes with its identifiers")
struct ReplacingTests {
    private let manager = ConsistencyManager()

    @Test("An update replaces the whole model of a listener")
    func root() async {
        let screen = manager.screen(Page("a", 0, [Page("b")], leaf: Leaf("l")))
        manager.updateModel(Page("a", 1, leaf: Leaf("m", 4)), context: "why")
        await manager.flush()
        #expect(screen.model as? Page == Page("a", 1, leaf: Leaf("m", 4)))
        #expect(screen.contexts == ["why"])
    }

    @Test("An update replaces the listener's model by its version inside a larger posted model")
    func insidePosted() async {
        let screen = manager.screen(Page("a", 0))
        manager.updateModel(Page("z", 9, [Page("y", 8, [Page("a", 1, [Page("b", 2)])])]))
        await manager.flush()
        #expect(screen.model as? Page == Page("a", 1, [Page("b", 2)]))
    }

    @Test("An update replaces a subtree, also below models without identifiers")
    func subtree() async {
        let screen = manager.screen(
            Page("a", 0, [Page(nil, 1, [Page("b", 2, [Page("c")])]), Page("d", 4)]))
        manager.updateModel(Page("b", 3))
        await manager.flush()
        #expect(
            screen.model as? Page == Page("a", 0, [Page(nil, 1, [Page("b", 3)]), Page("d", 4)]))
        #expect(screen.updates == [.changed(["a", "b"])])
    }

    @Test("An update replaces what both trees share, whatever surrounds it")
    func common() async {
        let screen = manager.screen(Page("a", 0, [Page("b", 1), Page("c", 2)]))
        manager.updateModel(Page("x", 9, [Page("c", 12), Page("y", 9, [Page("b", 11)])]))
        await manager.flush()
        #expect(screen.model as? Page == Page("a", 0, [Page("b", 11), Page("c", 12)]))
        #expect(screen.updates == [.changed(["a", "b", "c"])])
    }

    @Test("An update replaces several nodes, even if the posted one contains the other")
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

    @Test("No listener is called for a model that none shows")
    func unknown() async {
        let screen = manager.screen(Page("a", 0, [Page("b")]))
        manager.updateModel(Page("x", 0, [Page("y"), Page(nil, 3)]))
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("No listener is called for an equal model, even if it is another object")
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

    @Test("An update replaces a node in all its places")
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

    @Test("A model of another type does not replace a node")
    func otherType() async {
        let screen = manager.screen(Shelf("s", 0, [Leaf("a", 0)]))
        manager.updateModel(Page("a", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("A listener that keeps its old model gets the next update applied to that model")
    func ignored() async {
        let screen = manager.screen(Page("a", 0, [Page("b", 0), Page("c", 0)]))
        screen.showsUpdates = false
        manager.updateModel(Page("b", 1))
        await manager.flush()
        manager.updateModel(Page("c", 1))
        await manager.flush()
        #expect(screen.calls.last?.model as? Page == Page("a", 0, [Page("b", 0), Page("c", 1)]))
    }

    @Test("A listener gets an update applied to a tree that it did not register")
    func unregistered() async {
        let screen = manager.screen(Page("a", 0, [Page("b", 0)]))
        await manager.flush()
        screen.model = Page("a", 5, [Page("x"), Page("y", 0, [Page("b", 0)])])
        manager.updateModel(Page("b", 1))
        await manager.flush()
        #expect(screen.model as? Page == Page("a", 5, [Page("x"), Page("y", 0, [Page("b", 1)])]))
        #expect(screen.updates == [.changed(["a", "y", "b"])])
    }

    @Test(
        "An update applies to an unregistered tree that contains a node twice",
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

    @Test("A listener that returns an equal copy at each call is updated")
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

    @Test("Models whose map and forEach differ in order are updated")
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

    @Test("Children of models whose map and forEach differ in order are updated later")
    func backwardsNewChildren() async {
        let screen = manager.screen(Backwards(id: "s", items: [Shelf("a"), Leaf("b"), Leaf("c")]))
        manager.updateModel(Shelf("a", 0, [Leaf("new", 0)]))
        manager.updateModel(Leaf("new", 1))
        await manager.flush()
        #expect(screen.updates == [.changed(["s", "a"]), .changed(["s", "a", "new"])])
    }

    @Test("Contradicting nodes with one identifier are both replaced, in any order of children")
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

    @Test("Models that are equal despite different children are updated below")
    func shallow() async {
        let screen = manager.screen(
            Shallow(id: "s", value: 0, items: [Leaf("a", 0), Leaf("b", 0)]))
        manager.updateModel(Leaf("b", 1))
        await manager.flush()
        #expect(((screen.model as? Shallow)?.items[1] as? Leaf)?.value == 1)
        // Not registered, and equal by its own `isEqual`.
        screen.model = Shallow(
            id: "s", value: 0, items: [Leaf("b", 1), Leaf("a", 0), Leaf("c", 0)])
        manager.updateModel(Leaf("b", 2))
        await manager.flush()
        #expect(((screen.model as? Shallow)?.items[0] as? Leaf)?.value == 2)
    }
}

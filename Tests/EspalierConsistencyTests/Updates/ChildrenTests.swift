import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("The manager listens to new children, and no longer to removed ones")
struct ChildrenTests {
    private let manager = ConsistencyManager()
    private let leaf = Leaf("100", 100)

    @Test("A child that arrived with an update is updated by the next one")
    func newChild() async {
        let screen = manager.screen(Page("0", 0, [Page("1", 1, leaf: leaf)], leaf: leaf))
        manager.updateModel(
            Page("5", 0, [Page("1", 1, [Page("2", 2, leaf: leaf)], leaf: leaf)], leaf: leaf))
        let newChild = Page("2", -2, [Page("200", 200, leaf: Leaf("101"))], leaf: Leaf("101"))
        manager.updateModel(newChild)
        await manager.flush()
        #expect(
            screen.model as? Page
                == Page("0", 0, [Page("1", 1, [newChild], leaf: leaf)], leaf: leaf))
        manager.updateModel(Page("200", 201))
        await manager.flush()
        #expect(screen.updates.last == .changed(["0", "1", "2", "200"]))
    }

    @Test("The children of a child that arrived with an update are updated")
    func newGrandchildren() async {
        let screen = manager.screen(Page("0", 0, [Page("2", 0, [Page("4", leaf: Leaf("6"))])]))
        manager.updateModel(Page("2", 0, [Page("7", leaf: Leaf("8"))]))
        manager.updateModel(Page("7", 2, leaf: Leaf("8", 4)))
        await manager.flush()
        #expect(screen.updates == [.changed(["0", "2"]), .changed(["0", "2", "7", "8"])])
    }

    @Test("A child that left the tree causes no calls until it is back")
    func removedChild() async {
        let screen = manager.screen(Page("0", 0, [Page("1", 1, [Page("2", 2)])]))
        manager.updateModel(Page("1", 1, [Page("3", 3)]))
        await manager.flush()
        _ = screen.removeCalls()
        manager.updateModel(Page("2", -2, [Page("200", 200)]))
        await manager.flush()
        #expect(screen.calls.isEmpty)
        manager.updateModel(Page("1", 1, [Page("2", 2)]))
        manager.updateModel(Page("2", -3))
        await manager.flush()
        #expect(screen.model as? Page == Page("0", 0, [Page("1", 1, [Page("2", -3)])]))
    }

    @Test("A child that left one listener's tree is still updated in another's")
    func otherListener() async {
        let child = Leaf("c", 0)
        let screens = [
            manager.screen(Shelf("a", 0, [child])), manager.screen(Shelf("b", 0, [child])),
        ]
        manager.updateModel(Shelf("a", 1))
        manager.updateModel(Leaf("c", 1))
        await manager.flush()
        #expect(screens.map(\.updates) == [[.changed(["a"])], [.changed(["b", "c"])]])
    }

    @Test("The children of a new root are updated")
    func newRoot() async {
        let screen = manager.screen(Page("0", 0))
        manager.updateModel(Page("0", 1, [Page("1")]))
        manager.updateModel(Page("1", 2))
        manager.deleteModel(Page("1"))
        await manager.flush()
        #expect(
            screen.updates == [
                .changed(["0"]), .changed(["0", "1"]), .changed(["0"], deleted: ["1"]),
            ])
    }

    @Test("A listener whose model was deleted gets no calls until it shows something again")
    func afterDeletion() async {
        let screen = manager.screen(Page("0", 0, [Page("1")]))
        manager.deleteModel(Page("0"))
        manager.updateModel(Page("0", 1))
        await manager.flush()
        #expect(screen.model == nil && screen.calls.count == 1)
        screen.model = Page("0", 1)
        manager.addListener(screen)
        manager.updateModel(Page("0", 2))
        await manager.flush()
        #expect(screen.model as? Page == Page("0", 2))
    }
}

import EspalierConsistency
import EspalierModels
import Testing

@MainActor
@Suite("An update calls map once for each node on the path to a change, and for no other")
struct MapCountTests {
    private let manager = ConsistencyManager()
    private let counter = CallCounter()

    private func node(
        _ name: String, _ value: Int = 0, _ items: [Child] = [], isInline: Bool = false
    ) -> Counted {
        Counted(name: name, id: isInline ? nil : name, value: value, items: items, counter: counter)
    }

    /// root ( a ( b c ) inline ( d e ( f ) ) g )
    private var tree: Counted {
        node(
            "root", 0,
            [
                node("a", 0, [node("b"), node("c")]),
                node("inline", 0, [node("d"), node("e", 0, [node("f")])], isInline: true),
                node("g"),
            ])
    }

    @Test("An update of one node maps its ancestors once, including inline ones")
    func oneChange() async {
        let screen = manager.screen(tree)
        manager.updateModel(node("f", 1))
        await manager.flush()
        #expect(
            counter.removeCounts() == ["root": 1, "inline": 1, "e": 1] && screen.calls.count == 1)
        manager.deleteModel(node("b"))
        await manager.flush()
        #expect(counter.removeCounts() == ["root": 1, "a": 1] && screen.calls.count == 2)
    }

    @Test("An update of several nodes maps each ancestor once")
    func severalChanges() async {
        let screen = manager.screen(tree)
        manager.updateModel(
            BatchUpdateModel(models: [node("b", 1), node("c", 1), node("f", 1), node("g", 0)]))
        await manager.flush()
        #expect(
            counter.removeCounts() == ["root": 1, "a": 1, "inline": 1, "e": 1]
                && screen.calls.count == 1)
    }

    @Test("Replacing a node maps its ancestors, but nothing inside the old or the new node")
    func replaced() async {
        let screen = manager.screen(tree)
        manager.updateModel(node("a", 1, [node("b", 2), node("new", 0, [node("newer")])]))
        await manager.flush()
        #expect(counter.removeCounts() == ["root": 1] && screen.calls.count == 1)
        manager.updateModel(node("root", 1))
        await manager.flush()
        #expect(counter.removeCounts() == [:])
    }

    @Test("Equal trees, and models that no listener shows, map nothing")
    func equal() async {
        let screen = manager.screen(tree)
        manager.updateModel(tree)
        manager.updateModel(node("a", 0, [node("b"), node("c")]))
        manager.updateModel(node("nowhere", 0, [node("nowhere else"), node("d")]))
        manager.deleteModel(node("nowhere"))
        await manager.flush()
        #expect(counter.removeCounts() == [:] && screen.calls.isEmpty)
    }

    @Test("A listener that returns a new but equal tree costs no more calls of map")
    func madeAnew() async {
        let screen = manager.screen(tree)
        screen.whenRead = { [self] in screen.model = screen.calls.isEmpty ? tree : screen.model }
        manager.updateModel(node("f", 1))
        await manager.flush()
        #expect(counter.removeCounts() == ["root": 1, "inline": 1, "e": 1])
    }

    @Test("Several listeners map the paths of their own trees only, batches by place")
    func listeners() async {
        let screens = [
            manager.screen(tree), manager.screen(node("other", 0, [node("x"), node("g")])),
        ]
        let batched = manager.screen(BatchUpdateModel(models: [tree, node("y")]))
        manager.updateModel(node("g", 1))
        await manager.flush()
        #expect(counter.removeCounts() == ["root": 2, "other": 1])
        #expect(screens.map(\.calls.count) == [1, 1] && batched.calls.count == 1)
    }

    @Test("Paused listeners map as often as others, and resuming maps nothing")
    func paused() async {
        let screen = manager.screen(tree)
        manager.pauseListener(screen)
        manager.updateModel(node("f", 1))
        await manager.flush()
        #expect(counter.removeCounts() == ["root": 1, "inline": 1, "e": 1])
        manager.resumeListener(screen)
        await manager.flush()
        #expect(counter.removeCounts() == [:] && screen.calls.count == 1)
    }
}

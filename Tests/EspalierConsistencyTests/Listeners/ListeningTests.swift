import EspalierModels
import Testing

@testable import EspalierConsistency

@MainActor @Suite("A listener is registered for every identifier in its tree")
struct ListeningTests {
    private let manager = ConsistencyManager()

    /// Returns a tree of three levels with an identifier wherever `hasIdentifier` has a bit;
    /// identifiers are paths from the root.
    private func tree(_ hasIdentifier: (String) -> Bool, depth: Int = 3, _ name: String = "0")
        -> Page
    {
        let children =
            depth == 0
            ? [] : ["1", "2"].map { tree(hasIdentifier, depth: depth - 1, "\(name).\($0)") }
        let leaf = "\(name).leaf"
        return Page(
            hasIdentifier(name) ? name : nil, 1, children,
            leaf: Leaf(hasIdentifier(leaf) ? leaf : nil, 1))
    }

    private func identifiers(in model: Child) -> [String] {
        var result = [model.modelIdentifier].compactMap { $0 }
        model.forEach { result += identifiers(in: $0) }
        return result
    }

    @Test("Each leaf with an identifier is updated, also below nodes without identifiers")
    func partialIdentifiers() async {
        let rules: [(String) -> Bool] = [
            { _ in true }, { $0 != "0" }, { $0.hasSuffix("leaf") }, { $0.count % 3 == 2 },
            { $0.hasSuffix("2") },
        ]
        for rule in rules {
            let tree = tree(rule)
            let screen = manager.screen(tree)
            let leaves = identifiers(in: tree).filter { $0.hasSuffix("leaf") }
            for leaf in leaves {
                manager.updateModel(Leaf(leaf, 2))
                await manager.flush()
                let named = screen.removeCalls().map(\.updates)
                // The leaf, and its ancestors that have identifiers.
                let way = identifiers(in: tree).filter {
                    leaf == "\($0).leaf" || leaf.hasPrefix("\($0).") || $0 == leaf
                }
                #expect(named == [.changed(Set(way))])
            }
            manager.removeListener(screen)
        }
    }

    @Test("A tree without identifiers is never mapped")
    func noIdentifiers() async {
        let screen = manager.screen(tree { _ in false })
        manager.updateModel(tree { _ in true })
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("A listener that is added many times is called once for each update")
    func addedOften() async {
        let screen = Screen(Page("a", 1, leaf: Leaf("b", 1)))
        for _ in 0..<10 { manager.addListener(screen) }
        manager.updateModel(Leaf("b", 2))
        await manager.flush()
        #expect(screen.updates == [.changed(["a", "b"])])
        #expect(await manager.worker.nodeCount == 2)
        #expect(await manager.worker.listenerCount == 1)
    }

    @Test("A listener that shows nothing is registered once it shows something")
    func nothing() async {
        let screen = manager.screen(nil)
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        #expect(screen.calls.isEmpty)
        screen.model = Leaf("a", 1)
        manager.addListener(screen)
        manager.updateModel(Leaf("a", 2))
        await manager.flush()
        #expect(screen.model as? Leaf == Leaf("a", 2))
    }

    @Test("Listeners of the same or different models each get their own updates")
    func several() async {
        let screens = [Leaf("a", 0), Leaf("a", 0), Leaf("b", 0)].map { manager.screen($0) }
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [1, 1, 0])
        manager.updateModel(Leaf("b", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [1, 1, 1])
    }

    @Test("A new subtree can be added on its own")
    func parts() async {
        let screen = manager.screen(Shelf("s", 0, [Leaf("a", 0)]))
        let added = Leaf("b", 0)
        screen.model = Shelf("s", 0, [Leaf("a", 0), added])
        manager.addListener(screen, to: added)
        manager.updateModel(Leaf("b", 1))
        await manager.flush()
        #expect(screen.updates == [.changed(["s", "b"])])
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        #expect(isSame(screen.model, Shelf("s", 0, [Leaf("a", 1), Leaf("b", 1)])))
    }

    @Test("A listener that adds many subtrees does not grow the index without bound")
    func manyParts() async {
        let screen = manager.screen(Shelf("s", 0, [Leaf("a", 0)]))
        for value in 0..<1_000 { manager.addListener(screen, to: Leaf("part", value)) }
        await manager.flush()
        #expect(await manager.worker.nodeCount < 50)
    }

    @Test("A listener can be added for a subtree before its tree is added")
    func onlyPart() async {
        let screen = Screen(Shelf("s", 0, [Leaf("a", 0)]))
        manager.addListener(screen, to: Leaf("a", 0))
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        #expect(screen.updates == [.changed(["s", "a"])])
    }

    @Test("Identifiers with equal text but different bytes are different models")
    func normalisation() async {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let screens = [manager.screen(Leaf(composed, 0)), manager.screen(Leaf(decomposed, 0))]
        manager.updateModel(Leaf(decomposed, 1))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [0, 1])
        manager.deleteModel(Leaf(composed))
        await manager.flush()
        #expect(screens.map { $0.model == nil } == [true, false])
    }

    @Test("An empty identifier is an identifier")
    func emptyIdentifier() async {
        let screen = manager.screen(Shelf("", 0, [Leaf("", 1), Leaf(nil, 5)]))
        manager.updateModel(Shelf("", 1))
        await manager.flush()
        #expect(isSame(screen.model, Shelf("", 1)))
    }
}

import EspalierModels
import Testing

@testable import EspalierConsistency

@MainActor @Suite("A listener is registered for every identifier in its tree")
struct ListeningTests {
    private let manager = ConsistencyManager()

    /// Three levels, with an identifier wherever `hasIdentifier` says so; named by the way from the
    /// root.
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

    @Test("each leaf with an identifier is reached, wherever above it identifiers are missing")
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
                let named = screen.takeCalls().map(\.updates)
                // The leaf and those above it that have identifiers.
                let way = identifiers(in: tree).filter {
                    leaf == "\($0).leaf" || leaf.hasPrefix("\($0).") || $0 == leaf
                }
                #expect(named == [.changed(Set(way))])
            }
            manager.removeListener(screen)
        }
    }

    @Test("a tree without any identifier is never touched")
    func noIdentifiers() async {
        let screen = manager.screen(tree { _ in false })
        manager.updateModel(tree { _ in true })
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("adding a listener many times calls it once for an update")
    func addedOften() async {
        let screen = Screen(Page("a", 1, leaf: Leaf("b", 1)))
        for _ in 0..<10 { manager.addListener(screen) }
        manager.updateModel(Leaf("b", 2))
        await manager.flush()
        #expect(screen.updates == [.changed(["a", "b"])])
        #expect(await manager.worker.nodeCount == 2)
        #expect(await manager.worker.listenerCount == 1)
    }

    @Test("a listener that shows nothing is not registered, and is once it shows something")
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

    @Test("several listeners of one model, and of different ones, each hear of their own")
    func several() async {
        let screens = [Leaf("a", 0), Leaf("a", 0), Leaf("b", 0)].map { manager.screen($0) }
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [1, 1, 0])
        manager.updateModel(Leaf("b", 1))
        await manager.flush()
        #expect(screens.map(\.calls.count) == [1, 1, 1])
    }

    @Test("a part that has come to what is shown can be added alone")
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

    @Test("a listener that adds part after part is not indexed more and more")
    func manyParts() async {
        let screen = manager.screen(Shelf("s", 0, [Leaf("a", 0)]))
        for value in 0..<1_000 { manager.addListener(screen, to: Leaf("part", value)) }
        await manager.flush()
        #expect(await manager.worker.nodeCount < 50)
    }

    @Test("a listener can be added to a part before anything else")
    func onlyPart() async {
        let screen = Screen(Shelf("s", 0, [Leaf("a", 0)]))
        manager.addListener(screen, to: Leaf("a", 0))
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        #expect(screen.updates == [.changed(["s", "a"])])
    }

    @Test("identifiers that only look alike are two models")
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

    @Test("an empty identifier is one, too")
    func emptyIdentifier() async {
        let screen = manager.screen(Shelf("", 0, [Leaf("", 1), Leaf(nil, 5)]))
        manager.updateModel(Shelf("", 1))
        await manager.flush()
        #expect(isSame(screen.model, Shelf("", 1)))
    }
}

import EspalierModels
import Testing

@testable import EspalierConsistency

@MainActor @Suite("Large trees are updated correctly")
struct LargeTreeTests {
    private let manager = ConsistencyManager()

    @Test("Each of 10,000 children is found, and an update maps their parent once")
    func wide() async {
        let counter = CallCounter()
        let children = (0..<10_000).map { Counted(name: "child", id: "\($0)", counter: counter) }
        let screen = manager.screen(
            Counted(name: "root", id: "root", items: children, counter: counter))
        let clock = ContinuousClock()
        await manager.flush()
        let begin = clock.now
        for value in 1...20 {
            manager.updateModel(
                Counted(name: "child", id: "\(value * 400)", value: value, counter: counter))
        }
        await manager.flush()
        #expect(counter.removeCounts() == ["root": 20] && screen.calls.count == 20)
        #expect(begin.duration(to: clock.now) < .seconds(60))
        manager.deleteModel(Leaf("9999"))
        await manager.flush()
        #expect((screen.model as? Counted)?.items.count == 9_999)
        #expect(await manager.worker.violations() == [])
    }

    @Test("An update of 10,000 children makes one call, which names them all")
    func wideChange() async {
        let screen = manager.screen(Shelf(nil, 0, (0..<10_000).map { Leaf("\($0)", 0) }))
        manager.updateModel(BatchUpdateModel(models: (0..<10_000).map { Leaf("\($0)", 1) }))
        await manager.flush()
        #expect(screen.calls.count == 1)
        #expect(screen.updates.first?.changedModelIds.count == 10_000)
    }

    /// Returns a chain of shelves, the last with a leaf.
    private func chain(_ depth: Int, leaf: Leaf) -> Child {
        (0..<depth).reversed().reduce(leaf as Child) { Shelf("\($1)", 0, [$0]) }
    }

    @Test(
        "A tree of 1,000 levels can be updated and deleted at the bottom, and replaced at the top")
    func deep() async {
        let screen = manager.screen(chain(1_000, leaf: Leaf("leaf", 0)))
        manager.updateModel(Leaf("leaf", 1))
        await manager.flush()
        #expect(screen.updates.first?.changedModelIds.count == 1_001)
        manager.updateModel(chain(1_000, leaf: Leaf("leaf", 2)))
        await manager.flush()
        #expect(screen.updates.last?.changedModelIds.count == 1_001)
        manager.deleteModel(Leaf("leaf"))
        await manager.flush()
        #expect(screen.calls.count == 3)
        #expect(screen.updates.last?.deletedModelIds == ["leaf"])
        #expect(await manager.worker.nodeCount == 1_000)
    }

    @Test("A deletion cascades through 1,000 levels of models that require their child")
    func deepCascade() async {
        let tree = (0..<1_000).reversed().reduce(Herb(PlantContent(id: "leaf"))) {
            Herb(PlantContent(id: "\($1)", need: $0))
        }
        let screen = manager.screen(tree)
        manager.deleteModel(Leaf("leaf"))
        await manager.flush()
        #expect(screen.model == nil && screen.updates.first?.deletedModelIds.count == 1_001)
    }

    @Test("All of 1,000 listeners of one node are notified")
    func manyListeners() async {
        let screens = (0..<1_000).map { manager.screen(Shelf("\($0)", 0, [Leaf("shared", 0)])) }
        manager.updateModel(Leaf("shared", 1))
        await manager.flush()
        #expect(screens.count { $0.calls.count == 1 } == 1_000)
    }
}

import EspalierConsistency
import EspalierModels
import Testing

struct Leaf: ConsistencyManagerModel, Equatable {
    let id: String
    let value: Int
    var modelIdentifier: String? { id }
    func map(_ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?)
        -> (any ConsistencyManagerModel)?
    { self }
    func forEach(_ visit: (any ConsistencyManagerModel) -> Void) {}
}
struct Tree: ConsistencyManagerModel, Equatable {
    let id: String?
    let children: [Leaf]
    var modelIdentifier: String? { id }
    func map(_ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?)
        -> (any ConsistencyManagerModel)?
    { Tree(id: id, children: children.compactMap { transform($0) as? Leaf }) }
    func forEach(_ visit: (any ConsistencyManagerModel) -> Void) { children.forEach(visit) }
}
@MainActor final class Screen: ConsistencyManagerListener {
    var model: (any ConsistencyManagerModel)?
    var calls: [ModelUpdates] = []
    init(_ model: any ConsistencyManagerModel) { self.model = model }
    func currentModel() -> (any ConsistencyManagerModel)? { model }
    func modelUpdated(_ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?) {
        self.model = model
        calls.append(updates)
    }
}
@MainActor @Suite("consistency") struct FirstTests {
    @Test("an update reaches a tree") func update() async {
        let manager = ConsistencyManager()
        let screen = Screen(Tree(id: "t", children: [Leaf(id: "a", value: 1), Leaf(id: "b", value: 1)]))
        manager.addListener(screen)
        manager.updateModel(Leaf(id: "b", value: 2))
        manager.updateModel(Leaf(id: "b", value: 2))
        manager.deleteModel(Leaf(id: "a", value: 2))
        await manager.flush()
        #expect(screen.model as? Tree == Tree(id: "t", children: [Leaf(id: "b", value: 2)]))
        #expect(
            screen.calls == [
                ModelUpdates(changedModelIds: ["t", "b"]),
                ModelUpdates(changedModelIds: ["t"], deletedModelIds: ["a"]),
            ])
    }
}

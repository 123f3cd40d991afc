import EspalierModels
import Testing

@testable import EspalierConsistency

/// Shows a tree with a revision, and records the trees that it gets.
@MainActor
private final class Tree: TreeListener {
    private(set) var base: ListenerBase?
    private(set) var deliveries: [Delivery] = []
    var whenRead: (@MainActor () -> Void)?

    func show(_ model: Child) { base = ListenerBase(model: model, revision: ChangeTime()) }

    func currentModel() -> Child? {
        whenRead?()
        return base?.model
    }

    func modelUpdated(_ model: Child?, updates: ModelUpdates, context: Any?) {}

    func apply(_ delivery: Delivery) {
        guard delivery.base.revision == nil || delivery.base.revision == base?.revision else {
            return
        }
        deliveries.append(delivery)
        base = delivery.model.map { ListenerBase(model: $0, revision: delivery.revision) }
    }

    var contexts: [String?] { deliveries.map { $0.context as? String } }
}

@MainActor @Suite("Missed updates are delivered before later ones")
struct CatchingUpTests {
    private let manager = ConsistencyManager()
    private let tree = Tree()
    private let fetch = ChangeTime()

    private static func shelf(_ values: Int...) -> Shelf {
        Shelf("s", 0, zip(["a", "b", "c"], values).map { Leaf($0, $1) })
    }

    private func begin() async {
        tree.show(Self.shelf(0))
        manager.register(tree, since: nil)
        manager.beginFetch(fetch)
    }

    private func show(_ shelf: Shelf) {
        tree.show(shelf)
        manager.register(tree, since: fetch)
    }

    private func end() async {
        manager.endFetch(fetch)
        await manager.flush()
    }

    //  main actor                       queue
    //  calls the cache                  fetch begins
    //  update 1: a, b                   not shown: kept
    //  update 2: a
    //  shows the requested tree
    //                                   update 2: not delivered, though the tree before had an a
    //                                   catches up: update 1, update 2
    @Test(
        "An update in the queue is delivered after the missed ones",
        arguments: [false, true])
    func order(isPaused: Bool) async {
        await begin()
        if isPaused { manager.pauseListener(tree) }
        tree.show(Shelf("other"))
        manager.register(tree, since: nil)
        manager.updateModel(BatchUpdateModel(models: [Leaf("a", 1), Leaf("b", 1)]), context: "1")
        await manager.flush()
        tree.show(Self.shelf(0))
        manager.register(tree, since: nil)
        await manager.flush()
        manager.updateModel(Leaf("a", 2), context: "2")
        show(Self.shelf(0, 0))
        manager.updateModel(Leaf("b", 3), context: "3")
        if isPaused {
            #expect(tree.deliveries.isEmpty)
            manager.resumeListener(tree)
        }
        await end()
        #expect(isSame(tree.base?.model, Self.shelf(2, 3)))
        #expect(tree.contexts == (isPaused ? ["3"] : ["1", "2", "3"]))
        #expect(tree.deliveries.map(\.time) == tree.deliveries.map(\.time).sorted())
    }

    //  main actor                       queue
    //                                   update 2: reads what is shown
    //  shows the requested tree
    //                                   update 2: delivered, and ignored
    //                                   catches up: update 1, update 2
    @Test("An update in progress is delivered after the missed ones")
    func underWay() async {
        let screen = Screen(Self.shelf(0))
        manager.addListener(screen)
        manager.beginFetch(fetch)
        manager.updateModel(Leaf("b", 1), context: "1")
        await manager.flush()
        screen.whenRead = {
            screen.whenRead = nil
            Task {
                screen.model = Self.shelf(0, 0)
                manager.register(screen, since: fetch)
            }
        }
        manager.updateModel(Leaf("a", 2), context: "2")
        await manager.flush()
        await end()
        #expect(isSame(screen.model, Self.shelf(2, 1)))
        #expect(screen.contexts == ["1", "2"])
    }

    //  main actor                       queue
    //  shows the tree requested first
    //  shows the tree requested later
    //                                   catches up with the first: no longer shown
    //                                   catches up with the later one
    @Test("Of two requested trees, the one that is shown catches up")
    func twoFetches() async {
        await begin()
        manager.updateModel(Leaf("a", 1), context: "1")
        await manager.flush()
        let later = ChangeTime()
        manager.beginFetch(later)
        manager.updateModel(Leaf("a", 2), context: "2")
        show(Self.shelf(0))
        tree.show(Self.shelf(1, 1))
        manager.register(tree, since: later)
        manager.endFetch(later)
        await end()
        #expect(isSame(tree.base?.model, Self.shelf(2, 1)))
        #expect(tree.contexts.last == "2" && tree.contexts.filter { $0 == "2" }.count == 1)
    }

    @Test("A waiting listener that is removed or cleared gets nothing, and can be added again")
    func removed() async {
        for isCleared in [false, true] {
            let tree = Tree()
            tree.show(Self.shelf(0))
            manager.beginFetch(fetch)
            manager.updateModel(Leaf("a", 1))
            await manager.flush()
            manager.register(tree, since: fetch)
            if isCleared {
                manager.clearListenersAndCancelAllTasks()
            } else {
                manager.removeListener(tree)
            }
            await end()
            #expect(tree.deliveries.isEmpty)
            manager.addListener(tree)
            manager.updateModel(Leaf("a", 2))
            await manager.flush()
            #expect(isSame(tree.base?.model, Self.shelf(2)))
        }
    }

    @Test(
        "A tree with a revision but without identifier is updated although it is shown while paused"
    )
    func pausedUnnamed() async {
        tree.show(Shelf(nil, 1, [Leaf("a", 0)]))
        manager.register(tree, since: nil)
        manager.pauseListener(tree)
        manager.updateModel(Leaf("a", 1))
        await manager.flush()
        tree.show(Shelf(nil, 2, [Leaf("b", 0)]))
        manager.register(tree, since: nil)
        manager.updateModel(Leaf("b", 1))
        await manager.flush()
        #expect(tree.deliveries.isEmpty)
        manager.resumeListener(tree)
        await manager.flush()
        #expect(isSame(tree.base?.model, Shelf(nil, 2, [Leaf("b", 1)])))
    }
}

import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("A posted tree may contradict itself")
struct ContradictionTests {
    private let manager = ConsistencyManager()

    @Test("The first version of a projection in pre-order counts everywhere in the posted tree")
    func firstCounts() async {
        let screens: [Screen] = [
            manager.screen(Leaf("x", 0)), manager.screen(Shelf("s", 0, [Leaf("x", 0)])),
            manager.screen(Shelf("p", 0)), manager.screen(Shelf("q", 0)),
        ]
        manager.updateModel(Shelf("p", 1, [Leaf("x", 1), Shelf("q", 1, [Leaf("x", 2)])]))
        await manager.flush()
        #expect(screens[0].model as? Leaf == Leaf("x", 1))
        #expect(isSame(screens[1].model, Shelf("s", 0, [Leaf("x", 1)])))
        #expect(
            isSame(screens[2].model, Shelf("p", 1, [Leaf("x", 1), Shelf("q", 1, [Leaf("x", 1)])])))
        #expect(isSame(screens[3].model, Shelf("q", 1, [Leaf("x", 1)])))
    }

    @Test("A parent precedes its children in this order, also a child with its own identifier")
    func preOrder() async {
        let screen = manager.screen(Shelf("q", 0))
        manager.updateModel(
            Shelf("p", 0, [Shelf(nil, 0, [Shelf("q", 1, [Shelf("q", 2)])]), Shelf("q", 3)]))
        await manager.flush()
        #expect((screen.model as? Shelf)?.value == 1)
    }

    @Test("Nodes inside themselves can be posted, shown and deleted")
    func insideThemselves() async {
        let loop = Shelf("x", 1, [Shelf("y", 1, [Shelf("x", 2, [Shelf("y", 3)])])])
        let screens: [Screen] = [
            manager.screen(loop), manager.screen(Shelf("y", 0, [Shelf("x", 0)])),
            manager.screen(Shelf("x", 0)),
        ]
        manager.updateModel(loop)
        manager.updateModel(Shelf("y", 7))
        manager.updateModel(Shelf("x", 8, [Shelf("x", 9)]))
        await manager.flush()
        #expect((screens[2].model as? Shelf)?.value == 8)
        manager.deleteModel(Leaf("y"))
        await manager.flush()
        #expect(screens[1].model == nil)
        manager.deleteModel(Leaf("x"))
        await manager.flush()
        #expect(screens.map { $0.model == nil } == [true, true, true])
    }

    @Test("Projections that contradict each other about a field end with the same value everywhere")
    func projections() async {
        let screens: [Screen] = [
            manager.screen(Profile(.both, "1", data: 0, otherData: 0)),
            manager.screen(Profile(.both, "0", child: Profile(.both, "1", data: 0, otherData: 0))),
        ]
        let posted = Profile(
            .both, "0", child: Profile(.both, "1", data: 5, otherData: 5),
            otherChild: Profile(.data, "1", data: 3))
        manager.updateModel(posted)
        await manager.flush()
        let one = Profile(.both, "1", data: 3, otherData: 5)
        #expect(screens[0].model as? Profile == one)
        #expect((screens[1].model as? Profile)?.child == one)
    }

    @Test("A small tree that expands without bound is posted as it is, and in little time")
    func doubling() async {
        // The version of each number that counts is the first one, which contains the next number
        // twice.
        let doubled: [Child] = (0..<60).reversed().map { number in
            Shelf("\(number)", 1, [Shelf("\(number + 1)", 0), Shelf("\(number + 1)", 0)])
        }
        let screen = manager.screen(Shelf("0", 0))
        manager.updateModel(Shelf("all", 0, doubled))
        await manager.flush()
        #expect((screen.model as? Shelf)?.value == 1)
    }

    @Test("Nodes without identifiers never contradict each other")
    func inline() async {
        let screen = manager.screen(Shelf("s", 0, [Leaf(nil, 1), Leaf(nil, 2)]))
        manager.updateModel(Shelf("s", 1, [Leaf(nil, 3), Leaf(nil, 4)]))
        await manager.flush()
        #expect(isSame(screen.model, Shelf("s", 1, [Leaf(nil, 3), Leaf(nil, 4)])))
    }
}

import EspalierConsistency
import EspalierModels
import Testing

@MainActor @Suite("The updates name changed and deleted nodes, and their ancestors")
struct UpdateSetTests {
    private let manager = ConsistencyManager()

    /// Returns the updates that a listener of `tree` gets when `model` is posted.
    private func updates(of tree: Child, posting model: Child) async -> [ModelUpdates] {
        let screen = manager.screen(tree)
        manager.updateModel(model)
        await manager.flush()
        manager.removeListener(screen)
        return screen.updates
    }

    private func updates(of tree: Child, deleting model: Child) async -> (
        updates: [ModelUpdates], model: Child?
    ) {
        let screen = manager.screen(tree)
        manager.deleteModel(model)
        await manager.flush()
        manager.removeListener(screen)
        return (screen.updates, screen.model)
    }

    @Test("The updates name only the root if only its own fields differ")
    func rootOnly() async {
        let outcome = await updates(
            of: Page("0", 0, leaf: Leaf("1")), posting: Page("0", 4, leaf: Leaf("1")))
        #expect(outcome == [.changed(["0"])])
    }

    @Test("The updates name a replaced child and its parent, but not the new child's children")
    func child() async {
        let tree = Page("0", 0, [Page("2", 0, leaf: Leaf("1"))], leaf: Leaf("1"))
        #expect(
            await updates(of: tree, posting: Page("2", 4, leaf: Leaf("4"))) == [
                .changed(["0", "2"])
            ])
    }

    @Test("The updates name a required child and its parent")
    func required() async {
        let tree = Page("0", 0, [Page("2", 0, leaf: Leaf("3"))], leaf: Leaf("1"))
        #expect(await updates(of: tree, posting: Leaf("1", 4)) == [.changed(["0", "1"])])
    }

    @Test("The updates name a repeated child and each of its parents")
    func recurring() async {
        let child = Page("2", 0, leaf: Leaf("1"))
        let tree = Page("0", 0, [child, child, Page("3", 0, leaf: Leaf("5"))], leaf: Leaf("1"))
        #expect(await updates(of: tree, posting: Leaf("1", 4)) == [.changed(["0", "1", "2"])])
    }

    @Test("The updates name changed nodes below a replaced one")
    func belowReplaced() async {
        let child = Page("2", 0, leaf: Leaf("6"))
        let tree = Page("0", 0, [child, child, Page("3", 0, leaf: Leaf("5"))], leaf: Leaf("1"))
        let posted = Page("7", 3, [Page("2", 3, leaf: Leaf("6", 2))], leaf: Leaf("5"))
        #expect(await updates(of: tree, posting: posted) == [.changed(["0", "2", "6"])])
    }

    @Test("The updates name nodes that left with a replaced parent only if they were posted")
    func wholeModel() async {
        let tree = Page(
            "0", 0, [Page("2", 0, leaf: Leaf("6")), Page("3", 0, leaf: Leaf("5"))], leaf: Leaf("1"))
        let posted = Page("7", 3, [Page("0", 3, leaf: Leaf("6", 2))], leaf: Leaf("5"))
        // 1, 2 and 3 left with the old model; 6 has moved and has other content.
        #expect(await updates(of: tree, posting: posted) == [.changed(["0", "6"])])
        let leaving = Page("7", 3, [Page("0", 3)], leaf: Leaf("5", 8))
        #expect(await updates(of: tree, posting: leaving) == [.changed(["0", "5"])])
    }

    @Test("The updates name a node that changes only because one below it does")
    func between() async {
        let tree = Page(
            "0", 0, [Page("2", 0, [Page("4", 0, leaf: Leaf("6"))], leaf: Leaf("3"))],
            leaf: Leaf("1"))
        let posted = Page("2", 0, [Page("4", 0, leaf: Leaf("6", 4))], leaf: Leaf("7"))
        #expect(await updates(of: tree, posting: posted) == [.changed(["0", "2", "4", "6"])])
    }

    @Test("The updates name the root if it is deleted")
    func deletedRoot() async {
        let tree = Page("0", 0, [Page("2")], leaf: Leaf("1"))
        let outcome = await updates(of: tree, deleting: Leaf("0"))
        #expect(outcome.updates == [.deleted(["0"])] && outcome.model == nil)
    }

    @Test("The updates name all nodes on the path of a deletion that cascades to the root")
    func cascade() async {
        let outcome = await updates(of: Page("0", 0, leaf: Leaf("1")), deleting: Leaf("1"))
        #expect(outcome.updates == [.deleted(["0", "1"])] && outcome.model == nil)
    }

    @Test("The updates name an optional child as deleted, and its parent as changed")
    func optional() async {
        let outcome = await updates(
            of: Page("0", 0, [Page("2")], leaf: Leaf("1")), deleting: Leaf("2"))
        #expect(outcome.updates == [.changed(["0"], deleted: ["2"])])
        #expect(outcome.model as? Page == Page("0", 0, leaf: Leaf("1")))
        let best = await updates(of: Shelf("0", 0, [], best: Leaf("2")), deleting: Leaf("2"))
        #expect(best.updates == [.changed(["0"], deleted: ["2"])] && isSame(best.model, Shelf("0")))
    }

    @Test("The updates name nodes as deleted up to the element where the cascade ends")
    func cascadeToElement() async {
        let tree = Page("0", 0, [Page("2", 0, leaf: Leaf("3")), Page("4")], leaf: Leaf("1"))
        let outcome = await updates(of: tree, deleting: Leaf("3"))
        #expect(outcome.updates == [.changed(["0"], deleted: ["2", "3"])])
        #expect(outcome.model as? Page == Page("0", 0, [Page("4")], leaf: Leaf("1")))
    }

    @Test("A deletion cascades through a model without identifier")
    func cascadeThroughInline() async {
        let tree = Page("0", 0, [Page(nil, 0, [Page("5")], leaf: Leaf("3"))], leaf: Leaf("1"))
        let outcome = await updates(of: tree, deleting: Leaf("3"))
        #expect(outcome.updates == [.changed(["0"], deleted: ["3"])])
        #expect(outcome.model as? Page == Page("0", 0, leaf: Leaf("1")))
    }

    @Test("The updates name a repeated child once when it is deleted everywhere")
    func repeatedDeletion() async {
        let leaf = Leaf("2")
        let tree = Shelf(
            "0", 0, [leaf, Shelf("1", 0, [leaf], best: leaf), leaf, Leaf("3")], best: leaf)
        let outcome = await updates(of: tree, deleting: Leaf("2"))
        #expect(outcome.updates == [.changed(["0", "1"], deleted: ["2"])])
        #expect(isSame(outcome.model, Shelf("0", 0, [Shelf("1"), Leaf("3")])))
    }

    @Test("The updates of several posted models arrive in one call")
    func batch() async {
        let tree = Page("0", 0, [Page("2", 2), Page("4", 4)], leaf: Leaf("1"))
        let posted = BatchUpdateModel(models: [Page("2", -2), Page("4", -4), Page("9")])
        #expect(await updates(of: tree, posting: posted) == [.changed(["0", "2", "4"])])
    }

    @Test("The updates name no deleted node that was not in the tree")
    func notThere() async {
        let outcome = await updates(of: Page("0", 0), deleting: Leaf("9"))
        #expect(outcome.updates.isEmpty && outcome.model as? Page == Page("0", 0))
    }

    @Test("A deleted model is not in its tree for later updates, but its children may be elsewhere")
    func afterDeletion() async {
        let screen = manager.screen(Shelf("0", 0, [Shelf("1", 0, [Leaf("2", 0)]), Leaf("2", 0)]))
        manager.deleteModel(Shelf("1"))
        manager.updateModel(Shelf("1", 7))
        manager.updateModel(Leaf("2", 1))
        await manager.flush()
        #expect(screen.updates == [.changed(["0"], deleted: ["1"]), .changed(["0", "2"])])
        #expect(isSame(screen.model, Shelf("0", 0, [Leaf("2", 1)])))
    }
}

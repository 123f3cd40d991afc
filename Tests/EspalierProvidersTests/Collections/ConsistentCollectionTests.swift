import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("A collection is kept consistent")
struct ConsistentCollectionTests {
    let rig = Rig()
    let delegate = Delegate()
    let otherDelegate = Delegate()

    private func providers() async -> (
        CollectionDataProvider<ParentModel>, CollectionDataProvider<ParentModel>
    ) {
        (
            await rig.collection(of: ParentModel.self, delegate),
            await rig.collection(of: ParentModel.self, otherDelegate)
        )
    }

    private func family(_ id: Int, _ child: Int?, _ name: String) -> ParentModel {
        ParentModel(id: id, name: "p\(id)", requiredChild: .row(child, name))
    }

    /// A model that counts how often the index looks below it.
    private struct Row: Model, Equatable {
        static let visits = Guarded(0)
        let id: Int
        var modelIdentifier: String? { "Row:\(id)" }
        func map(_ transform: (any Model) -> (any Model)?) -> Row? { self }
        func forEach(_ visit: (any Model) -> Void) { Self.visits.withLock { $0 += 1 } }
    }

    @Test("The first append of many elements indexes each of them a few times")
    func appendOfMany() async {
        let list = await rig.collection("rows", of: Row.self)
        let count = 2_000
        list.append((0..<count).map { Row(id: $0) })
        await rig.flush()
        #expect(Row.visits.withLock { $0 } <= 4 * count)
        list.append((count..<2 * count).map { Row(id: $0) })
        await rig.flush()
        #expect(Row.visits.withLock { $0 } <= 8 * count)
    }

    @Test(
        "An element that is changed elsewhere is updated here, and only here",
        arguments: 0..<4)
    func elsewhere(_ way: Int) async {
        let (a, b) = await providers()
        a.setData([.named(1, "initial")], cacheKey: nil, context: "wrong")
        b.setData([.named(2, ""), .named(2, "")], cacheKey: nil, context: "wrong")
        let new = ParentModel.named(1, "new")
        switch way {
        case 0: b.setData([new], cacheKey: nil, context: "context")
        case 1: b.insert([new], at: 1, context: "context")
        case 2: b.append([new], context: "context")
        default: b.update(new, at: 1, context: "context")
        }
        #expect(a[0].name == "initial")
        await rig.flush()
        #expect(a.data == [new] && delegate.contexts == ["context"])
        #expect(delegate.changes == [.changes([.update(index: 0)])] && otherDelegate.calls == 0)
    }

    @Test("New elements of a collection are kept consistent", arguments: 0..<3)
    func newElements(_ way: Int) async {
        let (a, b) = await providers()
        a.setData([.named(2, "")], cacheKey: nil)
        let initial = ParentModel.named(1, "initial")
        switch way {
        case 0: a.insert([initial], at: 0)
        case 1: a.append([initial])
        default: a.update(initial, at: 0)
        }
        b.setData([.named(1, "new")], cacheKey: nil, context: "context")
        await rig.flush()
        let index = way == 1 ? 1 : 0
        #expect(a[index].name == "new" && delegate.changes == [.changes([.update(index: index)])])
    }

    @Test("A subtree that elements share is updated in all of them, last index first")
    func subtree() async {
        let (a, b) = await providers()
        a.setData([family(1, 3, "old"), family(2, 4, "old"), family(5, 3, "old")], cacheKey: nil)
        b.setData([family(7, 3, "new")], cacheKey: nil, context: "context")
        await rig.flush()
        #expect(a.data.map(\.requiredChild.name) == ["new", "old", "new"])
        #expect(delegate.changes == [.changes([.update(index: 2), .update(index: 0)])])
    }

    @Test("An edit that changes other rows notifies siblings in a second call", arguments: 0..<3)
    func otherRows(_ way: Int) async {
        let (a, b) = await providers()
        let initial = [family(1, 2, "old"), family(3, nil, "")]
        a.setData(initial, cacheKey: "key")
        b.setData(initial, cacheKey: "key")
        let new = family(5, 2, "new")
        switch way {
        case 0: b.insert([new], at: 2, context: "context")
        case 1: b.append([new], context: "context")
        default: b.update(new, at: 1, context: "context")
        }
        await rig.flush()
        #expect(a[0].requiredChild.name == "new" && a.data == b.data)
        let first: CollectionChange = .changes([way == 2 ? .update(index: 1) : .insert(index: 2)])
        #expect(delegate.changes == [first, .changes([.update(index: 0)])])
        #expect(otherDelegate.changes == [.changes([.update(index: 0)])])
        #expect(delegate.contexts == ["context", "context"])
    }

    @Test("Updating a row with another identifier leaves the old model unchanged elsewhere")
    func otherIdentifier() async {
        let (a, b) = await providers()
        a.setData([.named(1, "a"), .named(2, "b")], cacheKey: nil)
        b.setData([.named(1, "a")], cacheKey: nil)
        a.update(.named(3, "c"), at: 0)
        rig.manager.updateModel(ParentModel.named(1, "new"))
        await rig.flush()
        #expect(a.data.ids == [3, 2] && delegate.calls == 0 && b.data.names == ["new"])
    }

    @Test("Two models updated together make one call, last index first")
    func twoUpdates() async {
        let (a, _) = await providers()
        a.setData([.named(1, "a"), .named(2, "b"), .named(3, "c")], cacheKey: nil)
        rig.manager.updateModels(
            [ParentModel.named(1, "x"), ParentModel.named(3, "y")], context: "context")
        await rig.flush()
        #expect(a.data.names == ["x", "b", "y"] && delegate.contexts == ["context"])
        #expect(delegate.changes == [.changes([.update(index: 2), .update(index: 0)])])
        #expect(rig.cache.calls == ["set ParentModel:1", "set ParentModel:3"])
    }

    @Test("A deleted element leaves all its places, last index first")
    func deleted() async {
        let (a, b) = await providers()
        a.setData([.named(1, "a"), .named(2, "b"), .named(1, "a")], cacheKey: nil)
        b.setData([.named(1, "a")], cacheKey: nil)
        rig.manager.deleteModel(ParentModel(id: 1), context: "context")
        await rig.flush()
        #expect(a.data.ids == [2] && b.data == [])
        #expect(delegate.changes == [.changes([.delete(index: 2), .delete(index: 0)])])
        #expect(
            otherDelegate.changes == [.changes([.delete(index: 0)])]
                && delegate.contexts == ["context"])
    }

    @Test("Two deletions make two calls")
    func twoDeletions() async {
        let (a, _) = await providers()
        a.setData([.named(1, "a"), .named(2, "b"), .named(3, "c")], cacheKey: nil)
        rig.manager.deleteModel(ParentModel(id: 1))
        rig.manager.deleteModel(ParentModel(id: 2))
        await rig.flush()
        #expect(a.data.ids == [3])
        #expect(delegate.changes == [.changes([.delete(index: 0)]), .changes([.delete(index: 0)])])
    }

    @Test("A deleted child removes the rows that require it, and only those")
    func children() async {
        let (a, _) = await providers()
        let third = ParentModel(
            id: 3, name: "c", requiredChild: .row(9), otherChildren: [.row(8), .row(7)])
        a.setData([family(1, 8, ""), family(2, nil, ""), third, family(4, 8, "")], cacheKey: nil)
        rig.manager.deleteModel(ChildModel.row(8), context: "context")
        await rig.flush()
        #expect(a.data.ids == [2, 3] && a[1].otherChildren == [.row(7)])
        #expect(
            delegate.changes == [
                .changes([.delete(index: 3), .update(index: 2), .delete(index: 0)])
            ])
    }

    @Test("An update older than the collection is ignored")
    func olderUpdate() async {
        let (a, b) = await providers()
        a.setData([.named(1, "a")], cacheKey: nil)
        rig.manager.updateModel(ParentModel.named(1, "old"))
        a.setData([.named(1, "newest")], cacheKey: nil)
        b.setData([.named(2, "b")], cacheKey: nil)
        await rig.flush()
        #expect(a.data.names == ["newest"] && delegate.calls == 0)
    }

    @Test("A reordered collection is a reset for the others")
    func reordered() async {
        let (a, b) = await providers()
        a.setData([.named(1, "a"), .named(2, "b")], cacheKey: "key")
        b.setData([.named(2, "b"), .named(1, "a")], cacheKey: "key")
        #expect(a.data.ids == [2, 1] && delegate.changes == [.reset])
        await rig.flush()
        #expect(delegate.calls == 1)
    }
}

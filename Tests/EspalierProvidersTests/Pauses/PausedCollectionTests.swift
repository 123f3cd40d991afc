import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("A paused collection keeps its elements")
struct PausedCollectionTests {
    let rig = Rig()
    let delegate = Delegate()

    private func row(_ ids: Int...) -> [ChildModel] { ids.map { .row($0) } }

    /// Returns a provider that edits and a provider that is paused, of the cached collection.
    private func pair(_ ids: Int...) async -> (
        CollectionDataProvider<ChildModel>, CollectionDataProvider<ChildModel>
    ) {
        rig.cache.put(ids.map { ChildModel.row($0, "old") }, "key")
        let (author, paused) = (
            await rig.collection("key", of: ChildModel.self),
            await rig.collection("key", of: ChildModel.self, delegate)
        )
        paused.isPaused = true
        return (author, paused)
    }

    @Test(
        "A paused collection changes nothing, and is reset once when it is resumed",
        arguments: [false, true])
    func edits(authorIsPaused: Bool) async {
        let (author, paused) = await pair(0)
        if authorIsPaused { author.isPaused = true }
        author.setData(row(1), cacheKey: "key", context: "wrong")
        author.insert(row(2), at: 0, context: "wrong")
        author.append(row(3), context: "wrong")
        author.update(.row(4), at: 2, context: "wrong")
        author.remove(at: 1, context: "context")
        #expect(author.data == row(2, 4) && paused.data == [.row(0, "old")] && delegate.calls == 0)
        #expect(paused.isPaused)
        paused.isPaused = false
        #expect(!paused.isPaused && paused.data == row(2, 4))
        #expect(delegate.changes == [.reset] && delegate.contexts == ["context"])
        author.isPaused = false
        rig.manager.updateModel(ChildModel.row(4, "new"))
        await rig.flush()
        #expect(author.data == paused.data && paused[1].name == "new" && delegate.calls == 2)
        #expect(rig.cache.count("set all") == 5)
    }

    @Test(
        "A resumed collection makes no call if its changes cancelled out", arguments: [false, true])
    func back(authorIsPaused: Bool) async {
        let (author, paused) = await pair(0)
        if authorIsPaused { author.isPaused = true }
        author.append(row(1))
        author.update(.row(2), at: 0)
        author.remove(at: 1)
        author.update(.row(0, "old"), at: 0)
        paused.isPaused = false
        await rig.flush()
        #expect(
            paused.data == [.row(0, "old")] && delegate.calls == 0 && author.data == paused.data)
    }

    @Test(
        "A paused collection removes its elements wherever siblings have moved them",
        arguments: ["apart", "swapped", "last first", "gone"])
    func removalOfMovedElements(_ change: String) async {
        let (author, paused) = await pair(0, 1, 2, 3)
        let expected: [Int]
        switch change {
        case "apart":
            author.insert(row(9), at: 1)
            expected = [9, 2, 3]
        case "swapped":
            author.move(from: 0, to: 1)
            expected = [2, 3]
        case "last first":
            author.move(from: 0, to: 3)
            expected = [2, 3]
        default:
            author.remove(at: 0)
            expected = [2, 3]
        }
        #expect(paused.remove(where: { [0, 1].contains($0.id) }) == 2)
        #expect(paused.data.map(\.id) == [2, 3])
        #expect(author.data.map(\.id) == expected)
        await rig.flush()
        let stored: [ChildModel]? = rig.cache.collection("key")
        #expect(stored?.map(\.id) == expected)
        paused.isPaused = false
        #expect(paused.data.map(\.id) == expected)
    }

    @Test("A collection can be resumed after the author of an edit is deallocated")
    func authorGone() async {
        var (author, paused):
            (CollectionDataProvider<ChildModel>?, CollectionDataProvider<ChildModel>) = await pair(
                0)
        author?.setData(row(1, 2), cacheKey: "key", context: "context")
        await rig.flush()
        weak let reference = author
        author = nil
        #expect(reference == nil)
        paused.isPaused = false
        #expect(
            paused.data == row(1, 2) && delegate.changes == [.reset]
                && delegate.contexts == ["context"])
    }

    @Test("Resuming reports updates of elements as exact steps, with the latest context")
    func updates() async {
        let (author, paused) = await pair(1, 2, 3)
        rig.manager.updateModel(ChildModel.row(1, "new"), context: "first")
        rig.manager.updateModel(ChildModel.row(3, "new"), context: "second")
        rig.manager.updateModel(ChildModel.row(2, "new"), context: "third")
        rig.manager.updateModel(ChildModel.row(2, "old"), context: "fourth")
        await rig.flush()
        #expect(
            author.data.map(\.name) == ["new", "old", "new"]
                && paused.data.map(\.name) == ["old", "old", "old"])
        paused.isPaused = false
        #expect(paused.data == author.data && delegate.contexts == ["fourth"])
        #expect(delegate.changes == [.changes([.update(index: 2), .update(index: 0)])])
    }

    @Test("Resuming reports deletions and updates as exact steps")
    func deletions() async {
        let (_, paused) = await pair(1, 2, 3, 4)
        rig.manager.deleteModel(ChildModel.row(2))
        rig.manager.updateModel(ChildModel.row(4, "new"))
        rig.manager.updateModel(ChildModel.row(1, "new"))
        rig.manager.deleteModel(ChildModel.row(1))
        await rig.flush()
        #expect(paused.count == 4)
        paused.isPaused = false
        #expect(paused.data.map(\.id) == [3, 4])
        #expect(
            delegate.changes == [
                .changes([.update(index: 3), .delete(index: 1), .delete(index: 0)])
            ])
    }

    @Test("An update in progress during a pause is shown when the collection is resumed")
    func inFlight() async {
        rig.cache.put([ChildModel.row(1, "old")], "key")
        let provider = await rig.collection("key", of: ChildModel.self, delegate)
        rig.manager.updateModel(ChildModel.row(1, "new"))
        provider.isPaused = true
        await rig.flush()
        #expect(provider.data.map(\.name) == ["old"])
        provider.isPaused = false
        #expect(
            provider.data.map(\.name) == ["new"]
                && delegate.changes == [.changes([.update(index: 0)])])
    }

    @Test("Pausing and resuming twice has the effect of once")
    func twice() async {
        let (author, paused) = await pair(1)
        author.append(row(2))
        paused.isPaused = true
        #expect(paused.count == 1)
        paused.isPaused = false
        paused.isPaused = false
        #expect(delegate.calls == 1 && paused.count == 2)
    }

    @Test("Edits of a paused provider apply where its siblings have the same elements")
    func ownEdits() async {
        let (author, paused) = await pair(1, 2, 3)
        author.insert(row(8, 9), at: 0)
        paused.insert(row(5), at: 1)
        paused.append(row(6))
        paused.update(.row(7), at: 2)
        paused.remove(at: 0)
        #expect(paused.data.map(\.id) == [5, 7, 3, 6])
        #expect(author.data.map(\.id) == [8, 9, 5, 7, 3, 6])
        author.append(row(10))
        paused.append(row(11))
        #expect(paused.data.map(\.id) == [5, 7, 3, 6, 11])
        #expect(author.data.map(\.id) == [8, 9, 5, 7, 3, 6, 10, 11])
        await rig.flush()
        #expect(rig.cache.collection("key", ChildModel.self) == author.data)
        paused.isPaused = false
        #expect(paused.data == author.data && delegate.changes == [.reset])
    }

    @Test("Resuming makes no call if only the provider itself has made edits")
    func onlyOwnEdits() async {
        let (author, paused) = await pair(1)
        paused.append(row(2))
        paused.setData(row(5, 6), cacheKey: "key")
        paused.remove(at: 0)
        #expect(author.data == row(6))
        paused.isPaused = false
        await rig.flush()
        #expect(paused.data == row(6) && delegate.calls == 0)
    }

    @Test("An edit of an element that is gone changes what is shown until resuming")
    func editGone() async {
        let (author, paused) = await pair(1, 2)
        author.remove(at: 0)
        let other = rig.single(ChildModel.self)
        other.setData(.row(7, "old"))
        paused.update(.row(7), at: 0)
        #expect(paused.data.map(\.id) == [7, 2] && author.data.map(\.id) == [2])
        await rig.flush()
        #expect(other.data == .row(7) && rig.cache.model("ChildModel:7") == other.data)
        paused.remove(at: 0)
        paused.insert(row(8), at: 0)
        #expect(author.data.map(\.id) == [8, 2])
        paused.isPaused = false
        await rig.flush()
        #expect(paused.data == author.data && delegate.calls == 0)
    }

    @Test("Resuming reports others' updates exactly, after edits of the paused provider")
    func ownEditsAndUpdates() async {
        let (author, paused) = await pair(1, 2)
        paused.insert(row(0), at: 0)
        rig.manager.updateModel(ChildModel.row(2, "new"))
        await rig.flush()
        paused.isPaused = false
        #expect(paused.data == author.data && delegate.changes == [.changes([.update(index: 2)])])
    }

    @Test("A fetch during a pause shows the current elements")
    func fetching() async throws {
        let (author, paused) = await pair(1)
        rig.cache.put([ChildModel.row(5)], "other")
        author.append(row(2))
        #expect(try await paused.fetch("other")?.map(\.id) == [5])
        #expect(paused.isPaused && paused.cacheKey == "other")
        let other = await rig.collection("other", of: ChildModel.self)
        other.append(row(6))
        author.append(row(3))
        #expect(paused.data.map(\.id) == [5])
        paused.isPaused = false
        #expect(paused.data.map(\.id) == [5, 6] && delegate.changes == [.reset])
    }

    @Test("A sibling's fetch is shown when the provider is resumed")
    func siblingFetch() async throws {
        let early = await rig.collection("key", of: ChildModel.self, delegate)
        early.isPaused = true
        rig.cache.put([ChildModel.row(1)], "key")
        let late = await rig.collection("key", of: ChildModel.self)
        #expect(late.count == 1 && early.count == 0)
        early.isPaused = false
        #expect(early.data == late.data && delegate.changes == [.reset])
    }

    @Test("A paused provider that changes its key shows the other collection, and its edits later")
    func moved() async {
        let (author, paused) = await pair(1)
        paused.setData(row(5), cacheKey: "other")
        author.append(row(2))
        #expect(paused.data == row(5))
        let other = await rig.collection("other", of: ChildModel.self)
        other.append(row(6))
        #expect(paused.data == row(5))
        paused.isPaused = false
        #expect(paused.data == row(5, 6) && delegate.calls == 1)
    }

    @Test("A batch pauses all its providers, and names those that changed when it is resumed")
    func batch() async {
        let (author, _) = await pair(1)
        let (a, b, c) = (
            await rig.collection("key", of: ChildModel.self, delegate),
            rig.single(ChildModel.self, delegate),
            await rig.collection("idle", of: ChildModel.self, delegate)
        )
        b.setData(.row(1, "old"))
        await rig.flush()
        let batch = BatchDataProviderListener(
            dataProviders: [a, b, c], dataModelManager: rig.manager)
        let batchDelegate = Delegate()
        batch.delegate = batchDelegate
        batch.isPaused = true
        #expect(a.isPaused && b.isPaused && c.isPaused)
        author.append(row(2), context: "edit")
        rig.manager.updateModel(ChildModel.row(1, "new"), context: "update")
        await rig.flush()
        #expect(
            a.data.map(\.name) == ["old"] && b.data?.name == "old" && delegate.calls == 0
                && batchDelegate.calls == 0)
        batch.isPaused = false
        #expect(!a.isPaused && !b.isPaused && a.data.map(\.name) == ["new", ""])
        await rig.flush()
        #expect(b.data?.name == "new" && delegate.contexts == ["update", "update"])
        #expect(
            Set(batchDelegate.touched.flatMap { $0 }) == [ObjectIdentifier(a), ObjectIdentifier(b)])
        #expect(batchDelegate.touched.flatMap { $0 }.count == 2)
    }

    @Test("Pausing one provider of a batch pauses all of them")
    func pausedThroughBatch() async {
        let (a, b) = (rig.single(), await rig.collection())
        let batch = BatchDataProviderListener(dataProviders: [a, b], dataModelManager: rig.manager)
        a.isPaused = true
        #expect(batch.isPaused && b.isPaused)
        b.isPaused = false
        #expect(!batch.isPaused && !a.isPaused)
    }
}

import EspalierConsistency
import EspalierModels
import EspalierProviders
import Testing

@MainActor @Suite("A collection is edited while no provider shows it")
struct ClosedScreenTests {
    typealias Provider = CollectionDataProvider<ParentModel>
    let rig = Rig()

    /// Returns the results of the completions of the four edits at a place.
    private func edit(_ way: Int, at index: Int) async -> (any Error)? {
        let new = ParentModel.named(9, "new")
        return await withCheckedContinuation { continuation in
            let done: (@MainActor ((any Error)?) -> Void) = { continuation.resume(returning: $0) }
            let manager = rig.manager
            switch way {
            case 0:
                Provider.insert(
                    [new], at: { _ in index }, cacheKey: "key", dataModelManager: manager,
                    completion: done)
            case 1:
                Provider.update(
                    new, at: { _ in index }, cacheKey: "key", dataModelManager: manager,
                    completion: done)
            case 2:
                Provider.removeAtIndex(
                    { _ in index }, cacheKey: "key", dataModelManager: manager, completion: done)
            default:
                Provider.append([new], cacheKey: "key", dataModelManager: manager, completion: done)
            }
        }
    }

    private var stored: [Int]? { rig.cache.collection("key", ParentModel.self)?.ids }

    @Test("A static edit loads, edits and saves the collection", arguments: 0..<4)
    func fromCache(_ way: Int) async {
        rig.cache.put([ParentModel.named(1, "a"), .named(2, "b")], "key")
        #expect(await edit(way, at: 1) == nil)
        await rig.flush()
        #expect(stored == [[1, 9, 2], [1, 9], [1], [1, 2, 9]][way])
    }

    @Test(
        "A static edit of a missing collection fails, but an append creates it", arguments: 0..<4)
    func missing(_ way: Int) async {
        let error = await edit(way, at: 0)
        await rig.flush()
        #expect(error as? DataProviderError == (way == 3 ? nil : .notFound))
        #expect(stored == (way == 3 ? [9] : nil))
    }

    @Test(
        "A static edit of an unreadable collection reports the cache's error and saves nothing",
        arguments: 0..<4)
    func failing(_ way: Int) async {
        rig.cache.fail("key", CacheFailure())
        let error = await edit(way, at: 0)
        await rig.flush()
        #expect(error is CacheFailure && stored == nil && rig.cache.count("set") == 0)
    }

    @Test("A static edit at an index outside fails and saves nothing", arguments: 0..<3, [-1, 3])
    func outside(_ way: Int, _ index: Int) async {
        rig.cache.put([ParentModel.named(1, "a"), .named(2, "b")], "key")
        #expect(await edit(way, at: index) as? DataProviderError == .outOfRange)
        await rig.flush()
        #expect(stored == [1, 2] && rig.cache.count("set") == 0)
    }

    @Test("A static insertion at the end succeeds")
    func end() async {
        rig.cache.put([ParentModel.named(1, "a")], "key")
        #expect(await edit(0, at: 1) == nil)
        await rig.flush()
        #expect(stored == [1, 9])
    }

    @Test("Two static edits without waiting are both applied", arguments: [false, true])
    func twice(isThere: Bool) async {
        if isThere { rig.cache.put([ParentModel.named(1, "a")], "key") }
        for id in 2...4 {
            Provider.append([.named(id, "")], cacheKey: "key", dataModelManager: rig.manager)
        }
        await rig.flush()
        #expect(stored == (isThere ? [1, 2, 3, 4] : [2, 3, 4]))
    }

    @Test("A flush waits for all static edits, even if many find nothing")
    func manyMisses() async {
        var errors = 0
        for _ in 0..<50 {
            Provider.removeAtIndex({ _ in 0 }, cacheKey: "key", dataModelManager: rig.manager) {
                if $0 != nil { errors += 1 }
            }
        }
        await rig.flush()
        #expect(errors == 50)
    }

    @Test("A static edit of a missing collection reads it once, also without a completion")
    func withoutCompletion() async {
        Provider.removeAtIndex({ _ in 0 }, cacheKey: "key", dataModelManager: rig.manager)
        await rig.flush()
        #expect(rig.cache.calls == ["get all key"])
    }

    @Test("A static edit of a collection that a provider shows completes at once")
    func living() async {
        let provider = await rig.collection()
        provider.setData([.named(1, "a")], cacheKey: "key")
        var done = 0
        Provider.append([.named(2, "b")], cacheKey: "key", dataModelManager: rig.manager) { _ in
            done += 1
        }
        Provider.removeAtIndex({ _ in 0 }, cacheKey: "key", dataModelManager: rig.manager) { _ in
            done += 1
        }
        #expect(provider.data.ids == [2] && done == 2)
        await rig.flush()
        #expect(stored == [2])
    }

    @Test("The index closure gets the current elements, also those a paused provider hides")
    func paused() async {
        let (shown, paused) = (await rig.collection("key"), await rig.collection("key"))
        shown.setData([.named(1, "a")], cacheKey: "key")
        paused.isPaused = true
        shown.append([.named(2, "b")])
        var seen: [Int] = []
        let index: @MainActor ([ParentModel]) -> Int = { elements in
            seen = elements.ids
            return elements.count
        }
        Provider.insert([.named(3, "c")], at: index, cacheKey: "key", dataModelManager: rig.manager)
        #expect(seen == [1, 2] && shown.data.ids == [1, 2, 3] && paused.data.ids == [1])
    }
}

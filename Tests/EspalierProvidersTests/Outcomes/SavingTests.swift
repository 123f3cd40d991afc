import EspalierModels
import EspalierProviders
import EspalierRecords
import Testing

/// A write that fails is told to the delegate of its provider, to `failures`, and to the call that
/// waits for it.
@MainActor @Suite("Providers tell the outcome of their writes")
struct SavingTests {
    private let cache = SharedCache()
    private let manager: DataModelManager
    private let delegate = FailureDelegate()

    init() { manager = DataModelManager(cache: cache) }

    private func single() -> DataProvider<ParentModel> {
        let provider = DataProvider<ParentModel>(dataModelManager: manager)
        provider.delegate = delegate
        return provider
    }

    private func list() -> CollectionDataProvider<ChildModel> {
        let provider = CollectionDataProvider<ChildModel>(dataModelManager: manager)
        provider.delegate = delegate
        return provider
    }

    private func error(of body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    // MARK: Models

    @Test("A saved model is shown at once, and the call returns when it is stored")
    func saved() async throws {
        let provider = single()
        cache.isHolding = true
        let task = Task { try await provider.save(.named(1, "Ada")) }
        await until { provider.data?.name == "Ada" }
        await until { cache.inner.model("ParentModel:1", ParentModel.self) != nil }
        var isStored = false
        let watch = Task {
            try await task.value
            isStored = true
        }
        for _ in 0..<20 { await Task.yield() }
        #expect(!isStored)
        cache.isHolding = false
        cache.release()
        try await watch.value
        #expect(delegate.failures.isEmpty)
    }

    @Test("A refused model is thrown, told to the delegate and to failures, and stays shown")
    func refused() async throws {
        cache.reply(.failure(CacheFailure(number: 1)), to: "ParentModel:1")
        var failures = manager.failures().makeAsyncIterator()
        let provider = single()
        let error = await error { try await provider.save(.named(1, "Ada")) }
        #expect(error as? CacheFailure == CacheFailure(number: 1))
        #expect(delegate.failures == [["ParentModel:1"]])
        #expect(await failures.next()?.names == ["ParentModel:1"])
        #expect(provider.data?.name == "Ada")
    }

    @Test("A refused merge is told in the same ways")
    func refusedMerge() async throws {
        cache.reply(.failure(CacheFailure()), to: "ParentModel:1")
        let provider = single()
        let error = await error { try await provider.save(.named(1, "Ada"), policy: .merge) }
        #expect(error is CacheFailure)
        #expect(cache.policies == [.merge])
        #expect(delegate.failures == [["ParentModel:1"]])
    }

    @Test("After flush, the delegate has been told of every failed write")
    func flushed() async {
        cache.reply(.failure(CacheFailure()), to: "ParentModel:1")
        let provider = single()
        for name in ["a", "b", "c"] { provider.setData(.named(1, name)) }
        await manager.flush()
        #expect(delegate.failures.count == 3)
    }

    @Test("A cache that never replies to a write is an error, and one that replies twice is not")
    func replies() async throws {
        cache.reply(.never, to: "ParentModel:1")
        cache.reply(.twice, to: "ParentModel:2")
        let provider = single()
        let error = await error { try await provider.save(.named(1, "Ada")) }
        #expect(error as? DataProviderError == .noAnswer)
        try await provider.save(.named(2, "Grace"))
        await manager.flush()
        #expect(delegate.failures == [["ParentModel:1"]])
    }

    @Test("A model without identifier is an error of its first write", arguments: [false, true])
    func unnamed(merges: Bool) async {
        let provider = DataProvider<ChildModel>(dataModelManager: manager)
        provider.delegate = delegate
        var failures = manager.failures().makeAsyncIterator()
        let error = await error {
            try await provider.save(.row(nil), policy: merges ? .merge : .replace)
        }
        #expect(error as? DataProviderError == .noIdentifier)
        #expect(delegate.failures == [[]])
        #expect(await failures.next()?.error as? DataProviderError == .noIdentifier)
        manager.updateModel(ChildModel())
        #expect(await failures.next() != nil)
        manager.updateModels([ChildModel(), ChildModel.row(1)])
        #expect(await failures.next() != nil)
        manager.mergeModels([ChildModel()])
        #expect(await failures.next() != nil)
    }

    @Test("A failed deletion is told")
    func deletion() async throws {
        cache.reply(.failure(CacheFailure()), to: "ParentModel:1")
        let error = await error {
            try await manager.saving { manager.deleteModel(ParentModel(id: 1)) }
        }
        #expect(error is CacheFailure)
    }

    @Test("An update in one step whose cache never replies is an error")
    func update() async {
        cache.inner.setModel(ParentModel(id: 1), forKey: "ParentModel:1", context: nil)
        cache.reply(.never, to: "ParentModel:1")
        await #expect(throws: DataProviderError.noAnswer) {
            try await manager.update(ParentModel.self, "ParentModel:1") { $0 }
        }
    }

    // MARK: Lists

    @Test("A refused list and a refused edit are told to the delegate and thrown")
    func lists() async throws {
        let list = list()
        try await list.save([.row(1)], cacheKey: "rows")
        cache.inner.answerNext(.failed(CacheFailure(number: 3)))
        let edit = await error { try await manager.saving { list.append([.row(2)]) } }
        #expect(edit as? CacheFailure == CacheFailure(number: 3))
        cache.reply(.failure(CacheFailure(number: 4)), to: "rows")
        let whole = await error { try await list.save([.row(3)], cacheKey: "rows") }
        #expect(whole as? CacheFailure == CacheFailure(number: 4))
        #expect(delegate.failures == [["rows"], ["rows"]])
        #expect(list.data == [.row(3)])
    }

    @Test("An edit that is out of date ends with the list that is sent instead of it")
    func outOfDate() async throws {
        let list = list()
        try await list.save([.row(1)], cacheKey: "rows")
        cache.inner.answerNext(.outOfDate)
        try await manager.saving { list.append([.row(2)]) }
        #expect(cache.inner.collection("rows", ChildModel.self) == [.row(1), .row(2)])
        cache.inner.answerNext(.outOfDate)
        cache.reply(.failure(CacheFailure()), to: "rows")
        let error = await error { try await manager.saving { list.append([.row(3)]) } }
        #expect(error is CacheFailure)
        #expect(delegate.failures == [["rows"]])
    }

    @Test("An edit that is out of date ends with a list that was set since")
    func outOfDateAndSet() async throws {
        let list = list()
        try await list.save([.row(1)], cacheKey: "rows")
        cache.reply(.failure(CacheFailure()), to: "rows")
        cache.inner.answerNext(.outOfDate)
        let error = await error {
            try await manager.saving { list.append([.row(2)]) }
        }
        #expect(error is CacheFailure)
        // The edit is out of date when the list after it is on its way.
        cache.inner.isHolding = true
        cache.inner.answerNext(.outOfDate)
        cache.reply(.success, to: "rows")
        try await list.save([.row(1)], cacheKey: "rows")
        cache.reply(.failure(CacheFailure(number: 5)), to: "rows")
        let task = Task { try await manager.saving { list.append([.row(2)]) } }
        await until { cache.inner.count("edit") == 2 }
        list.setData([.row(4)], cacheKey: "rows")
        cache.inner.release()
        await #expect(throws: CacheFailure(number: 5)) { try await task.value }
    }

    @Test("The policy of a call reaches the cache; the manager's and the type's follow")
    func policies() async throws {
        let list = list()
        list.setData([.row(1)], cacheKey: "rows", policy: .merge)
        await manager.flush()
        list.append([.row(2)], policy: .merge)
        list.insert([.row(3)], at: 0, policy: .merge)
        list.update(.row(1, "b"), at: 1, policy: .merge)
        list.append([.row(4)])
        list.replaceData(with: [.row(5)], policy: .merge)
        list.replaceData(with: [.row(6)])
        await manager.flush()
        // Nil: the types decide. The models of an edit that does not merge are written twice: by
        // themselves, and with the edit.
        #expect(cache.policies == [.merge, .merge, .merge, .merge, nil, nil, .merge, nil])
        let merging = DataModelManager(cache: cache, writePolicy: .merge)
        let other = CollectionDataProvider<ChildModel>(dataModelManager: merging)
        other.setData([.row(1)], cacheKey: "others")
        other.setData([.row(1)], cacheKey: "others", policy: .replace)
        let single = DataProvider<ChildModel>(dataModelManager: merging)
        single.setData(.row(1), policy: .replace)
        single.setData(.row(1))
        await merging.flush()
        #expect(cache.policies.suffix(4) == [.merge, .replace, .replace, .merge])
    }

    @Test("All elements are merged where an edit with partial models is out of date")
    func partialModels() async throws {
        let list = list()
        try await list.save([.row(1)], cacheKey: "rows")
        list.append([.row(2)], policy: .merge)
        await manager.flush()
        cache.inner.answerNext(.outOfDate)
        try await manager.saving { list.remove(at: 0) }
        #expect(cache.policies.last == .merge)
        cache.inner.answerNext(.outOfDate)
        try await manager.saving { list.append([.row(3, "new")], policy: .replace) }
        // What is replaced is replaced before the others are merged.
        #expect(cache.policies.suffix(2) == [.replace, .merge])
        #expect(cache.inner.model("ChildModel:3", ChildModel.self)?.name == "new")
    }

    // MARK: Several writes

    @Test("Saving waits for all writes of the closure, and throws the first failure")
    func several() async throws {
        let provider = single()
        let list = list()
        let count = try await manager.saving {
            provider.setData(.named(1, "Ada"))
            list.setData([.row(1)], cacheKey: "rows")
            list.append([.row(2)])
            return list.count
        }
        #expect(count == 2)
        #expect(cache.inner.collection("rows", ChildModel.self)?.count == 2)
        cache.reply(.failure(CacheFailure(number: 7)), to: "ParentModel:2")
        let error = await error {
            try await manager.saving {
                provider.setData(.named(2, "Grace"))
                list.append([.row(3)])
            }
        }
        #expect(error as? CacheFailure == CacheFailure(number: 7))
        #expect(cache.inner.collection("rows", ChildModel.self)?.count == 3)
    }

    @Test("Saving returns for a list without key, which is not stored", .timeLimit(.minutes(1)))
    func withoutKey() async throws {
        let list = list()
        try await manager.saving {
            list.setData([.row(1)], cacheKey: nil)
            list.append([.row(2)])
            list.move(from: 0, to: 1)
        }
        #expect(list.data.map(\.modelIdentifier) == ["ChildModel:2", "ChildModel:1"])
        #expect(cache.policies.isEmpty)
    }

    @Test("Saving nothing returns, and the closure's own error is thrown")
    func nothing() async throws {
        try await manager.saving {}
        await #expect(throws: CacheFailure()) { try await manager.saving { throw CacheFailure() } }
        try await manager.saving { single().setData(nil) }
    }

    @Test("A call that waits hears nothing of writes that begin after its closure")
    func later() async throws {
        cache.reply(.failure(CacheFailure()), to: "ParentModel:2")
        let provider = single()
        let other = single()
        try await manager.saving {
            provider.setData(.named(1, "Ada"))
            Task { other.setData(.named(2, "Grace")) }
        }
        await until { delegate.failures == [["ParentModel:2"]] }
    }

    @Test("A cache without outcomes counts as done when it was called")
    func plain() async throws {
        let rig = Rig()
        let provider = rig.single()
        try await provider.save(.named(1, "Ada"))
        #expect(rig.cache.model("ParentModel:1", ParentModel.self)?.name == "Ada")
        let list: CollectionDataProvider<ParentModel> = await rig.collection()
        try await list.save([.named(1, "Ada")], cacheKey: "rows")
        try await rig.manager.saving { list.append([.named(2, "Grace")]) }
        #expect(rig.cache.collection("rows", ParentModel.self)?.ids == [1, 2])
    }

    @Test("A plain cache that accepts edits tells failed edits")
    func editing() async throws {
        let rig = Rig(EditingCache())
        let list: CollectionDataProvider<ChildModel> = await rig.collection(
            "rows", of: ChildModel.self)
        list.delegate = delegate
        rig.cache.answerNext(.failed(CacheFailure()))
        var failures = rig.manager.failures().makeAsyncIterator()
        let error = await error { try await rig.manager.saving { list.append([.row(1)]) } }
        #expect(error is CacheFailure)
        #expect(delegate.failures == [["rows"]])
        #expect(await failures.next() != nil)
    }

    @Test("An override that saves nothing keeps no call waiting")
    func override() async throws {
        let manager = SilentProxy(cache: cache)
        try await DataProvider<ParentModel>(dataModelManager: manager).save(.named(1, "Ada"))
        #expect(cache.policies.isEmpty)
    }

    @Test("A provider that is gone when its write fails is no problem")
    func gone() async throws {
        cache.isHolding = true
        cache.reply(.failure(CacheFailure()), to: "ParentModel:1")
        var failures = manager.failures().makeAsyncIterator()
        single().setData(.named(1, "Ada"))
        await until { !cache.policies.isEmpty }
        cache.release()
        await until { true }
        cache.isHolding = false
        cache.release()
        #expect(await failures.next()?.names == ["ParentModel:1"])
        #expect(delegate.failures.isEmpty)
    }
}

/// A delegate that records failures.
@MainActor
final class FailureDelegate: DataProviderDelegate, CollectionDataProviderDelegate {
    var failures: [[String]] = []

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {}
    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?
    ) {}

    func dataProvider<T>(_ dataProvider: DataProvider<T>, failedToSave failure: SaveFailure) {
        failures.append(failure.names)
    }

    func collectionDataProvider<T>(
        _ dataProvider: CollectionDataProvider<T>, failedToSave failure: SaveFailure
    ) { failures.append(failure.names) }
}

private final class SilentProxy: DataModelManager, @unchecked Sendable {
    // `@unchecked` as its superclass is: it has no state.
    override func cacheModel(
        _ model: any SimpleModel, forKey cacheKey: String, context: (any Sendable)?
    ) {}
}

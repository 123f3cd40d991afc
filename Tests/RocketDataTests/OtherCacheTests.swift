import EspalierModels
import Foundation
import RocketData
import Testing

@MainActor @Suite("A RocketData client moves on to a cache of Espalier")
struct OtherCacheTests {
    @Test("The manager hands edits to the cache as edits, and the client's code stays as it is")
    func edits() async {
        let cache = ListCache()
        let manager = DataModelManager(cache: cache)
        let list = CollectionDataProvider<UserModel>(dataModelManager: manager)
        list.setData([UserModel(id: 1, name: "Ada")], cacheKey: "users")
        list.append([UserModel(id: 2, name: "Grace")], context: ChangeReason("edit"))
        await manager.flush()
        #expect(cache.calls == ["set all users", "edit users", "flush"])
        #expect(cache.contexts == ["edit"])
        let other = CollectionDataProvider<UserModel>(
            dataModelManager: DataModelManager(cache: cache))
        var error: NSError?
        other.fetchDataFromCache(withCacheKey: "users") { error = $1 }
        await other.dataModelManager.flush()
        #expect(other.data == list.data && error == nil)
        let single = DataProvider<UserModel>(dataModelManager: manager)
        single.fetchDataFromCache(withCacheKey: "broken") { error = $1 }
        await manager.flush()
        #expect(error?.domain == rocketDataErrorDomain)
    }

    @Test("The cache of a manager can be called in RocketData's form")
    func cacheDelegate() async {
        let cache = ListCache()
        let delegate = DataModelManager(cache: cache).cacheDelegate
        let ada = UserModel(id: 1, name: "Ada")
        delegate.setModel(ada, forKey: "UserModel:1", context: nil)
        delegate.setCollection([ada], forKey: "users", context: nil)
        let (model, _) = await withCheckedContinuation { continuation in
            delegate.modelForKey("UserModel:1", context: nil) { (model: UserModel?, error) in
                continuation.resume(returning: (model, error))
            }
        }
        let users = await withCheckedContinuation { continuation in
            delegate.collectionForKey("users", context: nil) { (users: [UserModel]?, _) in
                continuation.resume(returning: users)
            }
        }
        delegate.deleteModel(ada, forKey: "UserModel:1", context: nil)
        #expect(model == ada && users == [ada])
        #expect(cache.calls == ["set UserModel:1", "set all users", "delete UserModel:1"])
    }
}

/// A cache of Espalier that accepts edits and records its calls. It drops one completion.
private final class ListCache: EspalierModels.CollectionCacheDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var lists: [String: [any SimpleModel]] = [:]
    private var recorded: [String] = []
    private var received: [String] = []

    var calls: [String] { lock.withLock { recorded } }

    /// The contexts of the edits. The cache gets what the app has passed, in no box.
    var contexts: [String] { lock.withLock { received } }

    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
        guard cacheKey != "broken" else { return }
        completion(lock.withLock { cacheKey.flatMap { lists[$0]?.first as? T } }, nil)
    }

    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        lock.withLock {
            recorded.append("set \(cacheKey)")
            lists[cacheKey] = [model]
        }
    }

    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) {
        completion(lock.withLock { cacheKey.flatMap { lists[$0] as? [T] } }, nil)
    }

    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {
        lock.withLock {
            recorded.append("set all \(cacheKey)")
            lists[cacheKey] = collection
        }
    }

    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        lock.withLock { recorded.append("delete \(cacheKey ?? "nil")") }
    }

    func editCollection(
        _ edit: CollectionEdit<any SimpleModel>, forKey cacheKey: String,
        expecting neighbours: CollectionNeighbours, context: Any?,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        lock.withLock {
            recorded.append("edit \(cacheKey)")
            if let context = context as? ChangeReason { received.append(context.text) }
            var list = lists[cacheKey] ?? []
            list.replaceSubrange(edit.range ?? list.count..<list.count, with: edit.elements)
            lists[cacheKey] = list
        }
        completion(.applied)
    }

    func flush() async throws { lock.withLock { recorded.append("flush") } }
}

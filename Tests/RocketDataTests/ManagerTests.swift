import ConsistencyManager
import Foundation
import RocketData
import Testing

@MainActor @Suite("A manager of a RocketData client")
struct ManagerTests {
    let cache = ClientCache()
    let ada = UserModel(id: 1, name: "Ada")

    @Test("The cache receives each change with its context, and errors of the cache come back")
    func contextsAndErrors() async {
        let manager = DataModelManager(cacheDelegate: cache)
        let provider = DataProvider<UserModel>(dataModelManager: manager)
        let reason = ChangeReason("server")
        provider.setData(ada, context: reason)
        manager.updateModel(UserModel(id: 2, name: "Grace"), context: reason)
        manager.updateModels([ada, UserModel(id: 3, name: "Mary")], updateCache: false)
        manager.deleteModel(UserModel(id: 2, name: "Grace"), context: reason)
        let other = DataProvider<UserModel>(dataModelManager: manager)
        var replies: [NSError?] = []
        other.fetchDataFromCache(withCacheKey: "UserModel:9", context: reason) { user, error in
            replies.append(error)
        }
        other.fetchDataFromCache(withCacheKey: "UserModel:1") { user, error in
            replies.append(error)
        }
        await manager.flush()
        #expect(
            cache.calls == [
                "set UserModel:1", "set UserModel:2", "delete UserModel:2", "get UserModel:9",
                "get UserModel:1",
            ])
        #expect(cache.contexts.dropLast().allSatisfy { $0 as? ChangeReason === reason })
        #expect(replies.map { $0?.domain } == [clientErrorDomain, nil])
        #expect(replies[0]?.code == 404 && other.data == ada)
    }

    @Test("Providers call the overrides of a manager's subclass, with the contexts as they are")
    func overrides() async {
        let manager = SavingRecorder(cacheDelegate: cache)
        let provider = DataProvider<UserModel>(dataModelManager: manager)
        let list = CollectionDataProvider<UserModel>(dataModelManager: manager)
        provider.setData(ada)
        list.setData([ada], cacheKey: "users")
        list.append([UserModel(id: 2, name: "Grace")])
        let other = DataProvider<UserModel>(dataModelManager: manager)
        other.fetchDataFromCache(withCacheKey: "UserModel:1") { _, _ in }
        let others = CollectionDataProvider<UserModel>(dataModelManager: manager)
        others.fetchDataFromCache(withCacheKey: "others") { _, _ in }
        await manager.flush()
        #expect(manager.saved == ["UserModel:1", "users: 1", "users: 2"])
        #expect(manager.read == ["UserModel:1", "others"])
        #expect(cache.contexts.first as? String == "no context")
        #expect(other.data == ada)
    }

    @Test("An override that saves may begin another change, which takes effect after the first")
    func nestedChanges() async {
        let manager = SavingRecorder(cacheDelegate: cache)
        let badge = DataProvider<BadgeModel>(dataModelManager: manager)
        badge.setData(BadgeModel(id: "badge", count: 0), updateCache: false)
        let message = MessageModel(id: 1, text: "Meow", sender: ada)
        manager.updateModel(message)
        await manager.flush()
        #expect(badge.data?.count == 1)
        #expect(manager.saved == ["MessageModel:1", "badge"])
        DataProvider<MessageModel>(dataModelManager: manager).setData(message)
        manager.updateModels([message, ada])
        await manager.flush()
        #expect(badge.data?.count == 3)
    }

    @Test("An override that saves may edit a list without a provider, and may fetch")
    func nestedEditsAndFetches() async {
        let manager = ListKeeper(cacheDelegate: cache)
        let grace = UserModel(id: 2, name: "Grace")
        manager.updateModel(ada)
        manager.updateModel(grace)
        await manager.flush()
        let list = CollectionDataProvider<UserModel>(dataModelManager: manager)
        list.fetchDataFromCache(withCacheKey: "users") { _, _ in }
        await manager.flush()
        #expect(list.data.map { $0.name } == ["Ada", "Grace"])
        #expect(manager.fetched == ["Ada", "Grace"] && manager.edits == 2)
        manager.removes = true
        manager.updateModel(ada)
        await manager.flush()
        #expect(list.data.map { $0.name } == ["Grace", "Mary"] && manager.edits == 5)
        CollectionDataProvider.setData([grace], cacheKey: "others", dataModelManager: manager)
        await manager.flush()
        #expect(manager.lists == ["Grace"])
    }

    @Test("The consistency manager passes a client's context to listeners as it was given")
    func listeners() async {
        let manager = DataModelManager(cacheDelegate: cache)
        let listener = ClientListener(ada)
        let reason = ChangeReason("rename")
        manager.consistencyManager.delegate = listener
        manager.consistencyManager.addListener(listener)
        manager.consistencyManager.addModelUpdatesListener(listener)
        manager.updateModel(UserModel(id: 1, name: "Ada Lovelace"), context: reason)
        listener.delete(PlaceModel(id: "a", name: "b"), from: manager, because: reason)
        await manager.flush()
        #expect((listener.model as? UserModel)?.name == "Ada Lovelace")
        #expect(listener.contexts.count == 1 && listener.contexts[0] as? ChangeReason === reason)
        #expect(listener.changes.map { $0.keys.sorted() } == [["UserModel:1"], ["a"]])
        #expect(listener.replaced == 1 && listener.errors == [])
    }

    @Test("The shared consistency manager updates its listeners and posts when it cleans memory")
    func sharedInstance() async {
        let manager = ConsistencyManager.sharedInstance
        #expect(manager === ConsistencyManager.sharedInstance)
        let posted = NotificationLog()
        let names = [
            ConsistencyManager.kCleanMemoryAsynchronousWorkStarted,
            ConsistencyManager.kCleanMemoryAsynchronousWorkFinished,
        ]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) {
                note in
                posted.append(note.name)
            }
        }
        let listener = ClientListener(PlaceModel(id: "place", name: "old"))
        manager.addListener(listener)
        manager.updateModel(PlaceModel(id: "place", name: "new"), context: "context")
        manager.cleanMemory()
        await manager.flush()
        observers.forEach(NotificationCenter.default.removeObserver)
        #expect((listener.model as? PlaceModel)?.name == "new")
        #expect(listener.contexts.first as? String == "context")
        #expect(posted.names == names)
        let domain = "com.linkedin.consistencyManager."
        #expect(names[0].rawValue == domain + "kCleanMemoryAsynchronousWorkStarted")
    }

    @Test("ParsingHelpers create the requested subclass, and report a type that is none")
    func parsing() {
        let (message, none): (ParsedMessage?, NSError?) = ParsingHelpers.parseModel {
            (modelClass: ParsedModel.Type) in
            return modelClass.init(text: "Meow")
        }
        #expect(message?.text == "Meow" && none == nil)
        let (wrong, error): (String?, NSError?) = ParsingHelpers.parseModel {
            (modelClass: ParsedModel.Type) in
            return modelClass.init(text: "Meow")
        }
        #expect(wrong == nil && error?.domain == rocketDataErrorDomain && error?.code == 1)
        let (messages, own): ([ParsedMessage]?, NSError?) = ParsingHelpers.parseCollection {
            (modelClass: ParsedModel.Type) in
            return ([modelClass.init(text: "a")], NSError(domain: "own", code: 7, userInfo: nil))
        }
        #expect(messages?.map { $0.text } == ["a"] && own?.code == 7)
    }

    @Test("A mistake is reported to the delegate of the log")
    func log() {
        let log = ClientLog()
        Log.sharedInstance.delegate = log
        let manager = DataModelManager(cacheDelegate: cache)
        let provider = DataProvider<UserModel>(dataModelManager: manager)
        provider.setData(ada, updateCache: false)
        provider.modelIdentifier = "UserModel:2"
        #expect(log.messages.count == 1 && provider.modelIdentifier == "UserModel:1")
        Log.sharedInstance.assert(true, "not reported")
        Log.sharedInstance.assert(false, "reported")
        #expect(log.messages.last == "reported" && log.messages.count == 2)
        Log.sharedInstance.delegate = nil
    }
}

/// The notifications that were posted, on any thread.
private final class NotificationLog: @unchecked Sendable {
    private let lock = NSLock()
    private var posted: [Notification.Name] = []

    var names: [Notification.Name] { lock.withLock { posted } }
    func append(_ name: Notification.Name) { lock.withLock { posted.append(name) } }
}

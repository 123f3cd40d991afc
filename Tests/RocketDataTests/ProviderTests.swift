import ConsistencyManager
import Foundation
import RocketData
import Testing

@MainActor @Suite("Data providers of a RocketData client")
struct ProviderTests {
    let cache = ClientCache()
    let manager: DataModelManager
    let screen: MessagesViewController
    let ada = UserModel(id: 1, name: "Ada")

    init() {
        manager = DataModelManager(cacheDelegate: cache)
        screen = MessagesViewController(dataModelManager: manager)
    }

    private func message(_ id: Int, _ text: String = "Meow") -> MessageModel {
        return MessageModel(id: id, text: text, sender: ada)
    }

    private func collection(_ key: String? = nil) -> CollectionDataProvider<MessageModel> {
        let provider = CollectionDataProvider<MessageModel>(dataModelManager: manager)
        if let key = key { provider.fetchDataFromCache(withCacheKey: key) { _, _ in } }
        return provider
    }

    // MARK: Single models

    @Test("Providers with one identifier show the same data, and the delegate gets the context")
    func consistency() async {
        let reason = ChangeReason("rename")
        screen.userDataProvider.setData(ada, updateCache: false)
        let other = DataProvider<UserModel>(dataModelManager: manager)
        other.setData(UserModel(id: 1, name: "Ada Lovelace"), context: reason)
        await manager.flush()
        #expect(screen.userDataProvider.data?.name == "Ada Lovelace")
        #expect(screen.events == ["user by rename"])
        manager.deleteModel(ada)
        await manager.flush()
        #expect(screen.userDataProvider.data == nil && other.data == nil)
        #expect(screen.events == ["user by rename", "user by nil"])
    }

    @Test("A provider that waits for a model goes on waiting after setData(nil)")
    func waiting() async {
        let provider = screen.userDataProvider
        provider.modelIdentifier = "UserModel:1"
        provider.setData(nil)
        #expect(provider.modelIdentifier == "UserModel:1")
        manager.updateModel(ada, context: ChangeReason("arrival"))
        await manager.flush()
        #expect(provider.data == ada && screen.events == ["user by arrival"])
        // A provider that shows a model does not wait for it again.
        provider.setData(nil)
        #expect(provider.modelIdentifier == nil)
        manager.updateModel(UserModel(id: 1, name: "later"))
        await manager.flush()
        #expect(provider.data == nil)
    }

    @Test("A fetch that misses waits for its model if it is to listen")
    func listening() async {
        var reply: NSError?
        screen.userDataProvider.fetchDataFromCache(
            withCacheKey: "UserModel:1", listenToModelIdentifier: true
        ) { user, error in
            reply = error
        }
        await manager.flush()
        #expect(reply?.code == 404)
        screen.dataProvider.setData([message(1)], cacheKey: nil)
        await manager.flush()
        #expect(screen.userDataProvider.data == ada)
    }

    @Test("Overrides of modelUpdated and of the updates listener are called, and may refuse")
    func providerOverrides() async {
        let provider = CountingProvider(dataModelManager: manager)
        provider.modelIdentifier = "UserModel:1"
        manager.updateModel(UserModel(id: 5, name: "another"))
        manager.updateModel(ada)
        await manager.flush()
        #expect(provider.announced >= 2 && provider.data == ada && provider.updates == [])
        manager.updateModel(UserModel(id: 1, name: "new"))
        await manager.flush()
        #expect(provider.updates == [["UserModel:1"]] && provider.data?.name == "new")
        manager.deleteModel(ada)
        await manager.flush()
        #expect(provider.updates.count == 2 && provider.data == nil)

        let changing = ChangingProvider(dataModelManager: manager)
        changing.setData(ada)
        manager.updateModel(UserModel(id: 1, name: "refused"))
        await manager.flush()
        #expect(changing.data == ada)
        manager.updateModel(UserModel(id: 1, name: "new"))
        await manager.flush()
        #expect(changing.data?.name == "NEW")
        // The provider follows the model that the override has passed on.
        manager.updateModel(UserModel(id: 1, name: "newer"))
        await manager.flush()
        #expect(changing.data?.name == "NEWER")
    }

    @Test("A paused provider keeps its model, and shows all that it missed in one change")
    func pausing() async {
        screen.userDataProvider.setData(ada, updateCache: false)
        screen.userDataProvider.isPaused = true
        manager.updateModel(UserModel(id: 1, name: "a"))
        manager.updateModel(UserModel(id: 1, name: "b"), context: ChangeReason("last"))
        await manager.flush()
        #expect(screen.userDataProvider.data == ada && screen.events == [])
        screen.userDataProvider.isPaused = false
        await manager.flush()
        #expect(screen.userDataProvider.data?.name == "b" && screen.events == ["user by last"])
    }

    @Test("A provider lives until its fetch completes")
    func lifetime() async {
        cache.setObject(ada.data(), forKey: "UserModel:1")
        var found: UserModel?
        weak var released: DataProvider<UserModel>?
        do {
            let provider = DataProvider<UserModel>(dataModelManager: manager)
            released = provider
            provider.fetchDataFromCache(withCacheKey: "UserModel:1") { [weak provider] user, _ in
                found = provider?.data
            }
        }
        await manager.flush()
        #expect(found == ada)
        #expect(released == nil)
    }

    // MARK: Collections

    @Test("Collections with one key are one: siblings get each step, and the cache is called once")
    func siblings() async {
        screen.dataProvider.setData([message(1), message(2)], cacheKey: "chat")
        let other = collection("chat")
        #expect(other.data == screen.dataProvider.data && other.cacheKey == "chat")
        let reason = ChangeReason("edit")
        other.insert([message(3)], at: 0, context: reason)
        other.append([message(4)], context: reason)
        other.update(message(1, "Purr"), at: 1, context: reason)
        other.remove(at: 2, context: reason)
        #expect(screen.dataProvider.data.map { $0.id } == [3, 1, 4])
        #expect(screen.dataProvider[1].text == "Purr" && screen.dataProvider.count == 3)
        #expect(
            screen.events == [
                "insert 0 by edit", "insert 3 by edit", "update 1 by edit", "delete 2 by edit",
            ])
        await manager.flush()
        #expect(cache.calls.filter { $0 == "set all chat" }.count == 5)
        let fresh = CollectionDataProvider<MessageModel>(
            dataModelManager: DataModelManager(cacheDelegate: cache))
        fresh.fetchDataFromCache(withCacheKey: "chat") { _, _ in }
        await fresh.dataModelManager.flush()
        #expect(fresh.data == other.data)
    }

    @Test("A deleted sender takes its messages out of every collection")
    func cascade() async {
        let grace = UserModel(id: 2, name: "Grace")
        screen.dataProvider.setData(
            [message(1), MessageModel(id: 2, text: "Hi", sender: grace), message(3)],
            cacheKey: "chat")
        manager.deleteModel(ada, context: ChangeReason("deletion"))
        await manager.flush()
        #expect(screen.dataProvider.data.map { $0.id } == [2])
        #expect(screen.events == ["delete 2 by deletion", "delete 0 by deletion"])
    }

    @Test("A collection is posted under its key after each change, with the elements it then has")
    func postedUnderKey() async {
        let list = collection()
        list.setData([message(1)], cacheKey: "chat")
        await manager.flush()
        let listener = ClientListener(
            BatchUpdateModel(models: [message(1)], modelIdentifier: "chat"))
        manager.consistencyManager.addListener(listener)
        let updates = ClientListener()
        manager.consistencyManager.addModelUpdatesListener(updates)
        func shown() -> [String] {
            let batch = listener.model as? BatchUpdateModel
            return batch?.models.map { ($0 as? MessageModel)?.text ?? "nil" } ?? []
        }
        // The update of the first message reaches the collection only after the edit.
        manager.updateModel(message(1, "Purr"))
        list.append([message(2, "Hiss")], context: ChangeReason("edit"))
        await manager.flush()
        #expect(shown() == ["Purr", "Hiss"] && list.data.map { $0.text } == ["Purr", "Hiss"])
        #expect((listener.contexts.last as? ChangeReason)?.text == "edit")
        list.remove(at: 0)
        await manager.flush()
        #expect(shown() == ["Hiss"])
        list.setData([message(3, "Chirp"), message(2, "Hiss")], cacheKey: "chat")
        await manager.flush()
        #expect(shown() == ["Chirp", "Hiss"])
        manager.updateModel(message(2, "Growl"))
        await manager.flush()
        #expect(shown() == ["Chirp", "Growl"])
        let posted = updates.changes.compactMap { changes -> Int? in
            guard case .updated(let models)? = changes["chat"] else { return nil }
            return (models.first as? BatchUpdateModel)?.models.count
        }
        #expect(posted == [2, 1, 2])
    }

    @Test("Static edits load a collection, and complete with an error if there is none")
    func staticEdits() async {
        var errors: [NSError?] = []
        CollectionDataProvider<MessageModel>.insert(
            [message(1)], at: { $0.count }, cacheKey: "chat", dataModelManager: manager
        ) { error in
            errors.append(error)
        }
        CollectionDataProvider.append(
            [message(1)], cacheKey: "chat", dataModelManager: manager, completion: nil)
        CollectionDataProvider.update(
            message(1, "Purr"), at: { _ in 0 }, cacheKey: "chat", dataModelManager: manager,
            context: ChangeReason("edit"))
        CollectionDataProvider<MessageModel>.removeAtIndex(
            { $0.count }, cacheKey: "chat", dataModelManager: manager
        ) { error in
            errors.append(error)
        }
        await manager.flush()
        #expect(errors.map { $0?.domain } == [rocketDataErrorDomain, rocketDataErrorDomain])
        let list = collection("chat")
        await manager.flush()
        #expect(list.data == [message(1, "Purr")])
        CollectionDataProvider.setData(
            [message(2)], cacheKey: "chat", dataModelManager: manager)
        #expect(list.data == [message(2)])
        // In the order of the calls, although the first one waits for the cache.
        CollectionDataProvider.append(
            [message(3)], cacheKey: "other", dataModelManager: manager, completion: nil)
        CollectionDataProvider<MessageModel>.setData(
            [], cacheKey: "other", dataModelManager: manager)
        await manager.flush()
        await manager.flush()
        let other = collection("other")
        await manager.flush()
        #expect(other.data.isEmpty)
    }

    @Test("A static edit whose override begins another change does both")
    func nestedStaticEdit() async {
        let manager = BadgeUpdater(cacheDelegate: cache)
        let badge = DataProvider<BadgeModel>(dataModelManager: manager)
        badge.setData(BadgeModel(id: "badge", count: 0), updateCache: false)
        CollectionDataProvider.append(
            [message(1)], cacheKey: "chat", dataModelManager: manager, completion: nil)
        // The change begins in a task of its own, behind the reply of the cache.
        for _ in 0..<10_000 where badge.data?.count != 1 {
            await manager.flush()
            await Task.yield()
        }
        #expect(badge.data?.count == 1)
    }

    // MARK: Batches

    @Test("A batch is called once for an update of several providers, after their delegates")
    func batch() async {
        screen.listenInBatch()
        screen.dataProvider.setData([message(1)], cacheKey: nil)
        screen.userDataProvider.setData(ada)
        manager.updateModel(UserModel(id: 1, name: "new"), context: ChangeReason("rename"))
        await manager.flush()
        #expect(screen.events.dropLast().sorted() == ["update 0 by rename", "user by rename"])
        #expect(screen.events.last == "batch of messages, user by rename")
        screen.events = []
        screen.viewDidDisappear()
        #expect(screen.dataProvider.isPaused && screen.batchListener?.isPaused == true)
        manager.updateModel(ada)
        await manager.flush()
        #expect(screen.events == [] && screen.userDataProvider.data?.name == "new")
        screen.viewWillAppear()
        await manager.flush()
        #expect(screen.userDataProvider.data == ada && screen.dataProvider[0].sender == ada)
        #expect(screen.events.last?.hasPrefix("batch of messages, user") == true)
        #expect(screen.events.count == 3)
    }

    @Test("Adding a provider to the consistency manager itself does not change it twice")
    func addedTwice() async {
        screen.userDataProvider.setData(ada)
        manager.consistencyManager.addListener(screen.userDataProvider)
        manager.updateModel(UserModel(id: 1, name: "new"))
        await manager.flush()
        #expect(screen.events == ["user by nil"])
    }
}

/// Refuses one model, and shows all others in capitals.
class ChangingProvider: DataProvider<UserModel> {
    override func modelUpdated(
        _ model: ConsistencyManagerModel?, updates: ModelUpdates, context: Any?
    ) {
        guard let user = model as? UserModel, user.name != "refused" else { return }
        super.modelUpdated(
            UserModel(id: user.id, name: user.name.uppercased()), updates: updates,
            context: context)
    }
}

/// Updates a badge whenever it saves a collection.
class BadgeUpdater: DataModelManager {
    override func cacheCollection<T: SimpleModel>(
        _ collection: [T], forKey cacheKey: String, context: Any?
    ) {
        super.cacheCollection(collection, forKey: cacheKey, context: context)
        updateModel(BadgeModel(id: "badge", count: collection.count), updateCache: false)
    }
}

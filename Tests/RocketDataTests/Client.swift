import ConsistencyManager
import Foundation
import RocketData

// The client's cache, its manager and its screens: see `ClientModels.swift`.

let clientErrorDomain = "com.client.cache"

/// A cache of property lists, as a client writes one over a key-value store. It records its calls.
class ClientCache: CacheDelegate {
    private let lock = NSLock()
    private var objects: [String: Any] = [:]
    private var recordedCalls: [String] = []
    private var recordedContexts: [Any?] = []

    var calls: [String] {
        return locked { recordedCalls }
    }

    var contexts: [Any?] {
        return locked { recordedContexts }
    }

    func object(_ key: String) -> Any? {
        return locked { objects[key] }
    }

    func setObject(_ object: Any?, forKey key: String) {
        locked { objects[key] = object }
    }

    private func locked<T>(_ body: () -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    private func record(_ call: String, _ context: Any?) {
        locked {
            recordedCalls.append(call)
            recordedContexts.append(context)
        }
    }

    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping (T?, NSError?) -> ()
    ) {
        record("get \(cacheKey ?? "nil")", context)
        guard let cacheKey = cacheKey,
            let data = object(cacheKey) as? [AnyHashable: Any],
            let modelType = T.self as? SampleAppModel.Type
        else {
            completion(nil, NSError(domain: clientErrorDomain, code: 404, userInfo: nil))
            return
        }
        completion(modelType.init(data: data) as? T, nil)
    }

    func setModel(_ model: SimpleModel, forKey cacheKey: String, context: Any?) {
        record("set \(cacheKey)", context)
        if let model = model as? SampleAppModel {
            setObject(model.data(), forKey: cacheKey)
        }
    }

    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping ([T]?, NSError?) -> ()
    ) {
        record("get all \(cacheKey ?? "nil")", context)
        guard let cacheKey = cacheKey,
            let keys = object(cacheKey) as? [String],
            let modelType = T.self as? SampleAppModel.Type
        else {
            completion(nil, nil)
            return
        }
        let collection: [T] = keys.compactMap {
            guard let data = self.object($0) as? [AnyHashable: Any] else { return nil }
            return modelType.init(data: data) as? T
        }
        completion(collection, nil)
    }

    func setCollection(_ collection: [SimpleModel], forKey cacheKey: String, context: Any?) {
        record("set all \(cacheKey)", context)
        collection.forEach { model in
            if let model = model as? SampleAppModel, let key = model.modelIdentifier {
                setObject(model.data(), forKey: key)
            }
        }
        setObject(collection.compactMap { $0.modelIdentifier }, forKey: cacheKey)
    }

    func deleteModel(_ model: SimpleModel, forKey cacheKey: String?, context: Any?) {
        record("delete \(cacheKey ?? "nil")", context)
        guard let cacheKey = cacheKey else { return }
        setObject(nil, forKey: cacheKey)
    }
}

/// A manager that counts what it saves, marks its contexts, and updates a badge with each message.
class SavingRecorder: DataModelManager {
    var saved: [String] = []
    var read: [String] = []
    var badges = 0

    override func cacheModel(_ model: SimpleModel, forKey cacheKey: String, context: Any?) {
        saved.append(cacheKey)
        super.cacheModel(model, forKey: cacheKey, context: context ?? "no context")
        if model is MessageModel {
            badges += 1
            updateModel(BadgeModel(id: "badge", count: badges))
        }
    }

    override func modelFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping (T?, NSError?) -> ()
    ) {
        read.append(cacheKey ?? "nil")
        super.modelFromCache(cacheKey, context: context, completion: completion)
    }

    override func cacheCollection<T: SimpleModel>(
        _ collection: [T], forKey cacheKey: String, context: Any?
    ) {
        saved.append("\(cacheKey): \(collection.count)")
        super.cacheCollection(collection, forKey: cacheKey, context: context)
    }

    override func collectionFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping ([T]?, NSError?) -> ()
    ) {
        read.append(cacheKey ?? "nil")
        super.collectionFromCache(cacheKey, context: context, completion: completion)
    }

    override func updateModel(_ model: SimpleModel, updateCache: Bool = true, context: Any? = nil) {
        super.updateModel(model, updateCache: updateCache, context: context)
    }
}

/// A manager that keeps a list of the users that it saves, and reads them again.
class ListKeeper: DataModelManager {
    var fetched: [String] = []
    var lists: [String] = []
    var edits = 0
    var removes = false

    override func cacheModel(_ model: SimpleModel, forKey cacheKey: String, context: Any?) {
        super.cacheModel(model, forKey: cacheKey, context: context)
        guard let user = model as? UserModel else { return }
        MainActor.assumeIsolated { keep(user, cacheKey) }
    }

    @MainActor
    private func keep(_ user: UserModel, _ cacheKey: String) {
        typealias Users = CollectionDataProvider<UserModel>
        let count: (NSError?) -> Void = { if $0 == nil { self.edits += 1 } }
        if removes {
            Users.insert(
                [user], at: { $0.count }, cacheKey: "users", dataModelManager: self,
                completion: count)
            Users.update(
                UserModel(id: 3, name: "Mary"), at: { $0.count - 1 }, cacheKey: "users",
                dataModelManager: self, completion: count)
            Users.removeAtIndex(
                { _ in 0 }, cacheKey: "users", dataModelManager: self, completion: count)
            return
        }
        Users.append([user], cacheKey: "users", dataModelManager: self, completion: count)
        let provider = DataProvider<UserModel>(dataModelManager: self)
        provider.fetchDataFromCache(withCacheKey: cacheKey) { user, _ in
            self.fetched.append(user?.name ?? "nothing")
        }
    }

    override func cacheCollection<T: SimpleModel>(
        _ collection: [T], forKey cacheKey: String, context: Any?
    ) {
        super.cacheCollection(collection, forKey: cacheKey, context: context)
        guard cacheKey == "others" else { return }
        MainActor.assumeIsolated {
            let list = CollectionDataProvider<UserModel>(dataModelManager: self)
            list.fetchDataFromCache(withCacheKey: "others") { users, _ in
                self.lists = users?.map { $0.name } ?? []
            }
        }
    }
}

extension DataModelManager {
    static let sharedInstance = DataModelManager(cacheDelegate: ClientCache())
}

extension DataProvider {
    convenience init() {
        self.init(dataModelManager: DataModelManager.sharedInstance)
    }
}

extension CollectionDataProvider {
    convenience init() {
        self.init(dataModelManager: DataModelManager.sharedInstance)
    }
}

/// A context without `Sendable`, as contexts of a client are.
class ChangeReason {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

/// A provider that follows its own updates.
class CountingProvider: DataProvider<UserModel> {
    var updates: [Set<String>] = []
    var announced = 0

    override func modelUpdated(
        _ model: ConsistencyManagerModel?, updates: ModelUpdates, context: Any?
    ) {
        self.updates.append(updates.changedModelIds.union(updates.deletedModelIds))
        super.modelUpdated(model, updates: updates, context: context)
    }

    override func consistencyManager(
        _ consistencyManager: ConsistencyManager, updatedModel model: ConsistencyManagerModel,
        changes: [String: ModelChange], context: Any?
    ) {
        announced += 1
        super.consistencyManager(
            consistencyManager, updatedModel: model, changes: changes, context: context)
    }

    override func setData(_ data: UserModel?, updateCache: Bool = true, context: Any? = nil) {
        super.setData(data, updateCache: updateCache, context: context)
    }
}

/// A screen of a chat: a list of messages, and the other person.
class MessagesViewController: CollectionDataProviderDelegate, DataProviderDelegate,
    BatchDataProviderListenerDelegate
{
    let dataProvider: CollectionDataProvider<MessageModel>
    let userDataProvider: DataProvider<UserModel>
    var batchListener: BatchDataProviderListener?
    var events: [String] = []

    init(dataModelManager: DataModelManager) {
        dataProvider = CollectionDataProvider(dataModelManager: dataModelManager)
        userDataProvider = DataProvider(dataModelManager: dataModelManager)
        dataProvider.delegate = self
        userDataProvider.delegate = self
    }

    func listenInBatch() {
        batchListener = BatchDataProviderListener(
            dataProviders: [dataProvider, userDataProvider],
            dataModelManager: dataProvider.dataModelManager)
        batchListener?.delegate = self
    }

    func viewDidDisappear() {
        batchListener?.isPaused = true
    }

    func viewWillAppear() {
        batchListener?.isPaused = false
    }

    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?
    ) {
        let reason = (context as? ChangeReason)?.text ?? "nil"
        switch collectionChanges {
        case .reset:
            events.append("reset by \(reason)")
        case .changes(let changes):
            for change in changes {
                switch change {
                case .update(let index): events.append("update \(index) by \(reason)")
                case .delete(let index): events.append("delete \(index) by \(reason)")
                case .insert(let index): events.append("insert \(index) by \(reason)")
                }
            }
        }
        if dataProvider !== self.dataProvider { events.append("another provider") }
    }

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {
        events.append("user by \((context as? ChangeReason)?.text ?? "nil")")
        if dataProvider !== userDataProvider { events.append("another provider") }
    }

    func batchDataProviderListener(
        _ batchListener: BatchDataProviderListener,
        hasUpdatedDataProviders dataProviders: [ConsistencyManagerListener], context: Any?
    ) {
        let names = dataProviders.map { $0 === userDataProvider ? "user" : "messages" }
        let reason = (context as? ChangeReason)?.text ?? "nil"
        events.append("batch of \(names.joined(separator: ", ")) by \(reason)")
    }
}

/// A listener of the consistency manager itself.
class ClientListener: ConsistencyManagerListener, ConsistencyManagerUpdatesListener,
    ConsistencyManagerDelegate
{
    var model: ConsistencyManagerModel?
    var contexts: [Any?] = []
    var changes: [[String: ModelChange]] = []
    var replaced = 0
    var errors: [String] = []

    init(_ model: ConsistencyManagerModel? = nil) {
        self.model = model
    }

    func delete(
        _ model: ConsistencyManagerModel, from manager: DataModelManager,
        because reason: ChangeReason
    ) {
        manager.consistencyManager.deleteModel(model, context: reason)
    }

    func currentModel() -> ConsistencyManagerModel? {
        return model
    }

    func modelUpdated(_ model: ConsistencyManagerModel?, updates: ModelUpdates, context: Any?) {
        self.model = model
        contexts.append(context)
    }

    func consistencyManager(
        _ consistencyManager: ConsistencyManager, updatedModel model: ConsistencyManagerModel,
        changes: [String: ModelChange], context: Any?
    ) {
        self.changes.append(changes)
    }

    func consistencyManager(
        _ consistencyManager: ConsistencyManager, failedWithCriticalError error: String
    ) {
        errors.append(error)
    }

    func consistencyManager(
        _ consistencyManager: ConsistencyManager, willReplaceModel model: ConsistencyManagerModel,
        withModel newModel: ConsistencyManagerModel, context: Any?
    ) {
        replaced += 1
    }
}

class ClientLog: LogDelegate {
    var messages: [String] = []

    func assertionFailure(
        _ message: String, file: StaticString, function: StaticString, line: UInt
    ) {
        messages.append(message)
    }
}

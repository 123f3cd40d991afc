import Espalier
import Foundation
import Testing

// Source as it was written for RocketData, unchanged except for the import and `any`. The test is
// that it compiles in this mode.

extension DataModelManager {
    static let sharedInstance = DataModelManager(cacheDelegate: ClientCache())
}

extension DataProvider {
    convenience init() { self.init(dataModelManager: DataModelManager.sharedInstance) }
}

extension CollectionDataProvider {
    convenience init() { self.init(dataModelManager: DataModelManager.sharedInstance) }
}

class ClientCache: CacheDelegate {
    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping (T?, Error?) -> ()
    ) {
        completion(nil, nil)
    }

    func setModel(_ model: SimpleModel, forKey cacheKey: String, context: Any?) {}

    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping ([T]?, Error?) -> ()
    ) {
        completion(nil, nil)
    }

    func setCollection(_ collection: [SimpleModel], forKey cacheKey: String, context: Any?) {}
    func deleteModel(_ model: SimpleModel, forKey cacheKey: String?, context: Any?) {}
}

final class UserModel: Model, Equatable {
    let id: Int
    let name: String
    init(id: Int, name: String) { self.id = id; self.name = name }
    var modelIdentifier: String? { return "UserModel:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> UserModel? { return self }
    func forEach(_ visit: (any Model) -> Void) {}
    static func == (l: UserModel, r: UserModel) -> Bool { return l.id == r.id && l.name == r.name }
}

final class MessageModel: Model, Equatable {
    let id: Int
    let text: String
    let sender: UserModel
    init(id: Int, text: String, sender: UserModel) {
        self.id = id; self.text = text; self.sender = sender
    }
    var modelIdentifier: String? { return "MessageModel:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> MessageModel? {
        guard let sender = transform(sender) as? UserModel else { return nil }
        return MessageModel(id: id, text: text, sender: sender)
    }
    func forEach(_ visit: (any Model) -> Void) { visit(sender) }
    static func == (l: MessageModel, r: MessageModel) -> Bool {
        return l.id == r.id && l.text == r.text && l.sender == r.sender
    }
}

class MessagesViewController: CollectionDataProviderDelegate, DataProviderDelegate,
    BatchDataProviderListenerDelegate
{
    private let dataProvider = CollectionDataProvider<MessageModel>()
    private let userDataProvider = DataProvider<UserModel>()
    private var batchListener: BatchDataProviderListener?
    var title = ""
    private let otherUser: UserModel

    init(otherUser: UserModel) {
        self.otherUser = otherUser
    }

    func viewDidLoad() {
        dataProvider.delegate = self
        userDataProvider.delegate = self
        batchListener = BatchDataProviderListener(
            dataProviders: [dataProvider, userDataProvider],
            dataModelManager: DataModelManager.sharedInstance)
        batchListener?.delegate = self
        userDataProvider.setData(otherUser, updateCache: false)
        dataProvider.fetchDataFromCache(withCacheKey: cacheKey, context: nil) { (_, error) in
            self.title = error == nil ? "cached" : "miss"
        }
        userDataProvider.fetchDataFromCache(
            withCacheKey: "UserModel:1", listenToModelIdentifier: true
        ) { model, _ in
            if let model = model { self.title = model.name }
        }
    }

    var cacheKey: String { return "messages:\(otherUser.id)" }

    func viewWillAppear() { batchListener?.isPaused = false }
    func viewDidDisappear() { batchListener?.isPaused = true }

    func networkFinished(_ messages: [MessageModel], context: Any?) {
        dataProvider.setData(messages, cacheKey: cacheKey, shouldCache: true, context: context)
        DataModelManager.sharedInstance.updateModels(messages)
        DataModelManager.sharedInstance.updateModel(messages[0], context: context)
    }

    func newMessage(_ text: String) {
        let message = MessageModel(id: Int.random(in: 2..<99), text: text, sender: otherUser)
        dataProvider.insert([message], at: 0)
        dataProvider.append([message])
        dataProvider.update(message, at: 0)
        dataProvider.remove(at: 0)
        CollectionDataProvider<MessageModel>.append(
            [message], cacheKey: "other", dataModelManager: DataModelManager.sharedInstance)
        CollectionDataProvider<MessageModel>.insert(
            [message], at: { data in return data.count }, cacheKey: "other",
            dataModelManager: DataModelManager.sharedInstance,
            completion: { error in
                self.title = "\(String(describing: error))"
            })
        CollectionDataProvider<MessageModel>.removeAtIndex(
            { $0.count - 1 }, cacheKey: "other", dataModelManager: DataModelManager.sharedInstance)
        CollectionDataProvider<MessageModel>.setData(
            [message], cacheKey: "other", dataModelManager: DataModelManager.sharedInstance)
        DataModelManager.sharedInstance.deleteModel(message)
    }

    func rows() -> [String] {
        return (0..<dataProvider.count).map { dataProvider[$0].text }
            + dataProvider.data.map { $0.text }
    }

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {
        if let user = userDataProvider.data { title = user.name }
        if dataProvider === userDataProvider { title += "!" }
    }

    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?
    ) {
        switch collectionChanges {
        case .reset: title = "reset"
        case .changes(let changes):
            for change in changes {
                switch change {
                case .update(let index): title = "\(index)"
                case .insert(let index), .delete(let index): title = "\(index)"
                }
            }
            title += "\(changes.deltaNumberOfElements())"
        }
    }

    func batchDataProviderListener(
        _ batchListener: BatchDataProviderListener,
        hasUpdatedDataProviders dataProviders: [ConsistencyManagerListener],
        context: Any?
    ) {
        title = "batch"
    }
}

class SimpleListener: ConsistencyManagerListener, ConsistencyManagerUpdatesListener,
    ConsistencyManagerDelegate
{
    var model: ConsistencyManagerModel?
    let manager = ConsistencyManager()
    func start() {
        manager.delegate = self
        manager.garbageCollectionInterval = 10
        manager.addListener(self)
        manager.addModelUpdatesListener(self)
        manager.updateModel(UserModel(id: 1, name: "x"), context: "c")
        manager.pauseListener(self)
        manager.resumeListener(self)
        manager.clearListenersAndCancelAllTasks { print("done") }
        manager.clearListenersAndCancelAllTasks(nil)
        let batch = BatchListener(listeners: [self], consistencyManager: manager)
        batch.listenerHasUpdatedModel(self, consistencyManager: manager)
    }
    func currentModel() -> ConsistencyManagerModel? { return model }
    func modelUpdated(_ model: ConsistencyManagerModel?, updates: ModelUpdates, context: Any?) {
        self.model = model
    }
    func consistencyManager(
        _ consistencyManager: ConsistencyManager, updatedModel model: ConsistencyManagerModel,
        changes: [String: ModelChange], context: Any?
    ) {
        if case .updated(let models)? = changes["UserModel:1"] { self.model = models.first }
    }
    func consistencyManager(
        _ consistencyManager: ConsistencyManager, failedWithCriticalError error: String
    ) {}
}

@MainActor @Suite("Source written for RocketData compiles and runs in Swift 5 mode")
struct RocketDataClientTests {
    @Test("A RocketData client runs unchanged in Swift 5 mode")
    func runs() async {
        let user = UserModel(id: 1, name: "Ann")
        let controller = MessagesViewController(otherUser: user)
        controller.viewDidLoad()
        controller.networkFinished(
            [MessageModel(id: 1, text: "Hello", sender: user)], context: "server")
        controller.newMessage("Bye")
        await DataModelManager.sharedInstance.flush()
        // The new message was inserted, appended, and removed at the top; then it was deleted
        // everywhere.
        #expect(controller.rows() == ["Hello", "Hello"])
        DataModelManager.sharedInstance.updateModel(UserModel(id: 1, name: "Anna"))
        await DataModelManager.sharedInstance.flush()
        #expect(controller.title == "batch")
    }
}

import EspalierModels
import Testing

@Suite("Models written for RocketData compile and work unchanged")
struct SampleAppTests {
    let data: [AnyHashable: Any] = [
        "id": 3, "text": "hello",
        "sender": ["id": 1, "name": "Ann", "online": true] as [AnyHashable: Any],
    ]

    @Test("A model is found through the app's own protocol")
    func appProtocol() throws {
        let type: any SimpleModel.Type = MessageModel.self
        let appType = try #require(type as? any SampleAppModel.Type)
        let model = try #require(appType.init(data: data) as? MessageModel)
        #expect(
            model
                == MessageModel(
                    id: 3, text: "hello", sender: UserModel(id: 1, name: "Ann", online: true)))
        #expect(model.modelIdentifier == "MessageModel:3")
    }

    @Test("A cache delegate in the sample app's style stores models and collections")
    func cacheDelegate() async throws {
        let cache = SampleCache()
        let message = try #require(MessageModel(data: data))
        cache.setModel(message, forKey: "MessageModel:3", context: nil)
        cache.setCollection([message, message], forKey: "all", context: "context")
        #expect(await cache.model(MessageModel.self, "MessageModel:3") == message)
        #expect(await cache.collection(MessageModel.self, "all") == [message, message])
        #expect(await cache.model(UserModel.self, "MessageModel:3") == nil)
        #expect(await cache.model(MessageModel.self, nil) == nil)
        cache.deleteModel(message, forKey: nil, context: nil)
        #expect(await cache.model(MessageModel.self, "MessageModel:3") == nil)
    }
}

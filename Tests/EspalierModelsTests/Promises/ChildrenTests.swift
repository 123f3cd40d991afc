import EspalierModels
import Testing

@Suite("Children are visited and replaced through the consistency manager's protocol")
struct ChildrenTests {
    static let ann = UserModel(id: 1, name: "Ann", online: false)
    static let bob = UserModel(id: 2, name: "Bob", online: false)
    static let first = MessageModel(id: 1, text: "a", sender: ann)
    static let second = MessageModel(id: 2, text: "b", sender: bob)
    let thread: any ConsistencyManagerModel = ThreadModel(
        id: 1, owner: ann, latest: second, messages: [first, second, first])

    /// Does what the consistency manager does: replaces a node in all its places.
    func replacing(
        _ identifier: String, in model: any ConsistencyManagerModel,
        by new: (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)? {
        if model.modelIdentifier == identifier { return new }
        return model.map { replacing(identifier, in: $0, by: new) }
    }

    func replacing(_ identifier: String, by new: (any ConsistencyManagerModel)?) -> ThreadModel? {
        replacing(identifier, in: thread, by: new) as? ThreadModel
    }

    @Test("`forEach` visits the direct children in order, repeated ones each time")
    func visiting() {
        var visited: [String?] = []
        thread.forEach { visited.append($0.modelIdentifier) }
        #expect(
            visited == [
                "UserModel:1", "MessageModel:2", "MessageModel:1", "MessageModel:2",
                "MessageModel:1",
            ])
    }

    @Test("`map` replaces a child in every place")
    func replacing() throws {
        let online = UserModel(id: 1, name: "Ann", online: true)
        let changed = try #require(replacing("UserModel:1", by: online))
        let message = MessageModel(id: 1, text: "a", sender: online)
        #expect(
            changed
                == ThreadModel(
                    id: 1, owner: online, latest: Self.second,
                    messages: [message, Self.second, message]))
    }

    @Test("`map` with unchanged children returns an equal model")
    func identity() throws {
        let mapped = try #require(thread.map { $0 })
        #expect(thread.isEqualToModel(mapped))
        #expect(mapped is ThreadModel)
    }

    @Test("A deleted optional child becomes nil, and a deleted element is removed")
    func deletingMessage() throws {
        let changed = try #require(replacing("MessageModel:2", by: nil))
        #expect(
            changed
                == ThreadModel(
                    id: 1, owner: Self.ann, latest: nil, messages: [Self.first, Self.first]))
    }

    @Test("A deleted required child deletes its parent, up to the nearest optional place")
    func cascade() throws {
        let changed = try #require(replacing("UserModel:2", by: nil))
        #expect(
            changed
                == ThreadModel(
                    id: 1, owner: Self.ann, latest: nil, messages: [Self.first, Self.first]))
    }

    @Test("A deletion of a child that the root requires deletes the whole model")
    func cascadeToTheTop() {
        #expect(replacing("UserModel:1", by: nil) == nil)
    }

    @Test("A child that is replaced by a model of another type counts as deleted")
    func wrongType() throws {
        let changed = try #require(replacing("MessageModel:2", by: Self.bob))
        #expect(changed.latest == nil)
        #expect(changed.messages == [Self.first, Self.first])
        #expect(
            replacing("UserModel:1", by: SmallestConsistencyManagerModel(number: 1, children: []))
                == nil)
    }

    @Test("A model that conforms only to ConsistencyManagerModel is mapped too")
    func consistencyManagerModelAlone() {
        let leaf = SmallestConsistencyManagerModel(number: 2, children: [])
        let root = SmallestConsistencyManagerModel(number: 1, children: [leaf, leaf])
        let mapped = replacing("2", in: root, by: nil)
        #expect(
            mapped as? SmallestConsistencyManagerModel
                == SmallestConsistencyManagerModel(number: 1, children: []))
    }
}

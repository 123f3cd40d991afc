import Espalier
import Foundation
import Testing

/// Two screens over the engine on disk. After every step, the screens, what they have drawn, and
/// the cache must agree.
@MainActor @Suite("Two screens and the cache agree")
final class TwoScreensTests {
    private let directory = NSTemporaryDirectory() + "espalier-screens-" + UUID().uuidString
    private var cache: NormalizedCache
    private var manager: DataModelManager
    private let ada = Person(id: 1, name: "Ada")
    private let ben = Person(id: 2, name: "Ben")

    init() throws {
        cache = try NormalizedCache(directory: directory)
        manager = DataModelManager(cache: cache)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func message(_ id: Int, _ sender: Person) -> Message {
        Message(id: id, text: "Message \(id)", sender: sender)
    }

    private func start(_ feed: FeedScreen, _ profile: ProfileScreen) async {
        let messages = [message(10, ada), message(11, ben), message(12, ada)]
        feed.show(messages)
        profile.profile.setData(Profile(person: ada, pinned: messages[2], friends: [ben]))
        await manager.flush()
    }

    /// Checks that the models of `feed` and `profile` are drawn, and are in the cache.
    private func agree(
        _ feed: FeedScreen, _ profile: ProfileScreen,
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        await manager.flush()
        let stored = await cache.collection(of: Message.self, forKey: "feed")
        #expect(feed.messages.data == stored ?? [], sourceLocation: sourceLocation)
        #expect(feed.drawn == feed.messages.data, sourceLocation: sourceLocation)
        let storedProfile = await cache.read(Profile.self, "Profile:1")
        #expect(profile.profile.data == storedProfile, sourceLocation: sourceLocation)
        for message in feed.messages.data {
            let stored = await cache.read(Message.self, message.modelIdentifier ?? "")
            #expect(message == stored, sourceLocation: sourceLocation)
        }
        #expect(try cache.verify().problems.isEmpty, sourceLocation: sourceLocation)
    }

    @Test("Screens and cache agree after a push, a deletion, static edits, and a relaunch")
    func agree() async throws {
        var feed = FeedScreen(manager)
        var profile = ProfileScreen(manager)
        await start(feed, profile)
        try await agree(feed, profile)

        // A push: Ada is now called Ada Lovelace.
        manager.updateModel(Person(id: 1, name: "Ada Lovelace"), context: "push")
        try await agree(feed, profile)
        #expect(feed.messages.data[0].sender.name == "Ada Lovelace")
        #expect(profile.profile.data?.pinned?.sender.name == "Ada Lovelace")
        #expect(feed.calls == 1 && profile.calls == 1)

        // The pinned message is deleted: it leaves the list and the profile.
        manager.deleteModel(feed.messages.data[2])
        try await agree(feed, profile)
        #expect(feed.messages.count == 2)
        #expect(profile.profile.data != nil && profile.profile.data?.pinned == nil)

        // A static edit changes the list.
        let collection = CollectionDataProvider<Message>.self
        collection.append([message(20, ben)], cacheKey: "feed", dataModelManager: manager)
        collection.insert(
            [message(21, ada)], at: { _ in 1 }, cacheKey: "feed", dataModelManager: manager)
        collection.removeAtIndex({ _ in 0 }, cacheKey: "feed", dataModelManager: manager)
        try await agree(feed, profile)
        #expect(feed.messages.map(\.id) == [21, 11, 20])

        // The message contains an older Ada, but it was posted later and counts.
        #expect(profile.profile.data?.person.name == "Ada")

        cache.close()
        cache = try NormalizedCache(directory: directory)
        manager = DataModelManager(cache: cache)
        let shown = (feed.messages.data, profile.profile.data)
        feed = FeedScreen(manager)
        profile = ProfileScreen(manager)
        try await feed.open()
        try await profile.open("Profile:1")
        #expect(feed.messages.data == shown.0)
        #expect(profile.profile.data == shown.1)
        try await agree(feed, profile)

        // Ben's messages require him: they are deleted with him.
        manager.deleteModel(ben)
        try await agree(feed, profile)
        #expect(feed.messages.map(\.id) == [21])
        #expect(profile.profile.data?.friends == [])
    }

    /// Waits until the feed shows `texts`, and the cache has the same.
    private func expect(
        _ texts: [String], in feed: FeedScreen, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let limit = ContinuousClock.now + .seconds(10)
        await manager.flush()
        while feed.messages.map(\.text) != texts, ContinuousClock.now < limit {
            await manager.flush()
            try? await Task.sleep(for: .milliseconds(5))
        }
        #expect(feed.messages.map(\.text) == texts, sourceLocation: sourceLocation)
        let stored = await cache.collection(of: Message.self, forKey: "feed")
        #expect(stored?.map(\.text) == texts, sourceLocation: sourceLocation)
    }

    @Test("What a screen writes hides no pending change, on that screen or another one")
    func pendingChange() async throws {
        let feed = FeedScreen(manager)
        let messages = [message(10, ada), message(11, ben)]
        feed.show(messages)
        await manager.flush()
        let edit = cache.optimistically {
            $0.set(Message(id: 10, text: "edited", sender: self.ada))
        }
        let more = cache.optimistically {
            $0.append([self.message(12, self.ben)], toCollection: "feed")
        }
        try await edit.applied.committed
        try await more.applied.committed
        let texts = ["edited", "Message 11", "Message 12"]
        await expect(texts, in: feed)

        // The server's message and list, which know of neither change.
        manager.updateModel(messages[0])
        await expect(texts, in: feed)
        feed.show(messages)
        await expect(texts, in: feed)
        let other = FeedScreen(manager)
        other.show(messages)
        await expect(texts, in: other)
        await expect(texts, in: feed)
        feed.messages.append([message(13, ben)])
        await expect(["edited", "Message 11", "Message 12", "Message 13"], in: feed)
        try await edit.confirm().committed
        try await more.confirm().committed
        await expect(["edited", "Message 11", "Message 12", "Message 13"], in: feed)
        await expect(["edited", "Message 11", "Message 12", "Message 13"], in: other)
        #expect(try cache.verify().problems.isEmpty)
    }

    @Test("A collection that no screen shows is edited on disk")
    func closed() async throws {
        let feed = FeedScreen(manager)
        let profile = ProfileScreen(manager)
        await start(feed, profile)
        cache.close()
        cache = try NormalizedCache(directory: directory)
        manager = DataModelManager(cache: cache)
        let collection = CollectionDataProvider<Message>.self
        collection.append([message(30, ada)], cacheKey: "feed", dataModelManager: manager)
        collection.append([message(31, ada)], cacheKey: "feed", dataModelManager: manager)
        collection.update(
            message(32, ben), at: { _ in 0 }, cacheKey: "feed", dataModelManager: manager)
        collection.append([message(1, ada)], cacheKey: "nothing yet", dataModelManager: manager)
        await manager.flush()
        #expect(
            await cache.collection(of: Message.self, forKey: "feed")?.map(\.id) == [
                32, 11, 12, 30, 31,
            ])
        #expect(await cache.collection(of: Message.self, forKey: "nothing yet")?.map(\.id) == [1])
    }

    @Test("Posting the same models again calls no delegate and writes no record")
    func same() async throws {
        let feed = FeedScreen(manager)
        let profile = ProfileScreen(manager)
        let second = FeedScreen(manager)
        await start(feed, profile)
        try await second.open()
        let before = try cache.statistics().recordsWritten
        let shown = profile.profile.data
        manager.updateModels(feed.messages.data)
        manager.updateModel(ada)
        profile.profile.setData(shown)
        feed.show(feed.messages.data)
        await manager.flush()
        #expect(feed.calls == 0 && profile.calls == 0 && second.calls == 0)
        #expect(try cache.statistics().recordsWritten == before)
        manager.updateModel(Person(id: 1, name: "Anna"))
        await manager.flush()
        #expect(try cache.statistics().recordsWritten == before + 1)
    }

    @Test("What a screen shows is fetched again, and by other screens, without the disk")
    func fetchedFromMemory() async throws {
        let messages = [message(10, ada), message(11, ben)]
        try await cache.set(messages).committed
        try await cache.setCollection(messages, forKey: "feed").committed
        func fetch(_ manager: DataModelManager) async throws {
            let single = DataProvider<Message>(dataModelManager: manager)
            let list = CollectionDataProvider<Message>(dataModelManager: manager)
            for _ in 0..<2 {
                #expect(try await single.fetch("Message:10") == messages[0])
                #expect(try await list.fetch("feed") == messages)
            }
        }
        try await fetch(manager)
        await manager.flush()
        let before = try cache.statistics().memory
        try await fetch(manager)
        // Each of these managers has nothing of what the others show.
        for _ in 0..<3 { try await fetch(DataModelManager(cache: cache)) }
        let after = try cache.statistics().memory
        #expect(after.hits > before.hits)
        #expect(after.misses == before.misses && after.staleReads == before.staleReads)
        // A change is read from the disk, once.
        try await cache.set(Person(id: 1, name: "Anna")).committed
        for _ in 0..<2 {
            let screen = DataProvider<Message>(dataModelManager: DataModelManager(cache: cache))
            #expect(try await screen.fetch("Message:10")?.sender.name == "Anna")
        }
        #expect(try cache.statistics().memory.staleReads == after.staleReads + 1)
    }

    @Test("An edit whose neighbours the cache has lost sends the whole collection")
    func lost() async throws {
        let feed = FeedScreen(manager)
        let profile = ProfileScreen(manager)
        await start(feed, profile)
        // Changes the stored collection without the providers, as an eviction would.
        try await cache.remove(at: 1, fromCollection: "feed").committed
        feed.messages.append([message(40, ada)])
        await manager.flush()
        #expect(await cache.collection(of: Message.self, forKey: "feed") == feed.messages.data)
    }
}

import Espalier
import EspalierTestSupport
import Foundation
import Testing

/// Screens show again what was deleted and has come back.
@MainActor @Suite("Screens get back what was deleted", .timeLimit(.minutes(1)))
final class ReturnedModelTests {
    private let directory = NSTemporaryDirectory() + "espalier-returned-" + UUID().uuidString
    private let cache: NormalizedCache
    private let manager: DataModelManager

    init() throws {
        cache = try NormalizedCache(directory: directory)
        manager = DataModelManager(cache: cache)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func pins(_ ids: Int...) -> [Pin] { ids.map { Pin(id: $0, image: "a") } }

    /// A list of the pins 1, 2 and 3 on a screen.
    private func board() async throws -> CollectionDataProvider<Pin> {
        let board = CollectionDataProvider<Pin>(dataModelManager: manager)
        board.setData(pins(1, 2, 3), cacheKey: "board")
        await manager.flush()
        return board
    }

    private func storedBoard() async -> [Int]? {
        await cache.collection(of: Pin.self, forKey: "board")?.map(\.id)
    }

    @Test("An element whose optimistic deletion is rolled back is on the list again, and stays")
    func element() async throws {
        let board = try await board()
        let change = cache.optimistically { $0.delete("Pin:2") }
        try await change.applied.committed
        await manager.flush()
        #expect(board.data.map(\.id) == [1, 3])
        try await change.rollback().committed
        await manager.flush()
        #expect(board.data.map(\.id) == [1, 2, 3])
        board.append(pins(4))
        await manager.flush()
        #expect(board.data.map(\.id) == [1, 2, 3, 4])
        #expect(await storedBoard() == [1, 2, 3, 4])
    }

    @Test("A model whose required part comes back is shown again")
    func requiredPart() async throws {
        let message = Message(id: 1, text: "Hello", sender: Person(id: 1, name: "Ada"))
        try await cache.set(message).committed
        let screen = DataProvider<Message>(dataModelManager: manager)
        _ = try await screen.fetch("Message:1")
        let change = cache.optimistically { $0.delete("Person:1") }
        try await change.applied.committed
        await manager.flush()
        #expect(screen.data == nil)
        try await change.rollback().committed
        await manager.flush()
        #expect(screen.data == message)
    }

    @Test("A model that a screen deletes is shown again if a pending change sets it")
    func pendingChange() async throws {
        let board = try await board()
        let change = cache.optimistically { $0.set(Pin(id: 2, image: "liked")) }
        try await change.applied.committed
        await manager.flush()
        manager.deleteModel(Pin(id: 2))
        await manager.flush()
        #expect(await cache.read(Pin.self, "Pin:2")?.image == "liked")
        #expect(board.data.map(\.id) == [1, 2, 3])
        try await change.confirm().committed
        await manager.flush()
        #expect(await storedBoard() == board.data.map(\.id))
    }

    @Test(
        "After others delete and rewrite an element, the screen shows the list that the cache has")
    func writtenAgain() async throws {
        let board = try await board()
        try await cache.delete("Pin:2").committed
        await manager.flush()
        #expect(board.data.map(\.id) == [1, 3])
        try await cache.set(pins(2)).committed
        await manager.flush()
        #expect(await storedBoard() == board.data.map(\.id))
    }

    @Test("A provider whose model was deleted does not wait for it once it has fetched another one")
    func fetchesAnother() async throws {
        try await cache.set(pins(1)).committed
        let screen = DataProvider<Pin>(dataModelManager: manager)
        _ = try await screen.fetch("Pin:1")
        try await cache.delete("Pin:1").committed
        await manager.flush()
        #expect(screen.data == nil && screen.modelIdentifier == "Pin:1")
        #expect(try await screen.fetch("Pin:9") == nil)
        try await cache.set(pins(1)).committed
        await manager.flush()
        #expect(screen.data == nil)
        // A wait that was asked for goes on.
        screen.modelIdentifier = "Pin:5"
        #expect(try await screen.fetch("Pin:9") == nil)
        try await cache.set(pins(5)).committed
        await manager.flush()
        #expect(screen.data?.id == 5)
    }

    @Test("A provider that fetches its deleted model by the same key again still waits for it")
    func fetchesByKey() async throws {
        try await cache.setModel(Pin(id: 1, image: "a"), forKey: "me").committed
        let screen = DataProvider<Pin>(dataModelManager: manager)
        #expect(try await screen.fetch("me")?.id == 1)
        try await cache.delete("Pin:1").committed
        await manager.flush()
        #expect(try await screen.fetch("me") == nil)
        try await cache.set(pins(1)).committed
        await manager.flush()
        #expect(screen.data?.id == 1)
    }
}

import Espalier
import Foundation
import Testing

/// Exit tests run their bodies in other processes, which share the cache directory of the parent.
@MainActor @Suite("Screens follow another process")
final class OtherProcessTests {
    private let directory = NSTemporaryDirectory() + "espalier-other-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// The example of the talk in which Pinterest described its model merging.
    @Test("A response is merged into the stored superset: on disk, on screens, in another process")
    func superset() async throws {
        let merged = Pin(id: 123, image: "new", board: "garden", recipe: "jam")
        var cache = try NormalizedCache(directory: directory)
        try await cache.set(Pin(id: 123, image: "old", board: "garden")).committed
        let manager = DataModelManager(cache: cache)
        let screens = (0..<3).map { _ in DataProvider<Pin>(dataModelManager: manager) }
        for screen in screens { _ = try await screen.fetch("Pin:123") }
        let response = #"{"id": 123, "image": "new", "recipe": "jam"}"#
        #expect(try await cache.ingest(Data(response.utf8), as: Pin.self) == merged)
        for screen in screens {
            for await pin in screen.values where pin == merged { break }
        }
        await expectInOtherProcess(merged)
        await manager.flush()
        cache.close()
        cache = try NormalizedCache(directory: directory)
        #expect(await cache.read(Pin.self, "Pin:123") == merged)
        cache.close()
        await expectInOtherProcess(merged)
    }

    private func expectInOtherProcess(_ pin: Pin) async {
        let expected = String(decoding: (try? JSONEncoder().encode(pin)) ?? Data(), as: UTF8.self)
        await #expect(processExitsWith: .success) {
            [directory = directory as String, expected = expected as String] in
            let cache = try NormalizedCache(directory: directory)
            let pin = try JSONDecoder().decode(Pin.self, from: Data(expected.utf8))
            let provider = await DataProvider<Pin>(dataModelManager: DataModelManager(cache: cache))
            let shown = try await provider.fetch("Pin:123")
            guard shown == pin, await cache.read(Pin.self, "Pin:123") == pin else { exit(2) }
            cache.close()
        }
    }

    @Test("After 1,000 commits of another process, each of 50 screens shows what a read gives")
    func commits() async throws {
        let cache = try NormalizedCache(directory: directory)
        let manager = DataModelManager(cache: cache)
        try await cache.set((0..<50).map { Pin(id: $0, image: "0") }).committed
        let screens = (0..<50).map { _ in DataProvider<Pin>(dataModelManager: manager) }
        for (id, screen) in screens.enumerated() { _ = try await screen.fetch("Pin:\(id)") }
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            let cache = try NormalizedCache(directory: directory)
            for step in 0..<1_000 {
                let id = Int.random(in: 0..<50)
                switch step % 10 {
                case 0 where id > 10: try await cache.delete("Pin:\(id)").committed
                case 1, 2: try await cache.set(Pin(id: id, image: "\(step)")).committed
                default:
                    try await cache.set(Pin(id: id, board: "\(step)"), policy: .merge).committed
                }
            }
            try await cache.set(Pin(id: 0, image: "last")).committed
            cache.close()
        }
        for await pin in screens[0].values where pin?.image == "last" { break }
        // All commits before the last one have been read by then.
        await manager.flush()
        for (id, screen) in screens.enumerated() {
            let stored: Pin? = await cache.read(Pin.self, "Pin:\(id)")
            #expect(screen.data == stored, "Pin:\(id)")
        }
        cache.close()
    }
}

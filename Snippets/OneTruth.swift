// Partial models merged, changed in one step, observed, and followed by a screen.

import Espalier
import Foundation

struct Pin: Codable, NormalizedModel, Model, Equatable {
    var id: Int
    var image: String?
    var board: String?
    var likes: Int?
    var modelIdentifier: String? { "Pin:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Pin? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

@MainActor
func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)
    // snippet.merging
    let manager = DataModelManager(cache: cache, writePolicy: .merge)
    let board = DataProvider<Pin>(dataModelManager: manager)
    board.setData(Pin(id: 123, image: "old.jpg", board: "Garden"))
    await manager.flush()

    // Another list of the server knows the likes, and nothing of the board.
    manager.updateModel(Pin(id: 123, image: "new.jpg", likes: 7))
    await manager.flush()
    print(board.data?.image ?? "-", board.data?.board ?? "-")  // new.jpg Garden
    // snippet.ingesting
    let response = Data(#"[{"id": 123, "likes": 8}]"#.utf8)
    let pins = try await manager.ingest(response, as: [Pin].self)
    print(pins[0].board ?? "-", pins[0].likes ?? 0)  // Garden 8
    // snippet.updating
    let liked = try await manager.update(Pin.self, "Pin:123") { pin in
        var pin = pin
        pin.likes = (pin.likes ?? 0) + 1
        return pin
    }
    print(liked.likes ?? 0)  // 9
    // snippet.transaction
    let total = try await cache.transaction { transaction in
        let pin = transaction.read(Pin.self, "Pin:123")
        try transaction.set(Pin(id: 124, board: pin?.board, likes: 1))
        return (pin?.likes ?? 0) + 1
    }
    print(total)  // 10
    // snippet.observing
    for await pin in cache.updates(of: Pin.self, "Pin:124") {
        print(pin?.board ?? "none")  // Garden
        break
    }
    // snippet.outcomes
    do {
        try await board.save(Pin(id: 125, image: "new.jpg"))
    } catch {
        print("shown, and not stored: \(error)")
    }
    switch try await board.fetchOutcome("Pin:999") {
    case .hit(let pin): print(pin.id)
    case .miss(let reason): print(reason?.description ?? "no reason")  // not found
    }
    // snippet.end
    await manager.flush()
    cache.close()
}

let directory = NSTemporaryDirectory() + "espalier-one-truth"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)

import EspalierModels
import Foundation
import Testing

@testable import EspalierConsistency

@MainActor @Suite("The memory cost of a node in the index is bounded")
struct MemoryTests {
    /// A model whose identifier is computed, so that the model itself holds none.
    private struct Item: ConsistencyManagerModel, Equatable {
        let number: Int
        let isLong: Bool
        var modelIdentifier: String? {
            isLong
                ? "https://api.example.org/v2/collections/with/a/long/way/to/each/item/"
                    + "\(10_000_000_000 + number)"
                : "\(number)"
        }
        func map(_ transform: (Child) -> Child?) -> Child? { self }
        func forEach(_ visit: (Child) -> Void) {}
    }

    /// A list of values, without boxes.
    private struct List: ConsistencyManagerModel, Equatable {
        var modelIdentifier: String? { nil }
        let items: [Item]
        func map(_ transform: (Child) -> Child?) -> Child? {
            List(items: items.compactMap { transform($0) as? Item })
        }
        func forEach(_ visit: (Child) -> Void) { items.forEach(visit) }
    }

    @Test("The index takes less than 100 bytes a node at every size")
    func growth() {
        let index = ModelIndex()
        var worst = 0.0
        for number in 1...300_000 {
            _ = index.insert(Item(number: number, isLong: false), owner: 1)
            if number > 1_000, number % 64 == 1 {
                worst = max(worst, Double(index.bytes) / Double(number))
            }
        }
        #expect(worst < 100)
    }

    #if os(Linux)
    /// Returns the memory of this process in bytes.
    private func residentBytes() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(
            separator: " ")
        return Int(pages[1], radix: 10)! * 4_096  // the kernel's own format
    }

    @Test(
        "The process grows by less than 100 bytes a node, however long the identifiers are",
        arguments: [false, true])
    func resident(isLong: Bool) async throws {
        let (listeners, nodes) = (1_000, 500)
        let manager = ConsistencyManager()
        await manager.flush()
        let screens = (0..<listeners).map { listener in
            Screen(
                List(items: (0..<nodes).map { Item(number: listener * nodes + $0, isLong: isLong) })
            )
        }
        let before = try residentBytes()
        for screen in screens { manager.addListener(screen) }
        await manager.flush()
        let perNode = try Double(residentBytes() - before) / Double(listeners * nodes)
        #expect(await manager.worker.nodeCount == listeners * (nodes + 1))
        #expect(await Double(manager.worker.indexBytes) / Double(listeners * nodes) < 100)
        // The tables that were outgrown are not given back at once, and never under the thread
        // sanitizer.
        if ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil { #expect(perNode < 150) }
        _ = screens
    }
    #endif

    @Test("A slot takes 32 bytes")
    func slot() { #expect(MemoryLayout<ModelIndex.Entry>.stride == 32) }

    @Test("Free slots are used again")
    func reused() async {
        let manager = ConsistencyManager()
        let screen = manager.screen(Shelf("s", 0, (0..<100).map { Leaf("\($0)") }))
        for value in 1...50 {
            manager.updateModel(Shelf("s", value, (0..<100).map { Leaf("\(value) \($0)") }))
        }
        await manager.flush()
        #expect(await manager.worker.nodeCount == 101)
        #expect(await manager.worker.indexBytes < 203 * 100)
        #expect(screen.calls.count == 50)
    }
}

import Dispatch
import EspalierConsistency
import EspalierModels
import Testing

@MainActor
@Suite("Any thread may post while the main actor adds, removes, pauses and releases listeners")
struct ManyThreadsTests {
    private let manager = ConsistencyManager()

    /// Posts `count` updates from each of several threads, and waits for them.
    private nonisolated static func post(_ count: Int, on manager: ConsistencyManager) async {
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for value in 1...count {
                        let leaf = Leaf("\((value + thread) % 10)", value * 10 + thread)
                        switch value % 5 {
                        case 0:
                            manager.updateModel(
                                Page("p", value, [Page("q", thread)], leaf: leaf), context: value)
                        case 1 where value % 7 == 0: manager.deleteModel(Leaf("9"))
                        default: manager.updateModel(leaf, context: value)
                        }
                        if value % 50 == 0 { manager.cleanMemory() }
                    }
                }
            }
        }
    }

    @Test("All listeners that stay show the same model in the end")
    func staying() async {
        let manager = manager
        func make() -> Child { Shelf("s", 0, (0..<9).map { Leaf("\($0)", 0) } + [Page("p", 0)]) }
        let screens = (0..<4).map { _ in manager.screen(make()) }
        let posting = Task.detached { await Self.post(300, on: manager) }
        for round in 0..<200 {
            let passing = manager.screen(make())
            if round % 3 == 0 { manager.pauseListener(screens[round % 4]) }
            if round % 3 == 1 { manager.pauseListener(passing) }
            if round % 3 == 2 { screens.forEach { manager.resumeListener($0) } }
            if round % 4 == 0 { manager.removeListener(passing) }
            await Task.yield()
        }
        await posting.value
        screens.forEach { manager.resumeListener($0) }
        await manager.flush()
        for screen in screens.dropFirst() { #expect(isSame(screen.model, screens[0].model)) }
        #expect(screens.allSatisfy { !$0.calls.isEmpty })
    }

    @Test("A clearing among concurrent updates leaves no listener that is called")
    func clearing() async {
        let manager = manager
        let screens = (0..<4).map { _ in manager.screen(Leaf("1", 0)) }
        let posting = Task.detached { await Self.post(200, on: manager) }
        for _ in 0..<20 { await Task.yield() }
        manager.clearListenersAndCancelAllTasks()
        let counts = screens.map(\.calls.count)
        await posting.value
        await manager.flush()
        #expect(screens.map(\.calls.count) == counts)
    }

    @Test("Managers can be created and released while threads post to them")
    func managers() async {
        for _ in 0..<20 {
            let manager = ConsistencyManager()
            let screen = manager.screen(Leaf("1", 0))
            let posting = Task.detached { await Self.post(20, on: manager) }
            manager.garbageCollectionInterval = 0.0005
            await posting.value
            await manager.flush()
            #expect(!screen.calls.isEmpty)
        }
    }
}

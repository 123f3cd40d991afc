import EspalierModels
import Testing

@testable import EspalierConsistency

@MainActor @Suite("A tree that was asked for earlier catches up with what was posted since")
struct FetchTests {
    private let manager = ConsistencyManager()

    /// What a screen hears that shows `model`, asked for before `posting` and shown after it.
    private func catchUp(_ model: Child, _ posting: () -> Void) async -> Screen {
        let fetch = ChangeTime()
        manager.beginFetch(fetch)
        posting()
        await manager.flush()
        let screen = Screen(model)
        manager.register(screen, since: fetch)
        manager.endFetch(fetch)
        await manager.flush()
        return screen
    }

    @Test("updates and deletions, in their order, with their contexts")
    func all() async {
        let screen = await catchUp(Shelf("s", 0, [Leaf("a", 0), Leaf("b", 0)])) {
            manager.updateModel(Leaf("a", 1), context: "1")
            manager.updateModel(Leaf("a", 2), context: "2")
            manager.deleteModel(Leaf("b"), context: "3")
            manager.updateModel(Leaf("z", 2), context: "4")
        }
        #expect(isSame(screen.model, Shelf("s", 0, [Leaf("a", 2)])))
        #expect(screen.contexts == ["1", "2", "3"])
    }

    @Test("a child posted after its parent is the later one")
    func childLater() async {
        let screen = await catchUp(Shelf("s", 0)) {
            manager.updateModel(Shelf("s", 1, [Leaf("a", 0), Leaf("b", 0)]))
            manager.updateModel(Leaf("a", 1))
            manager.deleteModel(Leaf("b"))
        }
        #expect(isSame(screen.model, Shelf("s", 1, [Leaf("a", 1)])))
    }

    @Test("what was posted before it was asked for, or is in it already, does not come")
    func nothing() async {
        manager.updateModel(Leaf("a", 1))
        let screen = await catchUp(Shelf("s", 0, [Leaf("a", 0)])) {
            manager.updateModel(Shelf("s", 0, [Leaf("a", 0)]))
        }
        #expect(screen.calls.isEmpty)
    }

    @Test("nothing is kept once nothing is asked for; of two fetches the older one decides")
    func forgotten() async {
        weak var posted: Page?
        let (older, newer) = (ChangeTime(), ChangeTime())
        manager.beginFetch(older)
        manager.beginFetch(newer)
        do {
            let page = Page("p")
            posted = page
            manager.updateModel(page)
        }
        manager.endFetch(newer)
        await manager.flush()
        #expect(posted != nil)
        manager.endFetch(older)
        await manager.flush()
        #expect(posted == nil)
    }

    @Test("of more than is kept the latest is kept, and nothing where nothing is asked for")
    func limit() {
        var recent = RecentChanges(nodeLimit: 100)
        let fetch = ChangeTime()
        func note(_ count: Int) {
            let posting = Posting(
                model: BatchUpdateModel(models: (0..<count).map { Leaf("\($0)") }),
                isDeletion: false, context: nil,
                time: ChangeTime(), era: 0, onCascade: nil)
            recent.note(PostedChanges(posting: posting.model), posting)
        }
        func kept() -> [Int] { recent.changes(since: fetch).map(\.changes.byIdentifier.count) }
        note(1)
        #expect(kept() == [])
        recent.begin(fetch)
        for _ in 0..<1_000 {
            note(1)
            #expect(kept().count <= 100)
        }
        #expect(kept().count >= 75)
        note(1_000)
        #expect(kept() == [1_000])
        note(80)
        #expect(kept() == [80])
        for _ in 0..<500 { note(0) }
        #expect((75...100).contains(kept().count))
        recent.end(fetch)
        #expect(kept() == [])
    }

    @Test(
        "a cache that never answers has no more than the latest kept; whoever asks later misses nothing"
    )
    func neverAnswered() async {
        manager.beginFetch(ChangeTime())
        let count = RecentChanges.usualNodeLimit + 10
        weak var first: Page?
        do {
            let page = Page("p")
            first = page
            manager.updateModel(page)
        }
        for value in 0..<count { manager.updateModel(Leaf("a", value)) }
        await manager.flush()
        #expect(first == nil)
        let screen = await catchUp(Leaf("a", 0)) { manager.updateModel(Leaf("a", -1)) }
        #expect(screen.model as? Leaf == Leaf("a", -1))
    }

    @Test("others hear nothing of it")
    func others() async {
        let other = manager.screen(Leaf("a", 0))
        let recorder = ChangeRecorder()
        manager.addModelUpdatesListener(recorder)
        let screen = await catchUp(Leaf("a", 0)) { manager.updateModel(Leaf("a", 1)) }
        #expect(screen.calls.count == 1 && other.calls.count == 1 && recorder.calls.count == 1)
    }

    @Test("a deletion tells what could not be without the model")
    func cascade() async {
        let screen = manager.screen(
            Shelf("s", 0, [Page("p", 0, [Page(nil, 0, leaf: Leaf("x"))], leaf: Leaf("l"))]))
        var heard: [[String?]] = []
        for leaf in ["l", "x", "none"] {
            manager.delete(Leaf(leaf), context: nil, time: ChangeTime()) { models in
                heard.append(models.map(\.modelIdentifier))
            }
        }
        await manager.flush()
        #expect(heard == [["p"], [], []] && isSame(screen.model, Shelf("s")))
    }

    @Test("times are in the order in which they were made")
    func times() {
        let times = [ChangeTime.zero] + (0..<100).map { _ in ChangeTime() }
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect(later.after(earlier) && !earlier.after(later) && earlier < later)
        }
        #expect(!times[5].after(times[5]))
    }
}

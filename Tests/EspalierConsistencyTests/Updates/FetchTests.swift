import EspalierModels
import Testing

@testable import EspalierConsistency

@MainActor @Suite("A tree that was requested earlier catches up with the updates since")
struct FetchTests {
    private let manager = ConsistencyManager()

    /// Returns the calls of a screen that shows `model`, which was requested before `posting` and
    /// shown after it.
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

    @Test("A fetched tree gets missed updates and deletions in order, with their contexts")
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

    @Test("A child that was posted after its parent is the later one")
    func childLater() async {
        let screen = await catchUp(Shelf("s", 0)) {
            manager.updateModel(Shelf("s", 1, [Leaf("a", 0), Leaf("b", 0)]))
            manager.updateModel(Leaf("a", 1))
            manager.deleteModel(Leaf("b"))
        }
        #expect(isSame(screen.model, Shelf("s", 1, [Leaf("a", 1)])))
    }

    @Test("Updates from before the request, and those the tree contains, are not delivered")
    func nothing() async {
        manager.updateModel(Leaf("a", 1))
        let screen = await catchUp(Shelf("s", 0, [Leaf("a", 0)])) {
            manager.updateModel(Shelf("s", 0, [Leaf("a", 0)]))
        }
        #expect(screen.calls.isEmpty)
    }

    @Test("Updates are kept for the oldest fetch in progress, and only during fetches")
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

    @Test("The latest updates are kept up to the limit, and none without a fetch")
    func limit() {
        var recent = RecentChanges(nodeLimit: 100)
        let fetch = ChangeTime()
        func record(_ count: Int) {
            let update = PostedUpdate(
                model: BatchUpdateModel(models: (0..<count).map { Leaf("\($0)") }),
                isDeletion: false, context: nil,
                time: ChangeTime(), epoch: 0, onCascade: nil)
            if let update = SubmittedChanges(update) { recent.append(update) }
        }
        func kept() -> [Int] { recent.updates(since: fetch).map(\.changes.byIdentifier.count) }
        record(1)
        #expect(kept() == [])
        recent.begin(fetch)
        for _ in 0..<1_000 {
            record(1)
            #expect(kept().count <= 100)
        }
        #expect(kept().count >= 75)
        record(1_000)
        #expect(kept() == [1_000])
        record(80)
        #expect(kept() == [80])
        for _ in 0..<500 { record(0) }
        #expect((75...100).contains(kept().count))
        recent.end(fetch)
        #expect(kept() == [])
    }

    @Test("A cache that never replies keeps only the latest updates, and later fetches miss none")
    func neverAnswered() async {
        manager.beginFetch(ChangeTime())
        let count = RecentChanges.defaultNodeLimit + 10
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

    @Test("Missed updates are not delivered to other listeners")
    func others() async {
        let other = manager.screen(Leaf("a", 0))
        let recorder = ChangeRecorder()
        manager.addModelUpdatesListener(recorder)
        let screen = await catchUp(Leaf("a", 0)) { manager.updateModel(Leaf("a", 1)) }
        #expect(screen.calls.count == 1 && other.calls.count == 1 && recorder.calls.count == 1)
    }

    @Test("A deletion reports the models that required the deleted model")
    func cascade() async {
        let screen = manager.screen(
            Shelf("s", 0, [Page("p", 0, [Page(nil, 0, leaf: Leaf("x"))], leaf: Leaf("l"))]))
        var outcome: [[String?]] = []
        for leaf in ["l", "x", "none"] {
            manager.post(Leaf(leaf), isDeletion: true, context: nil, time: ChangeTime()) { models in
                outcome.append(models.map(\.modelIdentifier))
            }
        }
        await manager.flush()
        #expect(outcome == [["p"], [], []] && isSame(screen.model, Shelf("s")))
    }

    @Test("Times are ordered by creation")
    func times() {
        let times = [ChangeTime.zero] + (0..<100).map { _ in ChangeTime() }
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect(later.after(earlier) && !earlier.after(later) && earlier < later)
        }
        #expect(!times[5].after(times[5]))
    }
}

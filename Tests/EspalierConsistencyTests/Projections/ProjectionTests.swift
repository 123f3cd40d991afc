import EspalierConsistency
import EspalierModels
import Synchronization
import Testing

@MainActor @Suite("Several types of one identifier are kept consistent by merging")
struct ProjectionTests {
    private let manager = ConsistencyManager()

    private func tree(_ child: Profile?, _ otherChild: Profile? = nil) -> Profile {
        Profile(.both, "0", data: 1, otherData: 1, child: child, otherChild: otherChild)
    }

    private func screen(_ child: Profile?, _ otherChild: Profile? = nil) -> Screen {
        manager.screen(tree(child, otherChild))
    }

    @Test("A projection changes the fields that it has, and no others")
    func oneField() async {
        let screen = screen(Profile(.both, "1", data: 2, otherData: 2))
        manager.updateModel(Profile(.otherData, "1", otherData: 4), context: "why")
        await manager.flush()
        #expect(screen.model as? Profile == tree(Profile(.both, "1", data: 2, otherData: 4)))
        #expect(screen.updates == [.changed(["0", "1"])] && screen.contexts == ["why"])
    }

    @Test("Two projections that are shown each take the fields that they have")
    func bothShown() async {
        let screen = screen(Profile(.data, "1", data: 2), Profile(.otherData, "1", otherData: 4))
        manager.updateModel(Profile(.both, "1", data: 3, otherData: 3))
        await manager.flush()
        #expect(
            screen.model as? Profile
                == tree(Profile(.data, "1", data: 3), Profile(.otherData, "1", otherData: 3)))
        #expect(screen.updates == [.changed(["0", "1"])])
    }

    @Test("Two projections that are posted together are both merged")
    func bothPosted() async {
        let screen = screen(Profile(.both, "1", data: 2, otherData: 4))
        let (data, other) = (Profile(.data, "1", data: 3), Profile(.otherData, "1", otherData: 5))
        manager.updateModel(
            Profile(.both, "2", data: 5, otherData: 5, child: data, otherChild: other))
        await manager.flush()
        #expect(screen.model as? Profile == tree(Profile(.both, "1", data: 3, otherData: 5)))
        #expect(screen.calls.count == 1)
    }

    @Test("No listener is called about fields that it does not show")
    func notShown() async {
        let screen = screen(Profile(.data, "1", data: 2))
        manager.updateModel(Profile(.otherData, "1", otherData: 5))
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("Deleting one projection deletes all of them")
    func deletion() async {
        let screens = [
            screen(Profile(.data, "1", data: 2), Profile(.otherData, "1", otherData: 4)),
            manager.screen(Shelf("s", 0, [Profile(.both, "1", data: 2, otherData: 4)])),
        ]
        manager.deleteModel(Profile(.both, "1"))
        await manager.flush()
        #expect(screens[0].model as? Profile == tree(nil))
        #expect(isSame(screens[1].model, Shelf("s")))
    }

    @Test("Old children that a merge keeps are updated if they are posted too")
    func keptChildren() async {
        let kept = Profile(.both, "2", data: 1, otherData: 1)
        let screen = manager.screen(Profile(.both, "1", data: 1, otherData: 1, child: kept))
        let posted = Profile(.data, "1", data: 5, child: Profile(.both, "2", data: 6, otherData: 6))
        manager.updateModel(posted)
        await manager.flush()
        let expected = Profile(
            .both, "1", data: 5, otherData: 1, child: Profile(.both, "2", data: 6, otherData: 6))
        #expect(screen.model as? Profile == expected)
        #expect(screen.updates == [.changed(["1", "2"])])
    }

    @Test("Old children are updated even if the merge changes nothing else")
    func keptChildrenOfUnchanged() async {
        let kept = Profile(.both, "2", data: 1, otherData: 1)
        let screen = manager.screen(Profile(.both, "1", data: 1, otherData: 1, child: kept))
        manager.updateModel(Profile(.data, "1", data: 1, child: Profile(.data, "2", data: 6)))
        await manager.flush()
        let expected = Profile(
            .both, "1", data: 1, otherData: 1, child: Profile(.both, "2", data: 6, otherData: 1))
        #expect(screen.model as? Profile == expected)
        #expect(screen.updates == [.changed(["1", "2"])])
    }

    // MARK: Foreign nodes

    /// A story as one screen has it, with its author.
    private struct Story: ProjectedModel, Equatable {
        var title = "old"
        var author = Writer(id: 1)
        let modelIdentifier: String? = "Story"

        func storedValue(_ name: String) -> Any? {
            name == "title" ? title : name == "author" ? author : nil
        }
        func merge(_ model: any Model) -> any Model {
            guard let other = model as? any ProjectedModel else { return self }
            if let story = other as? Story { return story }
            var new = self
            ModelMembers.take(&new.title, named: "title", from: other)
            ModelMembers.take(&new.author, named: "author", from: other)
            return new
        }
        func map(_ transform: (any Model) -> (any Model)?) -> Story? {
            (transform(author) as? Writer).map { Story(title: title, author: $0) }
        }
        func forEach(_ visit: (any Model) -> Void) { visit(author) }
    }

    private struct Writer: ProjectedModel, Equatable {
        let id: Int
        var name = "old"
        var modelIdentifier: String? { "Writer:\(id)" }

        func storedValue(_ name: String) -> Any? { name == "name" ? self.name : nil }
        func merge(_ model: any Model) -> any Model {
            guard let other = model as? any ProjectedModel else { return self }
            var new = self
            ModelMembers.take(&new.name, named: "name", from: other)
            return new
        }
        func map(_ transform: (any Model) -> (any Model)?) -> Writer? { self }
        func forEach(_ visit: (any Model) -> Void) {}
    }

    /// The same records as another screen has them.
    private struct Card<Author: Model & Equatable>: ProjectedModel, Equatable {
        var title = "old"
        var author: Author
        let modelIdentifier: String? = "Story"

        func storedValue(_ name: String) -> Any? {
            name == "title" ? title : name == "author" ? author : nil
        }
        func map(_ transform: (any Model) -> (any Model)?) -> Card? {
            (transform(author) as? Author).map { Card(title: title, author: $0) }
        }
        func forEach(_ visit: (any Model) -> Void) { visit(author) }
    }

    private struct Name: ProjectedModel, Equatable {
        let id: Int
        var name = "old"
        var modelIdentifier: String? { "Writer:\(id)" }
        func storedValue(_ name: String) -> Any? { name == "name" ? self.name : nil }
        func map(_ transform: (any Model) -> (any Model)?) -> Name? { self }
        func forEach(_ visit: (any Model) -> Void) {}
    }

    /// Posts a model, and returns the nodes that are reported as foreign.
    private func foreignNodes(posting model: any Model) async -> Set<String> {
        let reported = Mutex<Set<String>>([])
        manager.post(
            model, context: nil, time: ChangeTime(),
            onForeignNodes: { nodes in reported.withLock { $0.formUnion(nodes) } })
        await manager.flush()
        return reported.withLock { $0 }
    }

    @Test("A child that another type has replaced is reported, whatever else has changed")
    func replacedChild() async {
        for title in ["old", "new"] {
            let screen = manager.screen(Story())
            let card = Card(title: title, author: Name(id: 2))
            #expect(await foreignNodes(posting: card) == ["Story"])
            #expect(screen.model as? Story == Story(title: title))
        }
    }

    @Test("A change that a merge takes over as a whole is not reported")
    func takenAsWhole() async {
        let screen = manager.screen(Story())
        let card = Card(title: "new", author: Name(id: 1, name: "new"))
        #expect(await foreignNodes(posting: card) == [])
        let new = Story(title: "new", author: Writer(id: 1, name: "new"))
        #expect(screen.model as? Story == new)
        #expect(await foreignNodes(posting: Card(author: Writer(id: 2))) == [])
        #expect(screen.model as? Story == Story(author: Writer(id: 2)))
        #expect(await foreignNodes(posting: Story()) == [])
    }

    // MARK: Later updates

    @Test("Children that a merge kept are updated later")
    func keptAreListened() async {
        let kept = Profile(.both, "2", data: 1, otherData: 1)
        let screen = manager.screen(Profile(.both, "1", data: 1, otherData: 1, child: kept))
        manager.updateModel(Profile(.data, "1", data: 5))
        manager.updateModel(Profile(.otherData, "2", otherData: 7))
        manager.deleteModel(Profile(.data, "2"))
        await manager.flush()
        #expect(
            screen.updates == [
                .changed(["1"]), .changed(["1", "2"]), .changed(["1"], deleted: ["2"]),
            ])
        #expect(screen.model as? Profile == Profile(.both, "1", data: 5, otherData: 1))
    }
}

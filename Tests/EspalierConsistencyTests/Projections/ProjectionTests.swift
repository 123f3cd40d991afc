import EspalierConsistency
import EspalierModels
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

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

    @Test("a projection changes the fields that it has, and no others")
    func oneField() async {
        let screen = screen(Profile(.both, "1", data: 2, otherData: 2))
        manager.updateModel(Profile(.otherData, "1", otherData: 4), context: "why")
        await manager.flush()
        #expect(screen.model as? Profile == tree(Profile(.both, "1", data: 2, otherData: 4)))
        #expect(screen.updates == [.changed(["0", "1"])] && screen.contexts == ["why"])
    }

    @Test("two projections that are shown each take what they have")
    func bothShown() async {
        let screen = screen(Profile(.data, "1", data: 2), Profile(.otherData, "1", otherData: 4))
        manager.updateModel(Profile(.both, "1", data: 3, otherData: 3))
        await manager.flush()
        #expect(
            screen.model as? Profile
                == tree(Profile(.data, "1", data: 3), Profile(.otherData, "1", otherData: 3)))
        #expect(screen.updates == [.changed(["0", "1"])])
    }

    @Test("two projections that are posted are both taken")
    func bothPosted() async {
        let screen = screen(Profile(.both, "1", data: 2, otherData: 4))
        let (data, other) = (Profile(.data, "1", data: 3), Profile(.otherData, "1", otherData: 5))
        manager.updateModel(
            Profile(.both, "2", data: 5, otherData: 5, child: data, otherChild: other))
        await manager.flush()
        #expect(screen.model as? Profile == tree(Profile(.both, "1", data: 3, otherData: 5)))
        #expect(screen.calls.count == 1)
    }

    @Test("nobody is called about fields that are not shown")
    func notShown() async {
        let screen = screen(Profile(.data, "1", data: 2))
        manager.updateModel(Profile(.otherData, "1", otherData: 5))
        await manager.flush()
        #expect(screen.calls.isEmpty)
    }

    @Test("a deletion by one projection deletes all of them")
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

    @Test("old children that a merge keeps are updated if they are posted, too")
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

    @Test("the same where the merge changes nothing but the child does")
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

    @Test("children that a merge kept are listened to afterwards")
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

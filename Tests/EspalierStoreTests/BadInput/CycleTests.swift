import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Cycles")
struct CycleTests {
    private func outcome(_ cache: NormalizedCache, _ identifier: String) -> (
        outline: String?, isCut: Bool
    ) {
        guard case .hit(let hit) = cache.readOutcome(Ring.self, identifier) else {
            return (nil, false)
        }
        return (hit.value.outline, hit.isCut)
    }

    /// Expects a read to give `outline`, in both orders of fields.
    private func expectOutline(
        _ cache: NormalizedCache, _ identifier: String, _ outline: String, isCut: Bool
    ) {
        #expect(outcome(cache, identifier) == (outline, isCut))
        #expect(cache.read(MirroredRing.self, identifier)?.outline == outline)
    }

    @Test(
        "A back reference within one tree is left out, the hit says so, and the record is flagged"
    )
    func inOneTree() throws {
        try withCache { cache in
            try cache.set(Ring("a", left: Ring("b", left: Ring("a")))).wait()
            expectOutline(cache, "a", "a(b -)", isCut: true)
            expectOutline(cache, "b", "b(a -)", isCut: true)
            #expect(try cache.state("a").flags.contains(.onCycle))
        }
    }

    @Test("A node that refers to itself is read without the reference")
    func toItself() throws {
        try withCache { cache in
            try cache.set(Ring("a", left: Ring("a"), right: Ring("a"))).wait()
            expectOutline(cache, "a", "a", isCut: true)
            #expect(try cache.state("a").flags.contains(.onCycle))
            #expect(try cache.state("a").referenceCount == 1)
        }
    }

    @Test("A cycle that separate writes made is found by a read, and flagged by the next commit")
    func acrossWrites() throws {
        try withCache { cache in
            cache.set(Ring("a", left: Ring("b")))
            cache.set(Ring("b", right: Ring("a", left: Ring("b"))))
            cache.set(Person("p:0", "before"))
            expectOutline(cache, "a", "a(b -)", isCut: true)
            try cache.set(Person("p:1", "next")).wait()
            #expect(try cache.state("a").flags.contains(.onCycle))
            let handle = try #require(try cache.handle("a"))
            #expect(try cache.state(handle).isInRecency)
        }
    }

    @Test("Cycles that share nodes are read the same whatever the order of fields")
    func shared() throws {
        try withCache { cache in
            // a -> b, c; b -> c; c -> b, written one by one.
            cache.set(Ring("a", left: Ring("b"), right: Ring("c")))
            cache.set(Ring("b", left: Ring("c")))
            cache.set(Ring("c", right: Ring("b", left: Ring("c"))))
            expectOutline(cache, "a", "a(b(c -) c(- b))", isCut: true)
            expectOutline(cache, "b", "b(c -)", isCut: true)
            expectOutline(cache, "c", "c(- b)", isCut: true)
        }
    }

    @Test("A cycle through a required field is a miss that names the path")
    func required() throws {
        try withCache { cache in
            cache.set(Link("a", next: Link("b", next: Link("a", next: nil))))
            #expect(cache.readOutcome(Link.self, "a").reason == .cyclic(path: "b.next"))
            #expect(cache.readOutcome(Link.self, "b").reason?.name == "cyclic")
        }
    }

    @Test("A cycle that a write has broken is not cut any more, and can be deleted")
    func broken() throws {
        try withCache { cache in
            cache.set(Ring("a", left: Ring("b", left: Ring("a"))))
            cache.set(Ring("b"))
            #expect(outcome(cache, "a") == ("a(b -)", false))
            cache.set(Ring("b", left: Ring("a", left: Ring("b"))))
            try cache.delete("a").wait()
            #expect(outcome(cache, "b") == ("b", false))
            try cache.delete("b").wait()
            let statistics = try cache.statistics()
            #expect(statistics.nodes == 0 && statistics.tombstones == 0 && statistics.roots == 0)
        }
    }

    @Test("A cycle that is flagged and deleted in one commit leaves nothing in recency")
    func flaggedAndDeleted() throws {
        try withCache { cache in
            cache.set(Ring("a", left: Ring("b")))
            try cache.set(Ring("b", right: Ring("a", left: Ring("b")))).wait()
            #expect(outcome(cache, "a").isCut)
            cache.delete("a")
            try cache.delete("b").wait()
            #expect(try cache.statistics().roots == 0)
        }
    }

    @Test(
        "A cycle is cut at a record on the path, even in a subtree that was decoded off that path")
    func sharedSubtree() throws {
        try withCache { cache in
            func node(_ identifier: String, _ values: [String: TreeValue]) -> TreeModel {
                TreeModel.filled(
                    .node, identifier,
                    values.merging(["number": .scalar(.integer(1))]) { first, _ in first })
            }
            let view = TreeModel.filled(.summary, "b", ["badge": .scalar(.integer(1))])
            let shared = node("n", ["view": .child(view)])
            let items = [shared, shared, node("b", ["next": .child(shared)])]
            try cache.set(node("r", ["items": .array(items)])).wait()
            let outcome = cache.readOutcome(TypedTree<TreeTypes.Node>.self, "r")
            guard case .hit(let hit) = outcome,
                case .array(let read) = hit.value.tree.values["items"]
            else {
                Issue.record("\(outcome)")
                return
            }
            #expect(hit.isCut)
            #expect(read[2].values["next"] == .child(node("n", [:])))
        }
    }
}

import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

/// A check that can't fail is worse than none: each test breaks an invariant by hand and expects
/// the report of it.
@Suite("Verifying reports what is broken")
struct VerifierTests {
    @Test(
        "A check reports each broken invariant by its number, and no other", arguments: Breakage.all
    )
    func reports(breakage: Breakage) throws {
        try withCache(isDamaged: true) { cache in
            try breakage.apply(to: cache, makeScene(in: cache))
            let report = try cache.verify()
            #expect(!report.isClean)
            #expect(
                Set(report.problems.map(\.invariant)) == breakage.invariants, "\(report.problems)")
            #expect(report.problems.count == report.problemCount)
        }
    }

    private func makeScene(in cache: NormalizedCache) throws -> Breakage.Scene {
        cache.set(Message("m:1", from: Person("p:anna", "Anna"), to: Person("p:ben", "Ben")))
        cache.set(Message("m:2", from: Person("p:cem", "Cem")))
        cache.setModel(Person("p:anna", "Anna"), forKey: "me")
        try cache.set(
            Message("m:1", from: Person("p:anna", "Anna"), to: Person("p:ben", "Ben"))
        ).wait()
        let ben = try #require(try cache.handle("p:ben"))
        try cache.delete("p:ben").wait()
        try expectClean(cache)
        return Breakage.Scene(
            message: try #require(try cache.handle("m:1")),
            anna: try #require(try cache.handle("p:anna")),
            ben: ben,
            cem: try #require(try cache.handle("p:cem")))
    }

    @Test(
        "A repair lists the records that eviction may take anew",
        arguments: Breakage.all.filter { $0.invariants == [3] })
    func recency(breakage: Breakage) throws {
        try withCache { cache in
            try breakage.apply(to: cache, makeScene(in: cache))
            #expect(try !cache.verify().isClean)
            try cache.repair().wait()
            try expectClean(cache)
            #expect(cache.read(Message.self, "m:1")?.sender == Person("p:anna", "Anna"))
        }
    }

    @Test("A repair mends what is broken among the groups of states", arguments: Breakage.ofGroups)
    func groups(breakage: Breakage) throws {
        try withCache(isDamaged: true) { cache in
            try breakage.apply(to: cache, makeScene(in: cache))
            #expect(try !cache.verify().isClean)
            try cache.repair().wait()
            try expectClean(cache)
            #expect(cache.read(Person.self, "p:anna") == Person("p:anna", "Anna"))
        }
    }

    @Test("A check counts the records that it has met")
    func counts() throws {
        try withCache { cache in
            cache.set(Message("m:1", from: Person("p:1", "Anna"), to: Person("p:2", "Ben")))
            cache.setModel(Remark("inline"), forKey: "k")
            cache.setCollection((0..<600).map { _ in Remark("inline") }, forKey: "c")
            try cache.delete("p:2").wait()
            let report = try cache.verify()
            #expect(
                report.nodes == 2 && report.keys == 1 && report.collections == 1
                    && report.segments == 2)
            #expect(report.tombstones == 1 && report.references == 4)
        }
    }

    @Test("A check reports at most a thousand problems, and the number of all")
    func manyProblems() throws {
        try withCache(isDamaged: true) { cache in
            try cache.tamper { transaction, keyspaces in
                for number in 1_000..<2_500 as Range<UInt64> {
                    try transaction.move(Handle(number), to: Stamp(number), keyspaces)
                }
            }
            let report = try cache.verify()
            #expect(report.problems.count == 1_000 && report.problemCount == 1_500)
        }
    }
}

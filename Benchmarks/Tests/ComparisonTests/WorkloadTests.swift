import Feeds
import Testing

@testable import Comparison

@Suite("Workloads check the contenders")
struct WorkloadTests {
    /// The ceiling with one fault.
    private final class Faulty: Contender {
        enum Fault: CaseIterable { case forgetsWrites, forgetsUpdates, forgetsDeletes, losesPages }

        private let fault: Fault
        private let contents = MemoryContender()

        init(_ fault: Fault) { self.fault = fault }

        func open() throws {}
        func close() throws {}

        func write(_ feed: Feed) throws {
            if fault == .forgetsWrites, try contents.read(feed.id) != nil { return }
            try contents.write(feed)
        }

        func read(_ feed: String) throws -> FeedRead? { try contents.read(feed) }

        func person(_ id: String, shownIn feed: String) throws -> Person? {
            try contents.person(id, shownIn: feed)
        }

        func update(_ person: Person, shownIn feeds: [String]) throws {
            try contents.update(
                person, shownIn: fault == .forgetsUpdates ? Array(feeds.prefix(1)) : feeds)
        }

        func delete(person id: String, shownIn feeds: [String]) throws {
            if fault != .forgetsDeletes { try contents.delete(person: id, shownIn: feeds) }
        }

        func setCollection(_ people: [Person], forKey key: String) throws {
            try contents.setCollection(people, forKey: key)
        }

        func append(_ page: [Person], to current: [Person], forKey key: String) throws {
            try contents.append(
                fault == .losesPages ? page.dropLast() : page, to: current, forKey: key)
        }

        func collection(forKey key: String) throws -> [Person]? {
            try contents.collection(forKey: key)
        }
    }

    private func run(_ make: @escaping @Sendable () -> any Contender) throws -> [Outcome] {
        var scale = Scale.smoke
        // Few people, so that every feed shows who is updated.
        scale.people = 5
        let contestant = Contestant(.files) { _, _ in make() }
        let stand = try Stand(contestant, in: "", durability: .process)
        var workloads = FeedWorkloads(scale: scale, durability: .process, stands: [stand]) { _ in }
        try workloads.writeNew()
        try workloads.rewriteUnchanged()
        try workloads.rewriteEdited()
        try workloads.updatePerson()
        try workloads.append()
        try workloads.delete()
        return workloads.outcomes
    }

    @Test("A contender that keeps what it is given gets figures")
    func right() throws {
        let outcomes = try run { MemoryContender() }
        #expect(outcomes.count == 6)
        #expect(outcomes.allSatisfy { $0.figures.count == 1 && $0.figures[0].count > 0 })
    }

    @Test(
        "A workload throws if a contender loses or changes data", arguments: Faulty.Fault.allCases)
    private func wrong(fault: Faulty.Fault) {
        #expect(throws: ComparisonError.self) { try run { Faulty(fault) } }
    }
}

import Feeds
import Foundation
import Testing

@testable import Comparison

@Suite("Contenders", .serialized)
struct ContenderTests {
    private static let everyone = Contestant.all.map(\.id)
    private let set = FeedSet(feeds: 6, people: 40, posts: 12)

    /// With a contender that is open, in a directory of its own.
    private func with(
        _ who: ContenderID, _ durability: Durability = .process,
        _ body: (any Contender) throws -> Void
    ) throws {
        let contestant = try #require(Contestant.all.first { $0.id == who })
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "contender-\(UUID().uuidString)"
        ).path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let contender = try contestant.make(directory, durability)
        try contender.open()
        try body(contender)
        try contender.close()
    }

    private func write(_ feeds: [Feed], _ contender: any Contender) throws {
        for feed in feeds {
            contender.prepare(feed)
            try contender.write(feed)
        }
    }

    private func expect(_ contender: any Contender, _ feeds: [Feed]) throws {
        for feed in feeds { #expect(try contender.read(feed.id)?.plain() == feed) }
    }

    @Test("Each contender is made in one way and has a name of its own")
    func everyoneOnce() {
        let made = (Contestant.all + Contestant.snapshots).map(\.id)
        #expect(made.count == ContenderID.allCases.count)
        #expect(Set(made) == Set(ContenderID.allCases))
        #expect(Set(made.map(\.name)).count == made.count)
    }

    @Test(
        "A contender reads back a feed that was written, and another state of it",
        arguments: everyone,
        Durability.allCases)
    func written(who: ContenderID, durability: Durability) throws {
        try with(who, durability) { contender in
            try write(set.feeds, contender)
            try expect(contender, set.feeds)
            let edited = set.feeds.map { $0.edited(7) }
            #expect(edited != set.feeds)
            try write(edited, contender)
            try expect(contender, edited)
        }
    }

    @Test(
        "A contender reads back a feed that became shorter or has other comments",
        arguments: everyone)
    func shortened(who: ContenderID) throws {
        try with(who) { contender in
            try write(set.feeds, contender)
            let shorter = set.feeds[0].copy { feed in
                feed.posts = feed.posts.dropFirst(2).reversed().map { post in
                    post.copy { $0.comments = Array(post.comments.dropFirst()) }
                }
            }
            try write([shorter], contender)
            try expect(contender, [shorter] + set.feeds.dropFirst())
        }
    }

    @Test("A contender returns nil for a feed that was never written", arguments: everyone)
    func missing(who: ContenderID) throws {
        try with(who) { contender in
            #expect(try contender.read("1-0") == nil)
            #expect(try contender.collection(forKey: "followers") == nil)
            try write([set.feeds[0]], contender)
            #expect(try contender.read(set.feeds[1].id) == nil)
        }
    }

    @Test("A contender shows another state of a person in every feed", arguments: everyone)
    func updated(who: ContenderID) throws {
        try with(who) { contender in
            try write(set.feeds, contender)
            let (id, feeds) = try shownMost()
            let old = try #require(set.feeds.lazy.compactMap { $0.person(id) }.first)
            #expect(try contender.person(id, shownIn: feeds[0]) == old)
            let new = old.edited(3)
            try contender.update(new, shownIn: feeds)
            #expect(try contender.person(id, shownIn: feeds[0]) == new)
            try expect(contender, set.feeds.map { $0.showing(new) })
        }
    }

    @Test("A deleted person is in no feed until it is written again", arguments: everyone)
    func deleted(who: ContenderID) throws {
        try with(who) { contender in
            try write(set.feeds, contender)
            let (id, feeds) = try shownMost()
            try contender.delete(person: id, shownIn: feeds)
            let left = set.feeds.map { $0.without(person: id) }
            #expect(left != set.feeds)
            try expect(contender, left)
            #expect(try contender.person(id, shownIn: feeds[0]) == nil)
            try write(set.feeds, contender)
            try expect(contender, set.feeds)
        }
    }

    @Test(
        "A contender reads back a list as it was set, with the pages that were appended",
        arguments: everyone)
    func collections(who: ContenderID) throws {
        try with(who) { contender in
            let people = set.people
            try contender.setCollection([], forKey: "followers")
            #expect(try contender.collection(forKey: "followers") == [])
            try contender.append(Array(people[..<10]), to: [], forKey: "followers")
            try contender.append(
                Array(people[10..<25]), to: Array(people[..<10]), forKey: "followers")
            try contender.setCollection(Array(people[30...]), forKey: "followers2")
            #expect(try contender.collection(forKey: "followers") == Array(people[..<25]))
            try contender.setCollection(Array(people[20..<22]), forKey: "followers")
            #expect(try contender.collection(forKey: "followers") == Array(people[20..<22]))
            #expect(try contender.collection(forKey: "followers2") == Array(people[30...]))
        }
    }

    @Test(
        "A contender that is opened again has what was written",
        arguments: Contestant.all.filter { $0.role != .ceiling }.map(\.id),
        Durability.allCases)
    func reopened(who: ContenderID, durability: Durability) throws {
        try with(who, durability) { contender in
            try write(Array(set.feeds[..<3]), contender)
            try contender.setCollection(Array(set.people[..<5]), forKey: "followers")
            try contender.close()
            try contender.open()
            try expect(contender, Array(set.feeds[..<3]))
            #expect(try contender.collection(forKey: "followers") == Array(set.people[..<5]))
            try write(Array(set.feeds[3...]), contender)
            try contender.append(
                Array(set.people[5..<8]), to: Array(set.people[..<5]), forKey: "followers")
            try contender.close()
            try contender.open()
            try expect(contender, set.feeds)
            #expect(try contender.collection(forKey: "followers") == Array(set.people[..<8]))
        }
    }

    @Test("Two threads read one state or the other while a third writes", arguments: everyone)
    func threads(who: ContenderID) throws {
        try with(who) { contender in
            let states = (0..<4).map { number in set.feeds[0].edited(number) }
            try write([states[0]], contender)
            let shared = Shared(contender: contender)
            let wrong = Counter()
            let threads = (0..<2).map { _ in
                Thread {
                    for _ in 0..<60 {
                        let read = (try? shared.contender.read(states[0].id))?.plain()
                        if read.map(states.contains) != true { wrong.add() }
                    }
                    wrong.end()
                }
            }
            for thread in threads { thread.start() }
            for number in 0..<40 { try write([states[number % 4]], contender) }
            wrong.waitForEnds(threads.count)
            #expect(wrong.count == 0)
        }
    }

    /// Whoever is in the most feeds.
    private func shownMost() throws -> (id: String, feeds: [String]) {
        let most = try #require(
            set.feedsByPerson().max { ($0.value.count, $0.key) < ($1.value.count, $1.key) })
        #expect(most.value.count == set.feeds.count)
        return (most.key, most.value)
    }
}

/// Unchecked: contenders may be read by several threads, which is what is tested.
private struct Shared: @unchecked Sendable {
    let contender: any Contender
}

/// Unchecked: the condition protects the numbers.
private final class Counter: @unchecked Sendable {
    private let condition = NSCondition()
    private var wrong = 0
    private var ends = 0

    var count: Int { condition.withLock { wrong } }
    func add() { condition.withLock { wrong += 1 } }

    func end() {
        condition.withLock {
            ends += 1
            condition.signal()
        }
    }

    func waitForEnds(_ expected: Int) {
        condition.withLock { while ends < expected { condition.wait() } }
    }
}

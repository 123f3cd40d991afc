import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Repeated writes of a stored tree")
struct RepeatedWriteTests {
    private static let people = (0..<6).map {
        Person("p:\($0)", "Person \($0), of some length, and of some more")
    }
    private static let messages = (0..<4).map {
        Message("m:\($0)", from: people[$0], to: people[$0 + 1])
    }
    private static let tree = Feed(
        "f:1", messages: messages, people: ["x": people[5]], pinned: messages[0])
    private static let count = 11

    private static let configurations = [
        Configuration.uncompressed, .forTests(budget: .mebibytes(50), compression: .zstd(level: 3)),
    ]

    /// Writes `tree`, and then `next` at once and after reopening. Returns how many records each
    /// write of `next` wrote.
    @discardableResult
    private func rewrite(
        as next: Feed, _ configuration: Configuration,
        between: (NormalizedCache) throws -> Void = { _ in }
    ) throws -> [Int] {
        try [false, true].map { isReopened in
            let scratch = try Scratch()
            var cache = try scratch.open(configuration)
            defer { cache.close() }
            try cache.set(Self.tree).wait()
            try cache.set(Self.tree).wait()
            try between(cache)
            if isReopened {
                cache.close()
                cache = try scratch.open(configuration)
            }
            let before = try cache.statistics()
            try cache.set(next).wait()
            let after = try cache.statistics()
            #expect(cache.read(Feed.self, "f:1") == next)
            for message in next.messages {
                #expect(cache.read(Message.self, message.id) == message)
            }
            try expectClean(cache)
            let written = after.recordsWritten - before.recordsWritten
            #expect(
                after.recordsUnchanged - before.recordsUnchanged == Self.nodes(of: next) - written)
            return written
        }
    }

    private static func nodes(of feed: Feed) -> Int {
        var names: Set<String> = [feed.id]
        for message in feed.messages + [feed.pinned].compactMap(\.self) {
            names.formUnion(
                [message.id, message.sender.id] + [message.reader?.id].compactMap(\.self))
        }
        return names.union(feed.people.values.map(\.id)).count
    }

    @Test("Writing a stored tree again writes no record", arguments: configurations)
    func same(configuration: Configuration) throws {
        #expect(Self.nodes(of: Self.tree) == Self.count)
        #expect(try rewrite(as: Self.tree, configuration) == [0, 0])
    }

    @Test("Writing a tree with one changed leaf writes only that leaf", arguments: configurations)
    func leaf(configuration: Configuration) throws {
        var next = Self.tree
        next.messages[3].reader?.name = "Another name"
        #expect(try rewrite(as: next, configuration) == [1, 1])
    }

    @Test("Two children that change places rewrite their parent only", arguments: configurations)
    func swapped(configuration: Configuration) throws {
        var next = Self.tree
        next.messages.swapAt(1, 2)
        #expect(try rewrite(as: next, configuration) == [1, 1])
        next = Self.tree
        next.messages[3].sender = Self.people[4]
        next.messages[3].reader = Self.people[3]
        #expect(try rewrite(as: next, configuration) == [1, 1])
    }

    @Test(
        "A child that gets another or a second parent rewrites the parents only",
        arguments: configurations)
    func moved(configuration: Configuration) throws {
        var next = Self.tree
        next.messages[0].reader = nil
        next.messages[3].reader = Self.people[1]
        next.pinned = next.messages[0]
        #expect(try rewrite(as: next, configuration) == [2, 2])
        next = Self.tree
        for index in next.messages.indices { next.messages[index].reader = Self.people[0] }
        // The message that occurs twice is equal in both places.
        next.pinned = next.messages[0]
        try rewrite(as: next, configuration)
    }

    @Test(
        "A new first child and a removed last one rewrite the parent and the new nodes",
        arguments: configurations)
    func inserted(configuration: Configuration) throws {
        var next = Self.tree
        next.messages.insert(
            Message("m:new", from: Person("p:new", "New"), to: Self.people[2]), at: 0)
        next.messages.removeLast()
        #expect(try rewrite(as: next, configuration) == [3, 3])
    }

    @Test(
        "A child that was deleted meanwhile is written as a new record", arguments: configurations,
        ["p:2", "m:1", "f:1"])
    func deleted(configuration: Configuration, identifier: String) throws {
        for writesAnother in [false, true] {
            let written = try rewrite(as: Self.tree, configuration) { cache in
                try cache.delete(identifier).wait()
                // The identifier has a new record, to which the parents do not refer.
                if writesAnother, identifier == "p:2" { try cache.set(Self.people[2]).wait() }
            }
            // The record itself, unless it exists again, and the records that refer to it.
            let parents = ["p:2": 2, "m:1": 1, "f:1": 0][identifier] ?? 0
            let isThere = writesAnother && identifier == "p:2"
            #expect(written == Array(repeating: parents + (isThere ? 0 : 1), count: 2))
        }
    }

    @Test("A node that was deleted in the same commit is written again")
    func sameCommit() throws {
        for length in [10, 200_000] {
            try withCache(.uncompressed) { cache in
                var tree = Self.tree
                tree.messages[1].reader?.name = String(repeating: "n", count: length)
                tree.messages[2].sender = try #require(tree.messages[1].reader)
                try cache.set(tree).wait()
                let tickets = [
                    cache.set(tree), cache.delete("p:2"), cache.set(tree), cache.set(tree),
                ]
                for ticket in tickets { try ticket.wait() }
                #expect(cache.read(Feed.self, "f:1") == tree)
            }
        }
    }

    @Test("A node whose index entry another transaction removed gets a new entry")
    func anotherTransaction() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.uncompressed)
        defer { cache.close() }
        try cache.set(Self.tree).wait()
        try cache.set(Self.tree).wait()
        try cache.tamperIndex { $0.remove("p:2") }
        #expect(cache.read(Person.self, "p:2") == nil)
        try cache.set(Self.tree).wait()
        #expect(cache.read(Person.self, "p:2") == Self.people[2])
        #expect(cache.read(Feed.self, "f:1") == Self.tree)
    }

    @Test("The writes of a failed commit are repeated by the next write of the same nodes")
    func failed() throws {
        try withCache(.uncompressed) { cache in
            try cache.setCollection([Self.people[0]], forKey: "c").wait()
            // The nodes of the tree are written before the edit is found to be out of range.
            #expect(throws: CacheError.self) {
                try cache.insert([Self.tree], at: 9, inCollection: "c").wait()
            }
            #expect(cache.read(Feed.self, "f:1") == nil)
            let others = (0..<12).map { Person("other:\($0)", "Somebody else, number \($0)") }
            try cache.set(others).wait()
            try cache.set(Self.tree).wait()
            #expect(cache.read(Feed.self, "f:1") == Self.tree)
            for person in others + Self.people {
                #expect(cache.read(Person.self, person.id) == person)
            }
        }
    }
}

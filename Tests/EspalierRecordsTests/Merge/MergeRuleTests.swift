import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@Suite("Rules of merges")
struct MergeRuleTests {
    /// Stores models one after the other, and returns the last state.
    private func merged<Model: NormalizedModel>(
        _ models: [Model], _ policy: TreePolicy = .merge, as type: Model.Type = Model.self
    ) throws -> Model {
        let source = DictionaryRecordSource()
        for model in models { try source.store(model, policy: policy) }
        return try source.read("p", as: Model.self).get()
    }

    /// Stores models as occurrences of one node in one write, and returns the record.
    private func mergedAtOnce<Model: NormalizedModel>(_ models: [Model]) throws -> Model {
        let source = DictionaryRecordSource()
        try source.store(Pile("shelf", models), policy: .merge)
        return try source.read("p", as: Model.self).get()
    }

    /// Merges two models in one write after the other, and in one write.
    private func both(_ old: Post, _ new: Post) throws -> [Post] {
        [try merged([old, new]), try mergedAtOnce([old, new])]
    }

    // MARK: - Each rule

    @Test("The first value stays by .keepFirst")
    func keepFirst() throws {
        for post in try both(Post(first: 1), Post(first: 2)) { #expect(post.first == 1) }
        for post in try both(Post(), Post(first: 2)) { #expect(post.first == 2) }
        for post in try both(Post(first: 1), Post()) { #expect(post.first == 1) }
    }

    @Test("The newest value counts by .newest, and an equal stamp counts as newer")
    func newest() throws {
        let cases: [(Int?, Int?, String, Int?)] = [
            (5, 4, "old", 5), (5, 5, "new", 5), (5, 6, "new", 6), (nil, 4, "new", 4),
            (5, nil, "new", 5),
        ]
        for (stored, incoming, title, stamp) in cases {
            let old = Post(title: "old", updatedAt: stored)
            let new = Post(title: "new", updatedAt: incoming)
            for post in try both(old, new) {
                #expect(post.title == title, "\(String(describing: (stored, incoming)))")
                #expect(post.updatedAt == stamp)
            }
        }
    }

    @Test("A stamp never goes back, so a response of middle age does not win later")
    func stampStays() throws {
        let posts = [
            Post(title: "newest", updatedAt: 9), Post(title: "oldest", updatedAt: 1),
            Post(title: "middle", updatedAt: 5),
        ]
        #expect(try merged(posts).title == "newest")
        #expect(try mergedAtOnce(posts).title == "newest")
        // The type says otherwise for this stamp.
        let loose = try merged([LooseStamp(text: "a", at: 9), LooseStamp(text: "b", at: 1)])
        #expect(loose == LooseStamp(text: "a", at: 1))
    }

    @Test("A field that was not fetched does not win, though its record is newer")
    func notFetched() throws {
        let newer = Post(updatedAt: 9)
        let older = Post(title: "x", updatedAt: 1, closed: .value(3))
        let post = try merged([newer, older])
        #expect((post.title, post.updatedAt, post.closed) == ("x", 9, .value(3)))
    }

    @Test("A field with a null behind a nested container is a version like any other")
    func behindNested() throws {
        let open = Brochure(pages: [1, 2, 3], updatedAt: 9, closed: .null)
        let closed = Brochure(pages: [4, 5, 6], updatedAt: 4, closed: .value(4))
        #expect(try merged([open, closed]).closed == .null)
        #expect(try merged([closed, open]).closed == .null)
    }

    @Test("An explicit null is a version like any other")
    func explicitNull() throws {
        let open = Post(updatedAt: 9, closed: .null)
        let closed = Post(updatedAt: 4, closed: .value(4))
        #expect(try merged([open, closed]).closed == .null)
        #expect(try merged([closed, open]).closed == .null)
        #expect(try mergedAtOnce([open, closed]).closed == .null)
        #expect(try merged([Post(closed: .null), Post(closed: .value(1))]).closed == .value(1))
        // Null is no array: it overwrites, and is overwritten.
        #expect(try merged([Post(seen: .value([1])), Post(seen: .null)]).seen == .null)
        #expect(try merged([Post(seen: .null), Post(seen: .value([1]))]).seen == .value([1]))
        #expect(
            try merged([Post(seen: .value([2])), Post(seen: .value([1]))]).seen == .value([2, 1]))
    }

    @Test("A union has the stored elements in order, then the new ones, each once")
    func union() throws {
        for post in try both(Post(tags: ["b", "a"]), Post(tags: ["c", "a", "d", "c"])) {
            #expect(post.tags == ["b", "a", "c", "d"])
        }
        for post in try both(Post(tags: ["b"]), Post(tags: [])) { #expect(post.tags == ["b"]) }
        #expect(try merged([Post(tags: []), Post(tags: ["b"])]).tags == ["b"])
    }

    @Test("A union of children compares identifiers, and merges each child by its own")
    func unionOfChildren() throws {
        let old = Post(friends: [Friend("x", name: "Xu"), Friend("y", score: 3)])
        let new = Post(friends: [Friend("z"), Friend("y", name: "Yo", score: 1)])
        for post in try both(old, new) {
            #expect(
                post.friends == [
                    Friend("x", name: "Xu"), Friend("y", name: "Yo", score: 3), Friend("z"),
                ])
        }
    }

    @Test("A union of sets is the union")
    func unionOfSets() throws {
        let post = try merged([Post(set: [3, 1]), Post(set: [2, 3])])
        #expect(post.set == [1, 2, 3])
    }

    @Test(
        "An append joins pages at their longest overlap",
        arguments: [
            ([1, 2], [3], [1, 2, 3]), ([1, 2, 3], [2, 3, 4], [1, 2, 3, 4]),
            ([1, 2], [1, 2], [1, 2]),
            ([1, 1], [1, 1, 1], [1, 1, 1]), ([1, 2, 1], [1, 2, 1, 3], [1, 2, 1, 3]), ([], [1], [1]),
            ([1], [], [1]), ([1, 2, 3], [2], [1, 2, 3, 2]), ([5, 1, 2], [1, 2], [5, 1, 2]),
            ([1, 2, 1, 2], [1, 2, 3], [1, 2, 1, 2, 3]), ([1, 2, 3], [1, 2], [1, 2, 3, 1, 2]),
        ])
    func append(_ old: [Int], _ new: [Int], _ expected: [Int]) throws {
        for post in try both(Post(page: old), Post(page: new)) { #expect(post.page == expected) }
    }

    @Test("An append of children compares identifiers")
    func appendOfChildren() throws {
        let old = Post(thread: [Friend("x"), Friend("y", name: "Yo")])
        let new = Post(thread: [Friend("y", score: 2), Friend("z")])
        for post in try both(old, new) {
            #expect(
                post.thread == [Friend("x"), Friend("y", name: "Yo", score: 2), Friend("z")])
        }
    }

    @Test("A function gets the stored value and the new one")
    func function() throws {
        for post in try both(Post(likes: 3), Post(likes: 7)) { #expect(post.likes == 7) }
        for post in try both(Post(likes: 7), Post(likes: 3)) { #expect(post.likes == 7) }
        for post in try both(Post(counts: ["a": 1]), Post(counts: ["b": 2])) {
            #expect(post.counts == ["a": 1, "b": 2])
        }
        let span = try merged([Post(span: Span(from: 3, to: 5)), Post(span: Span(from: 4, to: 9))])
        #expect(span.span == Span(from: 3, to: 9))
        let optional = try merged([
            Post(seenAt: Date(timeIntervalSince1970: 9)), Post(seenAt: .now),
        ])
        #expect(optional.seenAt == Date(timeIntervalSince1970: 9))
    }

    // MARK: - Values that do not fit

    @Test("A value that does not fit the rule is overwritten")
    func misfits() throws {
        let source = DictionaryRecordSource()
        try source.store(Odd(likes: "many", tags: 4))
        try source.store(Post(tags: ["a"], likes: 3), policy: .merge)
        let post = try source.read("p", as: Post.self).get()
        #expect((post.likes, post.tags) == (3, ["a"]))
        try source.store(Odd(likes: "few", tags: 5), policy: .merge)
        #expect(try source.read("p", as: Odd.self).get() == Odd(likes: "few", tags: 5))
    }

    @Test("A rule does nothing in a write that replaces")
    func replace() throws {
        let old = Post(title: "old", updatedAt: 9, tags: ["a"], page: [1], first: 1, likes: 9)
        let new = Post(title: "new", updatedAt: 1, tags: ["b"], page: [2], first: 2, likes: 1)
        #expect(try merged([old, new], .replace) == new)
    }

    @Test("The rules of a type do not bind other types over the same record")
    func otherTypes() throws {
        let source = DictionaryRecordSource()
        try source.store(Post(first: 1), policy: .merge)
        try source.store(OnlyFirst(first: 2), policy: .merge)
        #expect(try source.read("p", as: Post.self).get().first == 2)
        try source.store(Post(first: 3), policy: .merge)
        #expect(try source.read("p", as: OnlyFirst.self).get().first == 2)
    }

    @Test("Stamps of all comparable kinds are compared by value, and others not at all")
    func stamps() throws {
        func wins(_ old: Stamp, _ new: Stamp) throws -> Bool {
            try merged([Stamped(text: "old", at: old), Stamped(text: "new", at: new)]).text == "new"
        }
        let ascending: [[Stamp]] = [
            [.integer(-3), .integer(4), .double(4.5), .integer(5), .unsigned(.max)],
            [.text("2026-01-02T00:00:00Z"), .text("2026-01-02T00:00:01Z"), .text("2027")],
            [.decimal("0.1"), .double(0.25), .decimal("1e30")],
            [.double(-.infinity), .double(0), .double(.infinity)],
        ]
        for list in ascending {
            for (a, b) in zip(list, list.dropFirst()) {
                let (forwards, backwards) = (try wins(a, b), try wins(b, a))
                #expect(forwards && !backwards, "\(a) \(b)")
            }
        }
        let mixed = try (wins(.text("9"), .integer(1)), wins(.integer(9), .text("1")))
        #expect(mixed == (true, true))
    }

    // MARK: - Laws

    @Test("A model that is merged twice is merged once, by every rule that is no function")
    func idempotent() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let (a, b) = (Post.random(&random), Post.random(&random))
            let (once, twice) = (DictionaryRecordSource(), DictionaryRecordSource())
            for source in [once, twice] {
                try source.store(a, policy: .merge)
                try source.store(b, policy: .merge)
            }
            try twice.store(b, policy: .merge)
            #expect(once.records == twice.records, "\(a) \(b)")
        }
    }

    @Test("Models without common fields give one record in every order and grouping")
    func associative() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<200 {
            let whole = Post.random(&random)
            var parts = [Post(), Post(), Post()]
            for part in Post.fields { part(whole, &parts[Int.random(in: 0..<3, using: &random)]) }
            let sequence = try merged(parts)
            #expect(try merged(parts.shuffled(using: &random)) == sequence)
            #expect(try mergedAtOnce(parts) == sequence)
            let source = DictionaryRecordSource()
            try source.store(parts[0], policy: .merge)
            try source.store(Pile("shelf", Array(parts[1...])), policy: .merge)
            #expect(try source.read("p", as: Post.self).get() == sequence)
        }
    }
}

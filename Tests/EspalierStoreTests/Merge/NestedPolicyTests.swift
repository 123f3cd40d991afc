import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

/// A node whose type merges keeps its fields inside of a root that is replaced.
@Suite("Types that merge inside of trees that are replaced")
struct NestedPolicyTests {
    private static let whole = Author("a", name: "Ada", city: "Rome", title: .value("Dr"))
    private static let partial = Author("a", name: "Ann")
    private static let merged = Author("a", name: "Ann", city: "Rome", title: .value("Dr"))

    private enum Item: Codable, Equatable, NormalizedModel {
        case photo(url: String)
        case video(link: String)
        var modelIdentifier: String? { "Item" }
    }

    @Test("An enum that is Codable has one case, also where it is merged")
    func enums() throws {
        try withCache { cache in
            try cache.set(Item.photo(url: "a")).wait()
            try cache.set(Item.video(link: "b"), policy: .merge).wait()
            #expect(cache.read(Item.self, "Item") == .video(link: "b"))
            try cache.set([Item.photo(url: "c"), .video(link: "d")], policy: .merge).wait()
            #expect(cache.read(Item.self, "Item") != nil)
        }
    }

    /// The forms of a write of a post, without a policy.
    enum Form: CaseIterable {
        case node, array, key, inlineKey, collection, append, appendNew, insert, update, delegate
        case delegateCollection, delegateEdit, batch, transaction, transactionCollection
        case optimistic, confirmed

        fileprivate func write(_ post: Post, to cache: NormalizedCache) throws {
            let model: any SimpleModel = post
            switch self {
            case .node: cache.set(post)
            case .array: cache.set([post])
            case .key: cache.setModel(post, forKey: "k")
            case .inlineKey: cache.setModel(Post(nil, author: post.author), forKey: "k")
            case .collection: cache.setCollection([post], forKey: "c")
            case .append: cache.append([post], toCollection: "c")
            case .appendNew: cache.appendNew([post], toCollection: "c")
            case .insert:
                cache.setCollection([Post](), forKey: "c")
                cache.insert([post], at: 0, inCollection: "c")
            case .update:
                cache.setCollection([Post("other")], forKey: "c")
                cache.update(post, at: 0, inCollection: "c")
            case .delegate: cache.setModel(model, forKey: "p", context: nil)
            case .delegateCollection: cache.setCollection([model], forKey: "c", context: nil)
            case .delegateEdit:
                cache.editCollection(
                    .append([model]), forKey: "c",
                    expecting: CollectionNeighbours(
                        count: 0, previous: nil, current: nil, next: nil), context: nil
                ) { _ in }
            case .batch: cache.write { $0.set(post) }
            case .transaction: try cache.transaction { try $0.set(post) }
            case .transactionCollection:
                try cache.transaction { try $0.setCollection([post], forKey: "c") }
            case .optimistic: _ = cache.optimistically { $0.set(post) }
            case .confirmed: cache.optimistically { $0.set(post) }.confirm()
            }
        }
    }

    @Test("Nil keeps the field of a node that merges, in every form", arguments: Form.allCases)
    func forms(_ form: Form) throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        cache.set(Post("p", text: "long", author: Self.whole))
        try form.write(Post("p", author: Self.partial), to: cache)
        func expectMerged() {
            #expect(cache.read(Author.self, "a") == Self.merged)
            // The root is replaced, by nil too. In one form it has no identifier.
            let text = form == .inlineKey ? "long" : nil
            #expect(cache.read(Post.self, "p") == Post("p", text: text, author: Self.merged))
        }
        expectMerged()
        cache.close()
        cache = try scratch.open()
        expectMerged()
        try expectClean(cache)
        cache.close()
    }

    @Test("A policy that the call gives applies to every node")
    func given() throws {
        try withCache { cache in
            cache.set(Post("p", text: "long", author: Self.whole))
            cache.set(Post("p", author: Self.partial), policy: .merge)
            #expect(cache.read(Post.self, "p") == Post("p", text: "long", author: Self.merged))
            cache.set(Post("p", author: Self.partial), policy: .replace)
            #expect(
                cache.read(Post.self, "p")
                    == Post("p", author: Author("a", name: "Ann", title: .absent)))
        }
    }

    @Test("An update writes what its closure returns, nil too")
    func update() throws {
        try withCache { cache in
            cache.set(Post("p", text: "long", author: Self.whole))
            try cache.update(Post.self, "p") { post in
                Post("p", text: post.text, author: Author("a", name: "Ann", title: .null))
            }
            #expect(
                cache.read(Author.self, "a") == Author("a", name: "Ann", title: .null))
        }
    }

    @Test("A null clears the field of a node that merges, and absent keeps it")
    func nulls() throws {
        try withCache { cache in
            cache.set(Post("p", author: Self.whole))
            cache.set(Post("p", author: Author("a", title: .absent)))
            #expect(cache.read(Author.self, "a")?.title == .value("Dr"))
            cache.set(Post("p", author: Author("a", title: .null)))
            #expect(cache.read(Author.self, "a")?.title == .null)
            cache.set(Post("p", author: Author("a", title: .absent)))
            #expect(cache.read(Author.self, "a")?.title == .null)
        }
    }

    @Test("A node that merges follows the rules of its type")
    func rules() throws {
        try withCache { cache in
            cache.set(Post("p", author: Author("a", tags: ["x"])))
            cache.set(Post("p", author: Author("a", tags: ["y"])))
            #expect(cache.read(Author.self, "a")?.tags == ["x", "y"])
            cache.set(Post("p", author: Author("a", tags: ["z"])), policy: .replace)
            #expect(cache.read(Author.self, "a")?.tags == ["z"])
        }
    }

    // MARK: - Occurrences

    @Test("A node that merges has the fields of all its occurrences in one write")
    func occurrences() throws {
        try withCache { cache in
            let poor = Author("a", name: "Ada")
            let rich = Author("a", name: "Countess", city: "Rome", title: .value("Dr"))
            let ticket = cache.set([Post("p", author: poor), Post("q", author: rich)])
            try ticket.wait()
            #expect(
                cache.read(Author.self, "a")
                    == Author("a", name: "Ada", city: "Rome", title: .value("Dr")))
            #expect(ticket.contradictions == 0)
        }
    }

    @Test("What is lost below a later occurrence of a replaced node is counted, and no more")
    func below() throws {
        try withCache { cache in
            func contradictions(_ first: Author, _ later: Author) throws -> Int {
                let ticket = cache.set([Post("p", author: first), Post("p", author: later)])
                try ticket.wait()
                return ticket.contradictions
            }
            let poor = Author("a", name: "Ada")
            let rich = Author("a", name: "Ada", city: "Rome", title: .value("Dr"))
            let cases = [
                (rich, poor, 0), (poor, rich, 1), (poor, Author("a", name: "Eve"), 0),
                (poor, Author("b", name: "Eve"), 1),
            ]
            for (first, later, expected) in cases {
                let count = try contradictions(first, later)
                #expect(count == expected, "\(first.id) \(later.id)")
            }
            #expect(cache.read(Author.self, "b") == nil)
        }
    }

    @Test("An object met below a later occurrence of a replaced node is walked where it counts")
    func comparedObject() throws {
        try withCache { cache in
            let poor = Author("a", name: "Ada")
            let rich = Author("a", city: "Rome")
            try cache.set([
                Post("q", author: poor), Post("p", author: poor), Post("p", author: rich),
                Post("r", author: rich),
            ]).wait()
            #expect(cache.read(Author.self, "a") == Author("a", name: "Ada", city: "Rome"))
        }
    }

    @Test("A type met below a later occurrence of a replaced node merges where it counts")
    func comparedType() throws {
        try withCache { cache in
            cache.set(Byline("a", name: "Ada", city: "Rome"), policy: .replace)
            // The second wall is only compared. The third has a new type after that.
            cache.write { batch in
                for wall in [
                    Wall("w", author: Author("a")), Wall("w", Byline("a", name: "x")),
                    Wall("v", last: Strict("s", city: nil)), Wall("u", Byline("a", name: "Ann")),
                ] { batch.set(wall) }
            }
            #expect(
                cache.read(Byline.self, "a") == Byline("a", name: "Ann", city: "Rome"))
        }
    }

    @Test("A value that merges fills a field that another type has set to nil in the same write")
    func projections() throws {
        let byline = Byline("a", city: "Rome")
        let strict = Strict("a", city: nil)
        for wall in [Wall("w", strict: strict, byline), Wall("w", byline, last: strict)] {
            try withCache { cache in
                try cache.set(wall).wait()
                #expect(cache.read(Byline.self, "a")?.city == "Rome")
                try cache.set(strict).wait()
                #expect(cache.read(Byline.self, "a")?.city == nil)
            }
        }
    }

    @Test("A node that merges and stands inside itself leaves no broken invariant")
    func cycle() throws {
        try withCache { cache in
            let inner = Author("a", city: "Rome", friend: Author("b", friend: Author("a")))
            try cache.set(Post("p", author: Author("a", name: "Ada", friend: inner))).wait()
            #expect(cache.read(Author.self, "a")?.city == "Rome")
            #expect(cache.read(Author.self, "a")?.name == "Ada")
            try expectClean(cache)
        }
    }

    // MARK: - The queue

    @Test("A write is not left out because a later one has the same nodes with fewer fields")
    func coalescing() throws {
        try withCache { cache in
            let tickets = try withBlockedWriter(cache) {
                [
                    cache.set(Post("p", author: Self.whole)),
                    cache.set(Post("p", author: Self.partial)),
                    cache.setModel(Post("p", author: Author("a", city: "Oslo")), forKey: "k"),
                    cache.setModel(Post("p", author: Author("a")), forKey: "k"),
                ]
            }
            for ticket in tickets { try ticket.wait() }
            #expect(
                cache.read(Author.self, "a")
                    == Author("a", name: "Ann", city: "Oslo", title: .value("Dr")))
        }
    }

    // MARK: - Optimistic changes

    @Test("An optimistic change merges again when the records below it change, after a restart too")
    func layers() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        cache.set(Post("p", text: "long", author: Author("a", name: "Ada")))
        _ = cache.optimistically(id: "edit") { $0.set(Post("p", author: Self.partial)) }
        cache.close()
        cache = try scratch.open()
        cache.set(Author("a", city: "Rome"))
        let shown = Author("a", name: "Ann", city: "Rome")
        #expect(cache.read(Post.self, "p") == Post("p", author: shown))
        let change = try #require(try cache.optimisticChanges().first)
        try change.change.rollback().wait()
        #expect(
            cache.read(Post.self, "p")
                == Post("p", text: "long", author: Author("a", name: "Ada", city: "Rome")))
        cache.close()
    }
}

// MARK: - Models

private struct Post: Codable, NormalizedModel, Model, Equatable {
    let id: String?
    let text: String?
    let author: Author?
    var modelIdentifier: String? { id }

    init(_ id: String?, text: String? = nil, author: Author? = nil) {
        (self.id, self.text, self.author) = (id, text, author)
    }

    func map(_ transform: (any Model) -> (any Model)?) -> Self? {
        Post(id, text: text, author: author.flatMap { transform($0) as? Author })
    }

    func forEach(_ visit: (any Model) -> Void) { if let author { visit(author) } }
}

private final class Author: Codable, NormalizedModel, Model, Equatable {
    static let mergeRules: MergeRules = ["tags": .union]
    static var writePolicy: WritePolicy { .merge }

    let id: String
    let name: String?
    let city: String?
    let title: Field<String>
    let tags: [String]?
    let friend: Author?
    var modelIdentifier: String? { id }

    init(
        _ id: String, name: String? = nil, city: String? = nil, title: Field<String> = .absent,
        tags: [String]? = nil, friend: Author? = nil
    ) {
        (self.id, self.name, self.city) = (id, name, city)
        (self.title, self.tags, self.friend) = (title, tags, friend)
    }

    static func == (one: Author, other: Author) -> Bool {
        one.id == other.id && one.name == other.name && one.city == other.city
            && one.title == other.title && one.tags == other.tags
    }

    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// Another type over the records of authors, which merges.
private struct Byline: Codable, NormalizedModel, Equatable {
    static var writePolicy: WritePolicy { .merge }

    let id: String
    let name: String?
    let city: String?
    var modelIdentifier: String? { id }

    init(_ id: String, name: String? = nil, city: String? = nil) {
        (self.id, self.name, self.city) = (id, name, city)
    }
}

/// A type over the records of authors that is replaced.
private struct Strict: Codable, NormalizedModel {
    let id: String
    let city: String?
    var modelIdentifier: String? { id }

    init(_ id: String, city: String?) { (self.id, self.city) = (id, city) }
}

/// A node that is replaced, with nodes of all these types.
private struct Wall: Codable, NormalizedModel {
    let id: String
    let author: Author?
    let strict: Strict?
    let byline: Byline?
    let last: Strict?
    var modelIdentifier: String? { id }

    init(
        _ id: String, author: Author? = nil, strict: Strict? = nil, _ byline: Byline? = nil,
        last: Strict? = nil
    ) {
        (self.id, self.author, self.strict) = (id, author, strict)
        (self.byline, self.last) = (byline, last)
    }
}

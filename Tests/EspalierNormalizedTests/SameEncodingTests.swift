#if Macros
import Espalier
import Foundation
import Testing

@Suite("Generated comparisons of encodings")
struct SameEncodingTests {
    private static let base = Profile(
        id: 1, name: "caf\u{e9}", score: 0, tags: ["a"], link: URL(string: "https://example.com"),
        best: Person(id: 1, name: "Ada"), friends: [Person(id: 2, name: "Bob")], state: .value(1),
        kind: .tagged("x", rank: 1), note: "one")

    @Test("Every stored property counts, to the byte")
    func properties() {
        let changes: [(inout Profile) -> Void] = [
            { $0.id = 2 }, { $0.name = "cafe\u{301}" }, { $0.score = -0.0 },
            { $0.tags = ["a", "b"] }, { $0.link = nil }, { $0.best = nil },
            { $0.best = Person(id: 1, name: "ADA") }, { $0.friends = [] }, { $0.state = .null },
            { $0.kind = .tagged("x", rank: 2) }, { $0.kind = .plain },
        ]
        for change in changes {
            var changed = Self.base
            change(&changed)
            #expect(!changed.hasSameEncoding(as: Self.base))
            #expect(!Self.base.hasSameEncoding(as: changed))
            #expect(changed.hasSameEncoding(as: changed))
        }
    }

    @Test("What is not stored does not count, and what `==` ignores does")
    func ignored() {
        var noted = Self.base
        noted.note = "two"
        #expect(Self.base.hasSameEncoding(as: noted))
        let (one, two) = (Loosely(id: 1, count: 1), Loosely(id: 1, count: 2))
        #expect(one == two && !one.hasSameEncoding(as: two))
        let (first, second) = (LooselyNamed(id: 1, name: "a"), LooselyNamed(id: 2, name: "a"))
        #expect(first == second && !first.hasSameEncoding(as: second))
        let low = LooselyCased.counted(id: 1, count: 1)
        let high = LooselyCased.counted(id: 1, count: 2)
        #expect(low == high && !low.hasSameEncoding(as: high))
    }

    @Test("An identifier that follows from something else counts")
    func identifiers() {
        let (one, two) = (Ticket(number: 1, series: "a"), Ticket(number: 1, series: "b"))
        #expect(one.modelIdentifier != two.modelIdentifier)
        #expect(!one.hasSameEncoding(as: two) && one.hasSameEncoding(as: one))
    }

    @Test("Generic models, existentials and enums are compared, too")
    func kinds() {
        let people = [Person(id: 1, name: "Ada"), Person(id: 1, name: "ADA")]
        let pages = people.map { Page(id: 1, items: [$0], first: nil) }
        #expect(pages[0].hasSameEncoding(as: pages[0]) && !pages[0].hasSameEncoding(as: pages[1]))
        let attachments = people.flatMap { person in
            [
                Attachment.any(person, [person]), .card(title: "t", person, width: 5),
                .album([person], cover: nil), .wrapped(.link(person.name)),
            ]
        }
        for (index, attachment) in attachments.enumerated() {
            for (other, value) in attachments.enumerated() {
                #expect(attachment.hasSameEncoding(as: value) == (index == other))
            }
        }
    }

    @Test("A class, and a type with a coding of its own, is never known")
    func unknown() {
        let shared = LooselyShared(id: 1, count: 1)
        #expect(!shared.hasSameEncoding(as: shared))
        let holder = Holder(id: 1, shared: shared)
        #expect(!holder.hasSameEncoding(as: holder))
        #expect(!Handwritten(id: 1).hasSameEncoding(as: Handwritten(id: 1)))
        let coded = Coded(id: 1, point: Coded.Point(x: 1))
        #expect(!coded.hasSameEncoding(as: coded))
    }

    @Test("A generated model is known to the cache")
    func cache() async throws {
        let cache = try NormalizedCache(inMemory: Configuration(budget: .mebibytes(1)))
        for _ in 0..<4 { try await cache.set(Self.base).committed }
        #expect(try cache.statistics().memory.repeatedWrites == 2)
        cache.close()
    }

    @Normalized struct Profile {
        var id: Int
        var name: String
        var score: Double
        var tags: Set<String>
        var link: URL?
        var best: Person?
        var friends: [Person]
        var state: Field<Int>
        var kind: Kind
        @NotStored var note: String = ""
    }

    @Normalized enum Kind {
        case plain
        case tagged(String, rank: Int)
    }

    @Normalized struct Ticket {
        let number: Int
        @NotStored var series: String = ""
        var id: String { "\(series)\(number)" }
    }

    @Normalized struct Holder {
        let id: Int
        let shared: LooselyShared
    }

    @Normalized struct Handwritten {
        let id: Int
        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
        }
    }

    @Normalized struct Coded {
        struct Point: Codable, Hashable {
            let x: Int
        }
        let id: Int
        let point: Point
    }
}
#endif

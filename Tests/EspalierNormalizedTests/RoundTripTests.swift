#if Macros
import Espalier
import Foundation
import Testing

@Suite("Round trips of generated models")
struct RoundTripTests {
    private static func person(_ id: Int) -> Person { Person(id: id, name: "\(id)") }
    private let person = RoundTripTests.person(1)

    @Test("A model with children in every nesting is read back equal")
    func nestings() async throws {
        try await expectRoundTrip(
            Nestings(
                id: "n", required: person, optional: Self.person(2), array: [person, person],
                set: [Self.person(5)],
                dictionary: ["a": person], arrays: [[person, nil], []],
                deep: ["b": [person], "c": nil],
                inline: Caption(text: "c", by: person), anyModel: person,
                anyOptional: Caption(text: "", by: person),
                anyArray: [person, Caption(text: "", by: Self.person(14))],
                anyDictionary: ["d": [person], "e": nil],
                payload: .card(title: "t", person)))
        try await expectRoundTrip(
            Nestings(
                id: "m", required: person, anyModel: Caption(text: "", by: person), payload: .none))
    }

    @Test(
        "Every case of an enum is read back equal",
        arguments: [
            Attachment.link("l"), .card(title: "t", person(1), width: 5),
            .album([person(1), person(2)], cover: nil),
            .wrapped(.wrapped(.album([], cover: person(1)))),
            .any(person(1), [Caption(text: "", by: person(2))]),
            .none,
        ])
    func cases(attachment: Attachment) async throws { try await expectRoundTrip(attachment) }

    @Test("Scalars and Codable values are read back equal, @NotStored ones with their default")
    func scalars() async throws {
        var scalars = Scalars(
            id: UUID(), a: "a", b: "b", date: Date(timeIntervalSince1970: 5), data: Data([1, 2]),
            url: URL(string: "https://example.com"), mood: .bad, size: .large,
            point: .init(x: 1, y: 2),
            points: [.init()])
        scalars.count = 5
        try await expectRoundTrip(scalars)
        scalars.open = true
        scalars.draft = "d"
        try await withCache { cache in
            try await cache.set(scalars).committed
            let read = try #require(
                await cache.read(Scalars.self, "Scalars:\(scalars.id.uuidString)"))
            #expect(read.open == false)
            #expect(read.draft == nil)
            #expect(read != scalars)
        }
    }

    @Test("Classes, generic models and nested models are read back equal")
    func kinds() async throws {
        try await expectRoundTrip(Tree(id: 1, person: person, children: [Tree(id: 2, person: nil)]))
        try await expectRoundTrip(Place(id: 1, name: "here"))
        try await expectRoundTrip(Page(id: 1, items: [person], first: nil))
        try await expectRoundTrip(
            Page(id: 1, items: [Page(id: 2, items: [person], first: nil)], first: nil))
        try await expectRoundTrip(Loose(id: 1, items: ["a", "b"]))
        try await expectRoundTrip(Loose(id: 1, items: [person]))
        try await expectRoundTrip(Outcome.success(person))
        try await expectRoundTrip(Outcome<Person>.failure(code: 4))
        try await expectRoundTrip(Feed.Entry(id: .init(rawValue: 1), people: [person], secret: 4))
    }

    @Test("An enum with an identifier has its own record, which it may share with other types")
    func nodes() async throws {
        try await withCache { cache in
            let account = Account.named(id: 1, person: person)
            try await cache.set(account).committed
            #expect(await cache.read(Account.self, "user:1") == account)
            try await cache.set(Renamed(id: 1, name: "Ann")).committed
            #expect(await cache.read(Account.self, "user:1") == account)
            #expect(await cache.read(Renamed.self, "user:1")?.name == "Ann")
        }
    }

    @Test("Properties may have the names that the generated code uses")
    func awkward() async throws {
        try await expectRoundTrip(Awkward.sample(person))
        try await expectRoundTrip(Site.Builder(id: 1, Type: 2, init: 3))
    }

    @Test("Identifiers have the form that the macro promises")
    func identifiers() {
        let id = UUID()
        #expect(person.modelIdentifier == "Person:1")
        #expect(Caption(text: "", by: person).modelIdentifier == nil)
        #expect(Renamed(id: 3, name: "").modelIdentifier == "user:3")
        #expect(Linked(header: .init(urn: "urn:3")).modelIdentifier == "urn:3")
        #expect(Linked(header: .init(urn: nil)).modelIdentifier == nil)
        #expect(Page<Person>(id: 3, items: [], first: nil).modelIdentifier == "Page<Person>:3")
        #expect(
            Feed.Entry(id: .init(rawValue: 4), people: [], secret: 4).modelIdentifier == "Entry:4")
        #expect(Tree(id: 5, person: nil).modelIdentifier == "Tree:5")
        #expect(Attachment.none.modelIdentifier == nil)
        #expect(
            Scalars(
                id: id, a: "", b: "", date: Date(), mood: .good, size: .small, point: .init(),
                points: []
            ).modelIdentifier == "Scalars:" + id.uuidString)
    }

    @Test("Missing fields have their defaults, and fields of other types are ignored")
    func defaults() async throws {
        try await withCache { cache in
            try await cache.set(Renamed(id: 1, name: "Ann")).committed
            let brief = try #require(await cache.read(Brief.self, "user:1"))
            #expect(brief.name == "Ann")
            #expect(brief.likes == 7)
            #expect(brief.labels == [])
            #expect(brief.mood == .bad)
            #expect(brief.point == .init(x: 1))
            try await cache.set(brief.copy { $0.likes = 9 }).committed
            #expect(await cache.read(Brief.self, "user:1")?.likes == 9)
            #expect(await cache.read(Renamed.self, "user:1") == Renamed(id: 1, name: "Ann"))
        }
    }

    @Test("A default value may use Self")
    func ownDefaults() async throws {
        try await withCache { cache in
            try await cache.set(Unsettled(id: 1)).committed
            let settled = Settled(id: 1, count: 5, counts: [5, 6], anyone: Settled.person)
            #expect(await cache.read(Settled.self, "settled:1") == settled)
            let shared = SettledShared(id: 1, count: 5, counts: [5])
            #expect(await cache.read(SettledShared.self, "settled:1") == shared)
        }
    }

    @Test("Implicitly unwrapped optionals are read back equal")
    func forced() async throws {
        try await expectRoundTrip(
            Forced(id: 1, one: person, person: person, count: 3, other: person))
        try await expectRoundTrip(Forced(id: 1, one: nil, person: nil, count: nil, other: nil))
        #expect(ForcedName(urn: "a").modelIdentifier == "a")
        #expect(ForcedName(urn: nil).modelIdentifier == nil)
        let forced = Forced(id: 1, one: person, person: person, count: 3, other: Self.person(2))
        let mapped = forced.map { ($0 as? Person)?.id == 1 ? nil : $0 }
        #expect(mapped == Forced(id: 1, one: nil, person: nil, count: 3, other: Self.person(2)))
    }

    @Test(
        "The record of an enum holds one case, whatever policy writes the next one",
        arguments: [WritePolicy.replace, .merge])
    func caseChanges(policy: WritePolicy) async throws {
        try await withCache { cache in
            let (post, courier) = (
                Delivery.post(address: "Here"), Delivery.courier("Ann", stops: 2)
            )
            try await cache.set(post, policy: policy).committed
            #expect(await cache.read(Delivery.self, "delivery") == post)
            try await cache.set(courier, policy: policy).committed
            #expect(await cache.read(Delivery.self, "delivery") == courier)
        }
    }
}

extension Awkward {
    static func sample(_ person: Person) -> Awkward {
        Awkward(
            id: 1, encoder: "a", decoder: "b", transform: "c", visit: "d", hasher: "e", other: "f",
            builder: "g",
            model: "h", name: "i", change: "j", a: "k", b: "l", fields: "m", mapped0: "n",
            Model: person, String_: "o",
            copy: person, map: nil, forEach: person, merge: nil, hash: person, build: nil,
            encode: person, class: 1,
            default: 2, self_: 3)
    }
}
#endif

import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Types with a policy of their own")
struct TypePolicyTests {
    private static let whole = Profile("p", name: "Ada", city: "Rome")

    /// The forms of a write without a policy.
    enum Form: CaseIterable {
        case node, array, key, collection, append, delegate, delegateCollection, delegateEdit

        fileprivate func write(_ profile: Profile, to cache: NormalizedCache) {
            switch self {
            case .node: cache.set(profile)
            case .array: cache.set([profile])
            case .key: cache.setModel(profile, forKey: "k")
            case .collection: cache.setCollection([profile], forKey: "c")
            case .append: cache.append([profile], toCollection: "c")
            case .delegate:
                let model: any SimpleModel = profile
                cache.setModel(model, forKey: "p", context: nil)
            case .delegateCollection: cache.setCollection([profile], forKey: "c", context: nil)
            case .delegateEdit:
                cache.editCollection(
                    .append([profile]), forKey: "c",
                    expecting: CollectionNeighbours(
                        count: 0, previous: nil, current: nil, next: nil), context: nil
                ) { _ in }
            }
        }
    }

    @Test("A write without a policy has that of the type", arguments: Form.allCases)
    func ofType(_ form: Form) throws {
        try withCache { cache in
            cache.set(Self.whole)
            form.write(Profile("p", name: "Ann"), to: cache)
            #expect(cache.read(Profile.self, "p") == Profile("p", name: "Ann", city: "Rome"))
        }
    }

    @Test("A policy given with the call overrides that of the type")
    func given() throws {
        try withCache { cache in
            cache.set(Self.whole)
            cache.set(Profile("p", name: "Ann"), policy: .replace)
            #expect(cache.read(Profile.self, "p") == Profile("p", name: "Ann"))
            #expect(Card.writePolicy == .replace)
        }
    }

    // MARK: - Fields

    @Test("A field that an endpoint sends as null is cleared, and kept where it leaves out the key")
    func reopened() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        cache.set(Ticket("t", title: "Crash", closedAt: .value(5)))
        cache.set(Ticket("t", title: "Crash again", closedAt: .absent))
        #expect(cache.read(Ticket.self, "t")?.closedAt == .value(5))
        cache.set(Ticket("t", title: nil, closedAt: .null))
        cache.close()
        cache = try scratch.open()
        #expect(
            cache.read(Ticket.self, "t") == Ticket("t", title: "Crash again", closedAt: .null))
        try cache.set(Ticket("t", title: nil, closedAt: .absent)).wait()
        #expect(cache.read(Ticket.self, "t")?.closedAt == .null)
        try expectClean(cache)
        cache.close()
    }

    @Test("A null removes the reference to a model, and the counts stay right")
    func nullReference() throws {
        try withCache { cache in
            cache.set(Owned("o", owner: .value(Self.whole)), policy: .merge)
            cache.set(Owned("o", owner: .absent), policy: .merge)
            #expect(cache.read(Owned.self, "o")?.owner == .value(Self.whole))
            try cache.set(Owned("o", owner: .null), policy: .merge).wait()
            #expect(cache.read(Owned.self, "o")?.owner == .null)
            try expectClean(cache)
        }
    }
}

// MARK: - Models

private struct Profile: NormalizedModel, SimpleModel, Equatable {
    static var writePolicy: WritePolicy { .merge }

    let id: String
    let name: String?
    let city: String?
    var modelIdentifier: String? { id }

    init(_ id: String, name: String? = nil, city: String? = nil) {
        (self.id, self.name, self.city) = (id, name, city)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        city = try decoder.decode(forKey: "city")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(city, forKey: "city")
    }
}

private struct Ticket: Codable, NormalizedModel, Equatable {
    static var writePolicy: WritePolicy { .merge }

    let id: String
    let title: String?
    let closedAt: Field<Int>
    var modelIdentifier: String? { id }

    init(_ id: String, title: String?, closedAt: Field<Int>) {
        (self.id, self.title, self.closedAt) = (id, title, closedAt)
    }
}

private struct Owned: NormalizedModel {
    let id: String
    let owner: Field<Profile>
    var modelIdentifier: String? { id }

    init(_ id: String, owner: Field<Profile>) { (self.id, self.owner) = (id, owner) }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        owner = try decoder.decode(forKey: "owner")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(owner, forKey: "owner")
    }
}

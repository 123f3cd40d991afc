import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Reads of records that lack required fields")
struct IncompleteTests {
    private func missing(_ identifier: String, _ type: String, _ paths: String...) -> [MissingField]
    {
        paths.map { MissingField(identifier: identifier, type: type, path: $0) }
    }

    @Test("A miss lists all missing fields of all records, each once, for each kind of model")
    func all() throws {
        try withCache { cache in
            cache.set(
                PoorTeam("t", [Poor("p:1", name: "Ada"), Poor("p:2"), Poor("p:1")]), policy: .merge)
            let members =
                missing("p:1", "Rich", "age", "home", "mood")
                + missing("p:2", "Rich", "name", "age", "home", "mood")
            #expect(
                cache.readOutcome(Team<Rich>.self, "t").reason
                    == .incomplete(members + missing("t", "Team<Rich>", "title")))
            let codable = members.map {
                MissingField(identifier: $0.identifier, type: "CodableRich", path: $0.path)
            }
            #expect(
                cache.readOutcome(Team<CodableRich>.self, "t").reason
                    == .incomplete(codable + missing("t", "Team<CodableRich>", "title")))
            let misses = try cache.statistics().misses
            #expect(misses["incomplete"] == 2)
        }
    }

    @Test("A field inside of an inline model is named with the way to it")
    func inline() throws {
        try withCache { cache in
            cache.set(
                Places(
                    "p", PoorPlace(street: "A"), [PoorPlace(street: "B"), PoorPlace(street: "C")],
                    ["k": PoorPlace(street: "D")]))
            #expect(
                cache.readOutcome(Places<RichPlace>.self, "p").reason
                    == .incomplete(
                        missing(
                            "p", "Places<RichPlace>", "first.city", "list[0].city", "list[1].city",
                            "table.k.city")))
        }
    }

    @Test("Fetching what is missing makes the read a hit")
    func fetched() throws {
        try withCache { cache in
            cache.set(PoorTeam("t", [Poor("p:1", name: "Ada"), Poor("p:2")]))
            let reason = cache.readOutcome(Team<Rich>.self, "t").reason
            guard case .incomplete(let missing) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            for identifier in Set(missing.map(\.identifier)) where identifier != "t" {
                cache.set(Rich(identifier), policy: .merge)
            }
            cache.set(Team<Rich>("t", title: "T", [Rich("p:1"), Rich("p:2")]), policy: .merge)
            #expect(cache.readPartial(Team<Rich>.self, "t").isComplete)
        }
    }

    @Test("A partial read leaves out the models that lack a field, and names what they lack")
    func partial() throws {
        try withCache { cache in
            cache.set(Team<Rich>("t", title: "T", [Rich("p:1"), Rich("p:2"), Rich("p:3")]))
            let whole = cache.readPartial(Team<Rich>.self, "t")
            #expect(whole.model?.members.count == 3)
            #expect(whole.isComplete && whole.reason == nil)
            cache.delete("p:2")
            cache.set(Poor("p:2", name: "Bo"))
            cache.set(
                Team<Poor>("t", title: "T", [Poor("p:1"), Poor("p:2"), Poor("p:3")]), policy: .merge
            )
            let partial = cache.readPartial(Team<Rich>.self, "t")
            #expect(partial.model?.members.map(\.id) == ["p:1", "p:3"])
            #expect(partial.missing == missing("p:2", "Rich", "age", "home", "mood"))
            #expect(!partial.isComplete && partial.reason == nil)
        }
    }

    @Test("A partial read whose root lacks a field has no model, and says so")
    func partialRoot() async throws {
        try await withCache { cache in
            cache.set(Poor("p:1", name: "Ada"))
            let partial = await cache.readPartial(Rich.self, "p:1")
            #expect(partial.model == nil)
            #expect(partial.missing == missing("p:1", "Rich", "age", "home", "mood"))
            #expect(partial.reason == .incomplete(partial.missing))
            let nothing = await cache.readPartial(Rich.self, "p:9")
            #expect(nothing.model == nil && nothing.missing.isEmpty)
            #expect(nothing.reason == .notFound)
        }
    }

    @Test("A value of another type is no missing field")
    func mismatch() throws {
        try withCache { cache in
            cache.set(Bag("p:1", ["name": "Ada", "age": "old"]))
            #expect(cache.readOutcome(Rich.self, "p:1").reason?.name == "undecodable")
            #expect(cache.readPartial(Rich.self, "p:1").reason?.name == "undecodable")
        }
    }
}

// MARK: - Models

/// A person of whom an API returns the name at most.
private struct Poor: NormalizedModel {
    let id: String
    let name: String?
    var modelIdentifier: String? { id }

    init(_ id: String, name: String? = nil) { (self.id, self.name) = (id, name) }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
    }
}

private enum Humour: String, FieldValue, Codable, CaseIterable { case glad, sad }

private struct Home: NormalizedModel, Codable {
    let city: String
}

private struct Rich: NormalizedModel {
    let id: String
    let name: String
    let age: Int
    let home: Home
    let mood: Humour
    let nickname: String?
    var modelIdentifier: String? { id }

    init(_ id: String) {
        (self.id, name, age, mood, nickname) = (id, "Ada", 36, .glad, nil)
        home = Home(city: "Rome")
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        age = try decoder.decode(forKey: "age")
        home = try decoder.decode(forKey: "home")
        mood = try decoder.decode(forKey: "mood")
        nickname = try decoder.decode(forKey: "nickname")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(age, forKey: "age")
        try encoder.encode(home, forKey: "home")
        try encoder.encode(mood, forKey: "mood")
        try encoder.encode(nickname, forKey: "nickname")
    }
}

private struct CodableRich: NormalizedModel, Codable {
    let id: String
    let name: String
    let age: Int
    let home: Home
    let mood: Humour
    let nickname: String?
    var modelIdentifier: String? { id }
}

private struct PoorTeam: NormalizedModel {
    let id: String
    let members: [Poor]
    var modelIdentifier: String? { id }

    init(_ id: String, _ members: [Poor]) { (self.id, self.members) = (id, members) }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        members = try decoder.decode(forKey: "members")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(members, forKey: "members")
    }
}

private struct Team<Member: NormalizedModel>: NormalizedModel {
    let id: String
    let members: [Member]
    let title: String
    var modelIdentifier: String? { id }

    init(_ id: String, title: String, _ members: [Member]) {
        (self.id, self.title, self.members) = (id, title, members)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        members = try decoder.decode(forKey: "members")
        title = try decoder.decode(forKey: "title")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(members, forKey: "members")
        try encoder.encode(title, forKey: "title")
    }
}

private struct PoorPlace: NormalizedModel {
    let street: String

    init(street: String) { self.street = street }
    init(from decoder: inout RecordDecoder) throws { street = try decoder.decode(forKey: "street") }
    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(street, forKey: "street")
    }
}

private struct RichPlace: NormalizedModel {
    let street: String
    let city: String

    init(from decoder: inout RecordDecoder) throws {
        street = try decoder.decode(forKey: "street")
        city = try decoder.decode(forKey: "city")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(street, forKey: "street")
        try encoder.encode(city, forKey: "city")
    }
}

/// A node with inline models in every position.
private struct Places<Place: NormalizedModel>: NormalizedModel {
    let id: String
    let first: Place
    let list: [Place]
    let table: [String: Place]
    var modelIdentifier: String? { id }

    init(_ id: String, _ first: Place, _ list: [Place], _ table: [String: Place]) {
        (self.id, self.first, self.list, self.table) = (id, first, list, table)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        first = try decoder.decode(forKey: "first")
        list = try decoder.decode(forKey: "list")
        table = try decoder.decode(forKey: "table")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(first, forKey: "first")
        try encoder.encode(list, forKey: "list")
        try encoder.encode(table, forKey: "table")
    }
}

import EspalierModels
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("One write in which a node occurs poor and rich")
struct OccurrenceMergeTests {
    private static let poor = Card("p:1", name: "Ada", badge: nil)
    private static let rich = Card("p:1", name: "Countess", badge: 7)
    private static let merged = Card("p:1", name: "Ada", badge: 7)
    private static let tree = Box("b:1", [Box("b:2", poor), Box("b:3", rich)])

    /// A form of a write that has both occurrences.
    enum Form: CaseIterable {
        case tree, array, key, collection, append

        func write(to cache: NormalizedCache, _ policy: WritePolicy) -> WriteTicket {
            let cards = [poor, rich]
            return switch self {
            case .tree: cache.set(OccurrenceMergeTests.tree, policy: policy)
            case .array: cache.set(cards, policy: policy)
            case .key: cache.setModel(OccurrenceMergeTests.tree, forKey: "k", policy: policy)
            case .collection: cache.setCollection(cards, forKey: "c", policy: policy)
            case .append: cache.append(cards, toCollection: "c", policy: policy)
            }
        }
    }

    @Test("Under .merge the record has what any occurrence has", arguments: Form.allCases)
    func merges(_ form: Form) throws {
        try withCache { cache in
            try form.write(to: cache, .merge).wait()
            #expect(cache.read(Card.self, "p:1") == Self.merged)
            try form.write(to: cache, .merge).wait()
            #expect(cache.read(Card.self, "p:1") == Self.merged)
        }
    }

    @Test("Under .replace the record has what the first occurrence has", arguments: Form.allCases)
    func replaces(_ form: Form) throws {
        try withCache { cache in
            try form.write(to: cache, .replace).wait()
            #expect(cache.read(Card.self, "p:1") == Self.poor)
        }
    }

    @Test("Edits of a collection keep every field under .merge")
    func edits() throws {
        try withCache { cache in
            cache.setCollection([Card("p:0", name: "Bo", badge: nil)], forKey: "c")
            cache.insert([Self.poor, Self.rich], at: 0, inCollection: "c", policy: .merge)
            cache.update(Card("p:0", name: nil, badge: 3), at: 2, inCollection: "c", policy: .merge)
            #expect(
                cache.collection(of: Card.self, forKey: "c")
                    == [Self.merged, Self.merged, Card("p:0", name: "Bo", badge: 3)])
        }
    }

    @Test("Occurrences that close a cycle together leave a cache without a broken invariant")
    func cycle() throws {
        try withCache { cache in
            let rings = [Ring("a"), Ring("b", left: Ring("a")), Ring("a", left: Ring("b"))]
            try cache.set(rings, policy: .merge).wait()
            #expect(cache.read(Ring.self, "a")?.outline == "a(b -)")
            try expectClean(cache)
        }
    }

    @Test("A tree with too many occurrences fails its ticket and changes nothing")
    func tooMany() throws {
        var configuration = Configuration.forTests
        configuration.limits.maximumLogicalNodes = 10
        try withCache(configuration) { cache in
            let cards = (0..<12).map { _ in Self.rich }
            let error = #expect(throws: CacheError.self) {
                try cache.set(cards, policy: .merge).wait()
            }
            #expect(error?.code == .notFlattened(.tooManyOccurrences(limit: 10)))
            #expect(cache.read(Card.self, "p:1") == nil)
            try cache.set(cards).wait()
        }
    }
}

// MARK: - Real events

/// A page of GitHub's public events beside the checkout. Most checkouts have none.
@Suite("GitHub's events lose no field of a person", .enabled(if: Events.isPresent))
struct EventMergeTests {
    @Test("Stored event by event, each person has every field of every event")
    func eventByEvent() async throws {
        try await withCache { cache in
            let events = try Events()
            for event in events.all { cache.set(event, policy: .merge) }
            try await cache.flush()
            try expectAll(events, cache)
        }
    }

    @Test("Stored as a collection, each person has every field of every event")
    func collection() async throws {
        try await withCache { cache in
            let events = try Events()
            cache.setCollection(events.all, forKey: "events", policy: .merge)
            try await cache.flush()
            try expectAll(events, cache)
        }
    }

    private func expectAll(_ events: Events, _ cache: NormalizedCache) throws {
        #expect(events.all.count == 30)
        #expect(events.poorAndRich == 6)
        for (identifier, names) in events.fields {
            let handle = try #require(try cache.handle(identifier))
            let shape = try #require(try cache.record(handle)?.shape)
            #expect(names.isSubset(of: shape.names), "\(identifier)")
        }
    }
}

/// The events as models: each object with a login is a person, all others are inline.
private struct Events {
    static let url = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent()  // Merge
        .deletingLastPathComponent()  // EspalierStoreTests
        .deletingLastPathComponent()  // Tests
        .deletingLastPathComponent()
        .appending(path: "../shared/data/github_events.json").standardized

    static var isPresent: Bool { FileManager.default.fileExists(atPath: url.path) }

    let all: [JSONObject]
    /// The fields of each person that any event has.
    private(set) var fields: [String: Set<String>] = [:]
    /// The events in which the same person occurs with different fields.
    private(set) var poorAndRich = 0

    init() throws {
        let parsed = try JSONSerialization.jsonObject(with: Data(contentsOf: Self.url))
        all = try #require(parsed as? [[String: Any]]).map {
            JSONObject($0, identifier: "Event:\($0["id"] ?? "")")
        }
        for event in all {
            var seen: [String: Set<Set<String>>] = [:]
            event.forEachPerson { identifier, names in
                seen[identifier, default: []].insert(names)
                fields[identifier, default: []].formUnion(names)
            }
            if seen.values.contains(where: { $0.count > 1 }) { poorAndRich += 1 }
        }
    }
}

private indirect enum JSON: FieldValue, Sendable {
    case text(String)
    case list([JSON])
    case object(JSONObject)
    case null

    init(_ value: Any) {
        switch value {
        case let list as [Any]: self = .list(list.map(JSON.init))
        case let object as [String: Any]:
            let id = object["login"] == nil ? nil : object["id"]
            self = .object(JSONObject(object, identifier: id.map { "User:\($0)" }))
        case is NSNull: self = .null
        default: self = .text("\(value)")
        }
    }

    func encodeValue(into encoder: ValueEncoder) throws {
        switch self {
        case .text(let text): encoder.encode(text)
        case .list(let list): try list.encodeValue(into: encoder)
        case .object(let object): try object.encodeValue(into: encoder)
        case .null: encoder.encodeNull()
        }
    }

    static func decodeValue(from decoder: inout ValueDecoder) throws -> JSON {
        try decoder.skipValue()
        return .null
    }

    func forEachPerson(_ body: (String, Set<String>) -> Void) {
        switch self {
        case .text, .null: break
        case .list(let list): for element in list { element.forEachPerson(body) }
        case .object(let object): object.forEachPerson(body)
        }
    }
}

private struct JSONObject: NormalizedModel {
    let modelIdentifier: String?
    let members: [(name: String, value: JSON)]
    var projectionIdentifier: String { "Object" }

    init(_ object: [String: Any], identifier: String?) {
        modelIdentifier = identifier
        members = object.sorted { $0.key < $1.key }.map { ($0.key, JSON($0.value)) }
    }

    init(from decoder: inout RecordDecoder) throws { self.init([:], identifier: nil) }

    func encode(to encoder: inout RecordEncoder) throws {
        for member in members { try encoder.encode(member.value, forKey: member.name) }
    }

    /// Calls `body` with each person and the fields that it has here.
    func forEachPerson(_ body: (String, Set<String>) -> Void) {
        if let modelIdentifier, modelIdentifier.hasPrefix("User:") {
            body(modelIdentifier, Set(members.map(\.name)))
        }
        for member in members { member.value.forEachPerson(body) }
    }
}

import EspalierModels
import EspalierRecords
import EspalierTestSupport

// Three types over one record, with rules of their own, and a child.

/// A type of the random walk, as the oracle sees it.
protocol RuledView: NormalizedModel, Equatable {
    /// The laws of the fields, as the oracle knows them.
    static var laws: [String: Law] { get }
    static var names: [String] { get }
    /// What was fetched.
    var facts: Facts { get }
    var children: [Mate] { get }

    static func random(_ random: inout SeededGenerator, node: String) -> Self
}

extension RuledView {
    var children: [Mate] { [] }

    /// The occurrences in the order of the tree.
    var sights: [Sight] {
        let own = Sight(
            node: modelIdentifier ?? "", type: "\(Self.self)", facts: facts, laws: Self.laws,
            names: Self.names)
        return [own] + children.flatMap(\.sights)
    }
}

/// Written by hand, without `Codable`.
struct Headline: RuledView {
    static let mergeRules: MergeRules = [
        "title": .newest(by: "updatedAt"), "state": .newest(by: "updatedAt"), "tags": .union,
    ]
    static let laws: [String: Law] = [
        "title": .newest("updatedAt"), "state": .newest("updatedAt"),
        "updatedAt": .newest("updatedAt"), "tags": .union,
    ]
    static let names = ["title", "updatedAt", "state", "tags", "note"]

    let id: String
    var title: String?
    var updatedAt: Int?
    var state: Field<Int> = .absent
    var tags: [String]?
    var note: String?
    var modelIdentifier: String? { id }

    var facts: Facts {
        Facts(
            ("title", .of(title)), ("updatedAt", .of(updatedAt)), ("state", .of(state)),
            ("tags", .of(tags)), ("note", .of(note)))
    }

    init(id: String) { self.id = id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        title = try decoder.decode(forKey: "title")
        updatedAt = try decoder.decode(forKey: "updatedAt")
        state = try decoder.decode(forKey: "state")
        tags = try decoder.decode(forKey: "tags")
        note = try decoder.decode(forKey: "note")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(title, forKey: "title")
        try encoder.encode(updatedAt, forKey: "updatedAt")
        try encoder.encode(state, forKey: "state")
        try encoder.encode(tags, forKey: "tags")
        try encoder.encode(note, forKey: "note")
    }

    static func random(_ random: inout SeededGenerator, node: String) -> Headline {
        var view = Headline(id: node)
        view.title = random.maybe { "t\($0.number)" }
        view.updatedAt = random.maybe { $0.number }
        view.state = random.field { $0.number }
        view.tags = random.maybe { $0.list.map { "tag\($0)" } }
        view.note = random.maybe { "n\($0.number)" }
        return view
    }
}

/// By `Codable`, with children.
struct Article: RuledView, Codable {
    static let mergeRules: MergeRules = [
        "title": .newest(by: "updatedAt"), "state": .newest(by: "updatedAt"), "tags": .union,
        "page": .append, "first": .keepFirst, "mates": .union,
    ]
    static let laws: [String: Law] = [
        "title": .newest("updatedAt"), "state": .newest("updatedAt"),
        "updatedAt": .newest("updatedAt"), "tags": .union, "page": .append, "first": .keepFirst,
        "mates": .union,
    ]
    static let names = [
        "title", "updatedAt", "state", "tags", "page", "first", "mates", "note",
    ]

    let id: String
    var title: String?
    var updatedAt: Int?
    var state: Field<Int> = .absent
    var tags: [String]?
    var page: [Int]?
    var first: Int?
    var mates: [Mate]?
    var note: String?
    var modelIdentifier: String? { id }
    var children: [Mate] { mates ?? [] }

    var facts: Facts {
        Facts(
            ("title", .of(title)), ("updatedAt", .of(updatedAt)), ("state", .of(state)),
            ("tags", .of(tags)), ("page", .of(page)), ("first", .of(first)),
            ("mates", .of(mates)), ("note", .of(note)))
    }

    init(id: String) { self.id = id }

    static func random(_ random: inout SeededGenerator, node: String) -> Article {
        var view = Article(id: node)
        view.title = random.maybe { "t\($0.number)" }
        view.updatedAt = random.maybe { $0.number }
        view.state = random.field { $0.number }
        view.tags = random.maybe { $0.list.map { "tag\($0)" } }
        view.page = random.maybe { $0.list }
        view.first = random.maybe { $0.number }
        view.mates = random.maybe { $0.mates }
        view.note = random.maybe { "n\($0.number)" }
        return view
    }
}

/// By `Codable`, with a stamp of text and fields that are null.
struct Metrics: RuledView, Codable {
    static let mergeRules: MergeRules = [
        "label": .newest(by: "stamp"), "likes": .combined { (a: Int, b: Int) in max(a, b) },
        "opened": .keepFirst, "first": .keepFirst, "page": .append, "thread": .append,
        "seen": .union,
    ]
    static let laws: [String: Law] = [
        "label": .newest("stamp"), "stamp": .newest("stamp"), "likes": .greatest,
        "opened": .keepFirst, "first": .keepFirst, "page": .append, "thread": .append,
        "seen": .union,
    ]
    static let names = [
        "label", "stamp", "likes", "opened", "first", "page", "thread", "seen", "note",
    ]

    let id: String
    var label: Field<String> = .absent
    var stamp: String?
    var likes: Int?
    var opened: Field<Double> = .absent
    var first: Int?
    var page: [Int]?
    var thread: [Mate]?
    var seen: Field<[Int]> = .absent
    var note: String?
    var modelIdentifier: String? { id }
    var children: [Mate] { thread ?? [] }

    var facts: Facts {
        Facts(
            ("label", .of(label)), ("stamp", .of(stamp)), ("likes", .of(likes)),
            ("opened", .of(opened)), ("first", .of(first)), ("page", .of(page)),
            ("thread", .of(thread)), ("seen", .of(seen)), ("note", .of(note)))
    }

    init(id: String) { self.id = id }

    static func random(_ random: inout SeededGenerator, node: String) -> Metrics {
        var view = Metrics(id: node)
        view.label = random.field { "l\($0.number)" }
        view.stamp = random.maybe { "2026-01-0\($0.number + 1)T00:00:00Z" }
        view.likes = random.maybe { $0.number }
        view.opened = random.field { Double($0.number) }
        view.first = random.maybe { $0.number }
        view.page = random.maybe { $0.list }
        view.thread = random.maybe { $0.mates }
        view.seen = random.field { $0.list }
        view.note = random.maybe { "n\($0.number)" }
        return view
    }
}

/// A child.
struct Mate: RuledView, Codable {
    static let mergeRules: MergeRules = ["score": .combined { (a: Int, b: Int) in max(a, b) }]
    static let laws: [String: Law] = ["score": .greatest]
    static let names = ["score", "name"]

    let id: String
    var score: Int?
    var name: String?
    var modelIdentifier: String? { id }
    var facts: Facts { Facts(("score", .of(score)), ("name", .of(name))) }

    static func random(_ random: inout SeededGenerator, node: String) -> Mate {
        Mate(
            id: node, score: random.maybe { $0.number }, name: random.maybe { "m\($0.number)" })
    }
}

/// One write of several types.
struct Envelope: NormalizedModel {
    let id: String
    let headlines: [Headline]
    let articles: [Article]
    let metrics: [Metrics]
    var modelIdentifier: String? { id }
    var sights: [Sight] {
        headlines.flatMap(\.sights) + articles.flatMap(\.sights) + metrics.flatMap(\.sights)
    }

    init(id: String, _ headlines: [Headline], _ articles: [Article], _ metrics: [Metrics]) {
        (self.id, self.headlines, self.articles, self.metrics) = (id, headlines, articles, metrics)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        headlines = try decoder.decode(forKey: "headlines")
        articles = try decoder.decode(forKey: "articles")
        metrics = try decoder.decode(forKey: "metrics")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(headlines, forKey: "headlines")
        try encoder.encode(articles, forKey: "articles")
        try encoder.encode(metrics, forKey: "metrics")
    }
}

// MARK: - Facts

extension Facts {
    /// Leaves out what was not fetched.
    fileprivate init(_ fields: (String, Fact?)...) {
        self.init(
            uniqueKeysWithValues: fields.compactMap { name, fact in fact.map { (name, $0) } })
    }
}

extension Fact {
    fileprivate static func of(_ value: Int?) -> Fact? { value.map(Fact.int) }
    fileprivate static func of(_ value: String?) -> Fact? { value.map(Fact.text) }
    fileprivate static func of(_ value: [Int]?) -> Fact? { value.map { .list($0.map(Fact.int)) } }
    fileprivate static func of(_ value: [String]?) -> Fact? {
        value.map { .list($0.map(Fact.text)) }
    }
    fileprivate static func of(_ value: [Mate]?) -> Fact? {
        value.map { .list($0.map { .node($0.id) }) }
    }
    fileprivate static func of(_ field: Field<Int>) -> Fact? { of(field, Fact.int) }
    fileprivate static func of(_ field: Field<Double>) -> Fact? { of(field, Fact.double) }
    fileprivate static func of(_ field: Field<String>) -> Fact? { of(field, Fact.text) }
    fileprivate static func of(_ field: Field<[Int]>) -> Fact? {
        of(field) { .list($0.map(Fact.int)) }
    }

    private static func of<Value>(_ field: Field<Value>, _ fact: (Value) -> Fact) -> Fact? {
        switch field {
        case .absent: nil
        case .null: .null
        case .value(let value): fact(value)
        }
    }
}

// MARK: - Random values

extension SeededGenerator {
    fileprivate var number: Int { mutating get { Int.random(in: 0..<6, using: &self) } }

    fileprivate var list: [Int] {
        mutating get {
            var list: [Int] = []
            for _ in 0..<Int.random(in: 0..<4, using: &self) { list.append(number) }
            return list
        }
    }

    fileprivate var mates: [Mate] {
        mutating get {
            var mates: [Mate] = []
            for number in list { mates.append(Mate.random(&self, node: "mate:\(number)")) }
            return mates
        }
    }

    fileprivate mutating func maybe<Value>(_ value: (inout Self) -> Value) -> Value? {
        happens(0.4) ? value(&self) : nil
    }

    fileprivate mutating func field<Value>(_ value: (inout Self) -> Value) -> Field<Value> {
        guard happens(0.5) else { return .absent }
        return happens(0.3) ? .null : .value(value(&self))
    }
}

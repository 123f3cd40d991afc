import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("Random partial writes by rules")
struct RuleWalkTests {
    @Test("10,000 writes of three types leave what a plain oracle says, in memory and on disk")
    func walk() async throws {
        let seed = UInt64.random(in: 0...999_999)
        var walk = try RuleWalk(seed: seed)
        for step in 1...10_000 {
            try await walk.write(step)
            if step % 50 == 0 { try await walk.cache.flush() }
            if step % 500 == 0 { walk.check("after \(step) writes") }
            if step % 2_500 == 0 {
                try walk.reopen()
                walk.check("reopened after \(step) writes")
            }
        }
        try await walk.checkInOtherProcess()
        try expectClean(walk.cache)
        walk.cache.close()
    }
}

/// A cache, the oracle of what it should hold, and random writes of both.
private struct RuleWalk {
    private static let nodes = 8
    private static let mates = 6

    private let scratch: Scratch
    private(set) var cache: NormalizedCache
    private var oracle = RuleOracle()
    private var random: SeededGenerator
    /// The longest arrays grow without bounds: now and then a record begins anew.
    private let seed: UInt64

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        scratch = try Scratch()
        cache = try scratch.open()
    }

    mutating func reopen() throws {
        cache.close()
        cache = try scratch.open()
    }

    // MARK: - Writes

    mutating func write(_ step: Int) async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: set(models(of: Headline.self))
        case 25..<50: set(models(of: Article.self))
        case 50..<75: set(models(of: Metrics.self))
        case 75..<87: setEnvelope(step)
        case 87..<91: try await ingest(models(of: Article.self), step)
        case 91..<95: try await ingest(models(of: Metrics.self), step)
        case 95..<97: replace(Article.random(&random, node: node()))
        case 97..<99: replace(Metrics.random(&random, node: node()))
        default: replace(Headline.random(&random, node: node()))
        }
    }

    private mutating func node() -> String {
        "node:\(Int.random(in: 0..<Self.nodes, using: &random))"
    }

    private mutating func models<View: RuledView>(of type: View.Type) -> [View] {
        var models: [View] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            models.append(View.random(&random, node: node()))
        }
        return models
    }

    private mutating func set<View: RuledView>(_ models: [View]) {
        if models.count == 1 {
            cache.set(models[0], policy: .merge)
        } else {
            cache.set(models, policy: .merge)
        }
        oracle.merge(models.flatMap(\.sights))
    }

    private mutating func setEnvelope(_ step: Int) {
        let envelope = Envelope(
            id: "envelope:\(step % 7)", models(of: Headline.self), models(of: Article.self),
            models(of: Metrics.self))
        cache.set(envelope, policy: .merge)
        oracle.merge(envelope.sights)
    }

    private mutating func replace<View: RuledView>(_ model: View) {
        cache.set(model, policy: .replace)
        oracle.replace(model.sights)
    }

    /// Merges a document, and compares the models that come back.
    private mutating func ingest<View: RuledView & Codable>(
        _ models: [View], _ step: Int
    ) async throws {
        let merged = try await cache.ingest(JSONEncoder().encode(models), as: [View].self)
        oracle.merge(models.flatMap(\.sights))
        for model in merged { compare(model, "ingested by write \(step)") }
    }

    // MARK: - Checks

    func check(_ moment: String) {
        for number in 0..<Self.nodes {
            compare(Headline.self, "node:\(number)", moment)
            compare(Article.self, "node:\(number)", moment)
            compare(Metrics.self, "node:\(number)", moment)
        }
        for number in 0..<Self.mates { compare(Mate.self, "mate:\(number)", moment) }
    }

    /// Expects another process to read the same.
    func checkInOtherProcess() async throws {
        try await cache.flush()
        let (directory, expected) = (scratch.directory, Self.contents(of: cache))
        await #expect(processExitsWith: .success) {
            [directory = directory as String, expected = expected as String] in
            let cache = try NormalizedCache(directory: directory, configuration: .forTests)
            guard Self.contents(of: cache) == expected else { exit(2) }
            cache.close()
        }
    }

    /// Returns a description of all that can be read.
    private static func contents(of cache: NormalizedCache) -> String {
        func contents<View: RuledView>(_ type: View.Type, _ node: String) -> String {
            let facts = cache.read(View.self, node)?.facts ?? [:]
            return "\(node): \(facts.sorted { $0.key < $1.key })"
        }
        let nodes = (0..<nodes).flatMap { number in
            [
                contents(Headline.self, "node:\(number)"), contents(Article.self, "node:\(number)"),
                contents(Metrics.self, "node:\(number)"),
            ]
        }
        let mates = (0..<mates).map { contents(Mate.self, "mate:\($0)") }
        return (nodes + mates).joined(separator: "\n")
    }

    private func compare<View: RuledView>(_ type: View.Type, _ node: String, _ moment: String) {
        guard let model = cache.read(View.self, node) else {
            if oracle.records[node] != nil { Issue.record("\(node) is missing \(moment): \(seed)") }
            return
        }
        compare(model, moment)
    }

    private func compare<View: RuledView>(_ model: View, _ moment: String) {
        let expected = (oracle.records[model.modelIdentifier ?? ""] ?? [:]).filter {
            View.names.contains($0.key)
        }
        #expect(model.facts == expected, "\(model) \(moment), seed \(seed)")
    }
}

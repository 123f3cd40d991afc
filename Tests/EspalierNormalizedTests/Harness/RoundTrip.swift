#if Macros
import Espalier
import Foundation
import Testing

/// Calls `body` with a new cache, and verifies the cache afterwards.
func withCache<R>(_ body: (NormalizedCache) async throws -> R) async throws -> R {
    let directory = NSTemporaryDirectory() + "/espalier-normalized-" + UUID().uuidString
    let cache = try NormalizedCache(
        directory: directory, configuration: Configuration(durability: .noSync, compression: .none))
    defer {
        cache.close()
        try? FileManager.default.removeItem(atPath: directory)
    }
    let result = try await body(cache)
    let report = try cache.verify()
    #expect(report.isClean, "\(report.problems)")
    return result
}

/// Expects that `model` is read back equal from a cache.
func expectRoundTrip<Model: NormalizedModel & Equatable>(
    _ model: Model, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    try await withCache { cache in
        let holder = Holder(id: "holder", held: model)
        try await cache.set(holder).committed
        let outcome: ReadOutcome<Holder<Model>> = await cache.readOutcome(
            Holder<Model>.self, "Holder:holder")
        #expect(outcome.value == holder, "\(outcome)", sourceLocation: sourceLocation)
    }
}

/// A node that holds any model, so that an inline model can be read by identifier.
struct Holder<Held: NormalizedModel & Equatable>: NormalizedModel, Equatable {
    let id: String
    let held: Held
    var modelIdentifier: String? { "Holder:\(id)" }

    init(id: String, held: Held) {
        self.id = id
        self.held = held
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        held = try decoder.decode(forKey: "held")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(held, forKey: "held")
    }
}
#endif

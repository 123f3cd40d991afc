import EspalierModels
import EspalierRecords
import EspalierStore
import Testing

/// A cache that is opened and closed for every access, as by different releases of an app.
struct ReopenedCache {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    func open<R>(_ body: (NormalizedCache) throws -> R) throws -> R {
        let cache = try scratch.open()
        defer { cache.close() }
        return try body(cache)
    }

    func write(_ model: some NormalizedModel, policy: WritePolicy = .replace) throws {
        try open { try $0.set(model, policy: policy).wait() }
    }

    func read<Model: NormalizedModel>(
        _ type: Model.Type, _ identifier: String = "Message:34"
    ) throws -> ReadOutcome<Model> {
        try open { $0.readOutcome(type, identifier) }
    }

    func verify() throws { try open { try expectClean($0) } }
}

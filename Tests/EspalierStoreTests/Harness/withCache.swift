import EspalierStore
import Foundation
import Testing

/// Runs `body` with a new cache. Whatever it did, the cache has to be clean afterwards, and clean
/// again when reopened.
///
/// `isDamaged` is for tests that break the cache by hand and say themselves what verifying should
/// find.
func withCache<R>(
    _ configuration: Configuration = .forTests, isDamaged: Bool = false,
    _ body: (NormalizedCache) throws -> R
) throws -> R {
    let scratch = try Scratch()
    let cache = try scratch.open(configuration)
    let result = try body(cache)
    try finish(cache, scratch, configuration, isDamaged: isDamaged)
    return result
}

/// The same for a body that suspends.
func withCache<R>(
    _ configuration: Configuration = .forTests, isDamaged: Bool = false,
    _ body: (NormalizedCache) async throws -> R
) async throws -> R {
    let scratch = try Scratch()
    let cache = try scratch.open(configuration)
    let result = try await body(cache)
    try finish(cache, scratch, configuration, isDamaged: isDamaged)
    return result
}

private func finish(
    _ cache: NormalizedCache, _ scratch: Scratch, _ configuration: Configuration, isDamaged: Bool
) throws {
    if !cache.isClosed, !isDamaged { try expectClean(cache) }
    cache.close()
    let reopened = try scratch.open(configuration)
    if !isDamaged { try expectClean(reopened) }
    reopened.close()
}

/// Every invariant of the design holds.
func expectClean(_ cache: NormalizedCache, sourceLocation: SourceLocation = #_sourceLocation) throws
{
    let report = try cache.verify()
    #expect(report.isClean, "\(report.problems)", sourceLocation: sourceLocation)
}

/// A directory of one test, removed with it.
final class Scratch: Sendable {
    let root: String

    init() throws {
        root = NSTemporaryDirectory() + "/espalier-store-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    var directory: String { root + "/cache" }

    func open(_ configuration: Configuration = .forTests) throws -> NormalizedCache {
        try NormalizedCache(directory: directory, configuration: configuration)
    }
}

extension Configuration {
    /// Killing the process loses nothing in any mode, and waiting for the disk takes time.
    static var forTests: Configuration { Configuration(durability: .noSync) }

    /// So many bytes of text take so many bytes of file.
    static var uncompressed: Configuration { .forTests(budget: .mebibytes(50)) }

    /// Without compression, unless asked for.
    static func forTests(budget: ByteCount, compression: Compression = .none) -> Configuration {
        Configuration(budget: budget, durability: .noSync, compression: compression)
    }
}

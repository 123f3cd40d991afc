import EspalierEncryption
import EspalierStore
import Foundation
import Testing

/// Runs `body` with a new cache. Expects the cache to be clean afterwards, and again after
/// reopening.
///
/// - Parameter isDamaged: Whether `body` damages the cache. The cache is not verified then.
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

/// Runs a `body` that suspends with a new cache, which it verifies as the other function does.
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

/// Expects the cache to break no invariant.
func expectClean(_ cache: NormalizedCache, sourceLocation: SourceLocation = #_sourceLocation) throws
{
    let report = try cache.verify()
    #expect(report.isClean, "\(report.problems)", sourceLocation: sourceLocation)
}

/// The directory of one test, which is removed with this object.
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

extension Scratch {
    /// Closes `cache` and opens it again: as it is, compacted, and with two other budgets. Calls
    /// `check` each time.
    func reopen(_ cache: inout NormalizedCache, _ check: (NormalizedCache) throws -> Void) throws {
        for turn in 0..<4 {
            switch turn {
            case 0: break
            case 1: try cache.compact().wait()
            case 2: try cache.setBudget(.mebibytes(60)).wait()
            default: try cache.setBudget(.mebibytes(40)).wait()
            }
            cache.close()
            cache = try open()
            try check(cache)
            try expectClean(cache)
        }
    }
}

extension Configuration {
    /// Does not sync: killing a process loses no commit, and waiting for the disk takes time.
    static var forTests: Configuration { Configuration(durability: .noSync, encryption: .inTests) }

    /// Decodes each tree that is read, for tests of what a read of the file does.
    static var withoutMemory: Configuration {
        var configuration = Configuration.forTests
        configuration.memoryBudget = ByteCount(0)
        return configuration
    }

    /// Stores records raw, so that the size of a text is its size in the file.
    static var uncompressed: Configuration { .forTests(budget: .mebibytes(50)) }

    /// A configuration for tests with a budget, by default without compression.
    static func forTests(budget: ByteCount, compression: Compression = .none) -> Configuration {
        Configuration(
            budget: budget, durability: .noSync, compression: compression, encryption: .inTests)
    }
}

extension Encryption {
    /// With the variable `ESPALIER_ENCRYPTED` in the environment, all tests of the engine run with
    /// encrypted caches. Those fail that look at the bytes of a file, or make room for a number of
    /// records.
    static let inTests: Encryption? =
        ProcessInfo.processInfo.environment["ESPALIER_ENCRYPTED"] == nil
        ? nil : Encryption(key: .numbered(0))
}

extension EncryptionKey {
    /// A key for tests: always the same for a number.
    static func numbered(_ number: UInt8) -> EncryptionKey {
        do {
            return try EncryptionKey(bytes: (0..<32).map { number &* 31 &+ $0 })
        } catch {
            preconditionFailure("a key of 32 bytes")
        }
    }
}

public import Espalier
public import Foundation
import Synchronization
import Testing

// Helpers for the tests of apps that use the cache. They need Swift Testing, so they stand in a
// product of their own.

/// Expects a read to miss, and records an issue if it was a hit or missed for another reason.
///
/// ```swift
/// expectMiss(await cache.readOutcome(Person.self, "Person:1"), because: "deleted")
/// ```
///
/// - Parameters:
///   - outcome: The outcome of the read.
///   - reason: The name of the reason, as ``MissReason/name`` has it; nil for any reason.
///   - fileID: The caller's file and module, where an issue is recorded.
///   - filePath: The path of the caller's file.
///   - line: The caller's line.
///   - column: The caller's column.
public func expectMiss<Value>(
    _ outcome: ReadOutcome<Value>, because reason: String? = nil,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
    column: Int = #column
) {
    let location = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    switch outcome {
    case .hit(let hit):
        Issue.record("expected a miss, and read \(hit.value)", sourceLocation: location)
    case .miss(let found):
        guard let reason, found.name != reason else { return }
        Issue.record(
            "expected the miss \(reason), and got \(found.name): \(found)",
            sourceLocation: location)
    }
}

/// Expects a read to be a hit, and returns its value. Records an issue with the reason of a miss.
///
/// ```swift
/// let person = expectHit(await cache.readOutcome(Person.self, "Person:1"))
/// ```
///
/// - Parameters:
///   - outcome: The outcome of the read.
///   - fileID: The caller's file and module, where an issue is recorded.
///   - filePath: The path of the caller's file.
///   - line: The caller's line.
///   - column: The caller's column.
/// - Returns: The value; nil for a miss.
@discardableResult
public func expectHit<Value>(
    _ outcome: ReadOutcome<Value>,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
    column: Int = #column
) -> Value? {
    let location = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    if case .miss(let reason) = outcome {
        Issue.record("expected a hit, and missed: \(reason)", sourceLocation: location)
    }
    return outcome.value
}

extension NormalizedCache {
    /// Opens a cache in memory that holds the models of a JSON array: a fixture for a test or a
    /// preview.
    ///
    /// ```swift
    /// let cache = try NormalizedCache.holding(
    ///     [Person].self, json: #"[{"id": 1, "name": "Ada"}]"#)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the array.
    ///   - json: The text of the array.
    ///   - key: The key of a collection that gets the models, too; nil for none.
    ///   - decoder: Decodes the models.
    ///   - configuration: The options of the cache.
    /// - Returns: The cache, with all models committed.
    /// - Throws: What the decoder throws, or a ``CacheError``.
    public static func holding<Model: IdentifiedModel & Decodable>(
        _ type: [Model].Type, json: String, asCollection key: String? = nil,
        decoder: JSONDecoder = JSONDecoder(), configuration: Configuration = Configuration()
    ) throws -> NormalizedCache {
        let models = try decoder.decode(type, from: Data(json.utf8))
        let cache = try NormalizedCache(inMemory: configuration)
        try cache.write { batch in
            batch.set(models)
            if let key { batch.setCollection(models, forKey: key) }
        }.wait()
        return cache
    }
}

/// A clock that a test sets: it dates the writes of a cache, and tells their age.
///
/// ```swift
/// let clock = ManualClock()
/// let cache = try NormalizedCache(inMemory: Configuration(clock: clock.wallClock))
/// try await cache.set(person).committed
/// clock.advance(by: .seconds(3_600))  // a hit is an hour old now
/// ```
///
/// Safe from every thread.
public final class ManualClock: Sendable {
    private let date: Mutex<Date>

    /// Creates a clock that stands still at a date. A cache keeps whole seconds, so ages are exact
    /// if the date has no fraction.
    public init(now: Date = Date(timeIntervalSince1970: 1_800_000_000)) { date = Mutex(now) }

    /// The date that the clock tells.
    public var now: Date {
        get { date.withLock { $0 } }
        set { date.withLock { $0 = newValue } }
    }

    /// Moves the clock forward, or back with a negative duration.
    public func advance(by duration: Duration) { date.withLock { $0 += duration / .seconds(1) } }

    /// The clock for a cache's ``Configuration``.
    public var wallClock: WallClock { WallClock(of: self) { $0.now } }
}

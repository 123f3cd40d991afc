public import EspalierModels
public import EspalierRecords
public import Foundation

/// The result of a read: a whole tree, or the reason of a miss.
///
/// ```swift
/// switch cache.readOutcome(Message.self, "Message:34") {
/// case .hit(let hit): show(hit.value)
/// case .miss(let reason): log("no message: \(reason)")
/// }
/// ```
public enum ReadOutcome<Value: Sendable>: Sendable {
    /// The cache has the whole tree.
    case hit(Hit<Value>)
    /// The cache does not have the whole tree.
    case miss(MissReason)

    /// The value of a hit; nil for a miss.
    public var value: Value? {
        guard case .hit(let hit) = self else { return nil }
        return hit.value
    }

    /// The reason of a miss; nil for a hit.
    public var reason: MissReason? {
        guard case .miss(let reason) = self else { return nil }
        return reason
    }

    /// The value of a hit, or the reason of a miss, for completions that take a `Result`.
    public var result: Result<Value, MissReason> {
        switch self {
        case .hit(let hit): .success(hit.value)
        case .miss(let reason): .failure(reason)
        }
    }

    /// The same for completions that have to know whether the value has expired, as those of a
    /// `SharedCacheDelegate`.
    public var staleResult: Result<StaleRead<Value>, MissReason> {
        switch self {
        case .hit(let hit): .success(StaleRead(hit.value, isExpired: hit.isExpired))
        case .miss(let reason): .failure(reason)
        }
    }
}

// Looking up the metadata of generic types was an eighth of the instructions of a small read. So a
// read is not generic between the function that the app calls and the one that decodes: it passes
// on a `ReadOutcome<Void>`, and the value stays in a variable of the former.

/// Reads something into a variable that is nil before, and after a miss.
typealias ReadBody<Value: Sendable> = (SnapshotReader, inout Value?) throws -> ReadOutcome<Void>

/// A body that another thread may run.
typealias SendableReadBody<Value: Sendable> =
    @Sendable (SnapshotReader, inout Value?) throws -> ReadOutcome<Void>

extension ReadOutcome where Value == Void {
    /// Returns the outcome with its value.
    @inline(__always)
    func with<Other>(_ value: Other?) -> ReadOutcome<Other> {
        switch self {
        case .miss(let reason): return .miss(reason)
        case .hit(let hit):
            guard let value else { return .miss(.notFound) }
            return .hit(
                Hit(
                    value: value, isCut: hit.isCut, recordCount: hit.recordCount,
                    writtenAt: hit.writtenAt, age: hit.age, oldestAge: hit.oldestAge,
                    isExpired: hit.isExpired))
        }
    }
}

/// A whole tree that was reassembled.
public struct Hit<Value: Sendable>: Sendable {
    /// The model, or the elements of the collection.
    public let value: Value
    /// Whether the tree leaves out a reference from a record back to one that contains it.
    public let isCut: Bool
    /// How many records were decoded.
    public let recordCount: Int
    /// When the model or the collection was last written by itself, to the second; nil if it was
    /// only written as a part of another model.
    ///
    /// A write that changes nothing counts. A later write of a model that contains this one does
    /// not, unless records of its type expire.
    public let writtenAt: Date?
    /// How old the model or the collection was when it was read: the time since ``writtenAt``, by
    /// the clock of the cache's ``Configuration``. Not negative, even if the clock was set back.
    ///
    /// ```swift
    /// if case .hit(let hit) = await cache.readOutcome(Feed.self, "Feed:1") {
    ///     show(hit.value)
    ///     if hit.age ?? .zero > .seconds(600) { refetch() }
    /// }
    /// ```
    public let age: Duration?
    /// How old the oldest record of the tree was that may expire; nil if none may, see
    /// ``IdentifiedModel/maxAge``.
    public let oldestAge: Duration?
    /// Whether a record of the tree had expired. False in a read that accepts fresh records only.
    public let isExpired: Bool

    package init(
        value: Value, isCut: Bool, recordCount: Int, writtenAt: Date? = nil, age: Duration? = nil,
        oldestAge: Duration? = nil, isExpired: Bool = false
    ) {
        self.value = value
        self.isCut = isCut
        self.recordCount = recordCount
        self.writtenAt = writtenAt
        self.age = age
        self.oldestAge = oldestAge
        self.isExpired = isExpired
    }

    /// Returns the hit with its value transformed.
    package func map<Other>(_ transform: (Value) -> Other) -> Hit<Other> {
        Hit<Other>(
            value: transform(value), isCut: isCut, recordCount: recordCount, writtenAt: writtenAt,
            age: age, oldestAge: oldestAge, isExpired: isExpired)
    }
}

/// What a cache has of a tree, and what it lacks: the result of
/// `NormalizedCache.readPartial`.
///
/// ```swift
/// let partial = cache.readPartial(Feed.self, "Feed:1")
/// if let feed = partial.model { show(feed) }
/// for field in partial.missing { request(field.identifier, field.path) }
/// ```
public struct PartialRead<Model: Sendable>: Sendable {
    /// The tree without the models that lack required fields: an optional one is nil, and an
    /// element is left out. Nil if the root lacks a required field or requires a model that does,
    /// and for every other miss.
    public let model: Model?
    /// The required fields that were never fetched, in all records of the tree, each once. Empty if
    /// the tree is complete, and for a miss for another reason.
    public let missing: [MissingField]
    /// The reason why there is no model; nil if there is one.
    public let reason: MissReason?

    /// Whether the tree is whole.
    public var isComplete: Bool { model != nil && missing.isEmpty }

    init(model: Model, missing: [MissingField] = []) {
        self.model = model
        self.missing = missing
        reason = nil
    }

    init(_ outcome: ReadOutcome<PartialRead>) {
        switch outcome {
        case .hit(let hit): self = hit.value
        case .miss(let reason):
            model = nil
            self.reason = reason
            if case .incomplete(let missing) = reason {
                self.missing = missing
            } else {
                missing = []
            }
        }
    }
}

/// The writes that a read sees.
public enum Consistency: String, Sendable, CaseIterable, Codable {
    /// All writes submitted before the read, which waits for those that are pending. The default.
    case latest
    /// All writes committed before the read, which waits for none.
    case snapshot
}

/// Whether a read counts as an access.
///
/// ```swift
/// let preview = cache.read(Message.self, "Message:34", access: .peek)
/// ```
///
/// The evictor evicts the least recently accessed records first. Both cases are counted in the
/// statistics.
public enum Access: Sendable {
    /// The read counts: what it reads becomes the last to be evicted. The default.
    case touch
    /// The read changes nothing: what it reads is evicted when it would have been without the read.
    /// For tools, for prefetching, and for code that looks at more than a user does.
    case peek
}

/// What a read accepts of records that have expired, see ``IdentifiedModel/maxAge``.
///
/// ```swift
/// switch cache.readOutcome(Feed.self, "Feed:1") {
/// case .hit(let hit): show(hit.value)
/// case .miss(.expired(_, let age)):
///     showOld(cache.read(Feed.self, "Feed:1", accepting: .stale), age)
///     refetch()
/// case .miss: refetch()
/// }
/// ```
///
/// Without a maximum age nothing expires, and all cases are the same.
public enum Freshness: Sendable, Hashable {
    /// Only fresh records: a tree with an expired record is a miss, `expired`. The default.
    case fresh
    /// Expired records, too. The hit says how old the oldest record is, and whether one has
    /// expired.
    case stale
    /// As ``stale``, and if a record of the tree has expired, the cache calls what was registered
    /// with ``NormalizedCache/onExpired(_:retry:when:clock:refetch:)`` for the type that the read
    /// asks for. For any number of reads at the same time, it is called once.
    case staleWhileRevalidate
}

/// What a read asks for; a miss reports it.
struct ReadTarget: Sendable {
    let type: Any.Type
    let nameSpace: NameSpace
    let identifier: String
    /// Whether the read returns the whole of what it asks for, which memory may have.
    var isWhole = false
    /// Whether the read tells when its target was written.
    var isDated = false
    var freshness = Freshness.fresh

    /// The same target, as a whole.
    var whole: ReadTarget {
        var target = self
        target.isWhole = true
        return target
    }

    /// The same target, as a whole and with its date.
    var dated: ReadTarget {
        var target = whole
        target.isDated = true
        return target
    }

    /// The same target, for a read that accepts expired records or does not.
    func accepting(_ freshness: Freshness) -> ReadTarget {
        var target = self
        target.freshness = freshness
        return target
    }

    /// Returns the key under which memory has the result of the read.
    func key(for value: Any.Type) -> MemoryTree.Key {
        MemoryTree.Key(
            nameSpace: nameSpace, identifier: Identifier(identifier),
            value: ObjectIdentifier(value))
    }

    static func node(_ type: Any.Type, _ identifier: String) -> ReadTarget {
        ReadTarget(type: type, nameSpace: .node, identifier: identifier)
    }

    static func key(_ type: Any.Type, _ key: String) -> ReadTarget {
        ReadTarget(type: type, nameSpace: .key, identifier: key)
    }

    /// - Parameter type: The type of the elements.
    static func collection(_ type: Any.Type, _ key: String) -> ReadTarget {
        ReadTarget(type: type, nameSpace: .collection, identifier: key)
    }
}

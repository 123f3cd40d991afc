import EspalierEncryption
package import EspalierLMDB
package import EspalierRecords

/// The keyspaces of one generation. A table beside this file reads and writes each of them.
///
/// A class, so that a call passes one reference instead of nine keyspaces.
package final class Keyspaces: Sendable {
    static let names = [
        "index", "nodes", "state", "recency", "shapes", "dictionaries", "pins", "changes", "info",
        "long", "layers",
    ]

    /// Lower bound of names -> a group of names with their handles. See `IndexGroups`.
    package let index: Keyspace
    /// Handle -> container of records. See `Container`.
    package let nodes: Keyspace
    /// Handle and chunk -> part of a record that is too long for a container. See `Chunks`.
    package let long: Keyspace
    /// Handle -> reference count, stamp, flags, where they differ from the default. See
    /// `ReferenceCounts`.
    package let state: Keyspace
    /// Stamp, handle -> records that may be evicted, from there on. See `Recency`.
    package let recency: Keyspace
    /// Number -> record count and shape. See `ShapeTable`.
    package let shapes: Keyspace
    /// Number, slice -> dictionary. See `DictionaryTable`.
    let dictionaries: Keyspace
    /// Name space and identifier -> handle of a pinned record. See `PinTable`.
    package let pins: Keyspace
    /// Number of a commit, chunk -> what the commit has changed. See `ChangeRing`.
    let changes: Keyspace
    /// Name -> format, counters, budget, statistics, list of dictionaries. See `CounterTable` and
    /// `DictionaryTable`.
    let info: Keyspace
    /// Number -> optimistic change; handle -> the record without such changes. See `LayerTable`.
    package let layers: Keyspace
    /// Hashes the names in `index` and `pins`, if the file is encrypted.
    private let names: Sealer?

    /// Whether the names in `index` and `pins` are hashes. Then only the record has its name.
    package var hidesNames: Bool { names != nil }

    init(_ environment: Environment) {
        names = environment.protection?.sealer
        index = environment.keyspace("index")
        nodes = environment.keyspace("nodes")
        long = environment.keyspace("long")
        state = environment.keyspace("state")
        recency = environment.keyspace("recency")
        shapes = environment.keyspace("shapes")
        dictionaries = environment.keyspace("dictionaries")
        pins = environment.keyspace("pins")
        changes = environment.keyspace("changes")
        info = environment.keyspace("info")
        layers = environment.keyspace("layers")
    }
}

extension Keyspaces {
    /// Returns the key of an identifier in `index` and `pins`.
    package func indexKey(_ nameSpace: NameSpace, _ identifier: String) -> [UInt8] {
        let key = IndexKey.bytes(nameSpace, identifier)
        return names?.hash(key) ?? key
    }
}

/// Logical time: a number that grows with each access and each write.
package struct Stamp: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    /// The stamp of a record that was never accessed directly.
    package static let never = Stamp(0)

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (a: Stamp, b: Stamp) -> Bool { a.rawValue < b.rawValue }
}

/// A handle as keyspaces hold it: the value of a pin, and the first eight bytes of a key in
/// `nodes`, `state` and `long`.
extension Handle {
    /// The handle that is the key of a container or of a group of states; nil if the key is damaged
    /// and has another length.
    package init?(key: RawSpan) {
        guard key.byteCount == 8, let handle = try? Handle(stored: key) else { return nil }
        self = handle
    }

    package init(stored span: RawSpan) throws {
        self = try ByteReader.reading(span) { Handle(try $0.integer(UInt64.self)) }
    }

    init(stored bytes: [UInt8]) throws {
        self = try ByteReader.reading(bytes) { Handle(try $0.integer(UInt64.self)) }
    }

    var storedBytes: [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.append(integer: rawValue)
        return writer.bytes
    }
}

// Searches in keyspaces in which each value holds all records from its key up to the next key:
// `nodes`, `state` and `recency`. A damaged key has another length, or does not stand in its order.
// The searches skip it.
extension Cursor {
    /// Moves to the value whose range contains a place. Returns its key; nil if there is none.
    ///
    /// - Parameters:
    ///   - place: The place, and its bytes as those of a key.
    ///   - key: Returns the key that bytes stand for; nil if they are damaged.
    mutating func seekRange<Key: Comparable>(
        around place: Key, _ bytes: some KeyspaceKey, _ key: (RawSpan) -> Key?
    ) throws -> Key? {
        var isThere = try seek(atOrBefore: bytes)
        while isThere {
            if let found = withKey(key), found <= place { return found }
            isThere = try previous()
        }
        return nil
    }

    /// Returns the first whole key behind a place, and whether the value found is the last one of
    /// the keyspace, so that a new key may be appended. Called after `seekRange`, with the key that
    /// it has returned.
    mutating func nextRange<Key: Comparable>(
        after place: Key, from found: Key?, _ key: (RawSpan) -> Key?
    ) throws -> (key: Key?, isLast: Bool) {
        var isThere = try found == nil ? first() : next()
        let isLast = !isThere
        while isThere {
            if let next = withKey(key), next > place { return (next, isLast) }
            isThere = try next()
        }
        return (nil, isLast)
    }
}

/// An estimate of the pages that new values of one keyspace fill.
struct NewPages {
    private(set) var count = 0
    private var bytes = 0

    /// Adds a value. Two values of more than half a page do not share one.
    mutating func add(_ byteCount: Int) {
        guard byteCount <= 2_038 else { return count += 1 }
        bytes += byteCount + 24
        count += bytes / 4_080
        bytes %= 4_080
    }
}

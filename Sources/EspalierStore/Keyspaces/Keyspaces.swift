import EspalierLMDB

/// The keyspaces of a generation.
/// A class, so that look-ups pass a reference and not nine names.
final class Keyspaces: Sendable {
    static let names = [
        "index", "nodes", "state", "recency", "shapes", "dictionaries", "pins", "changes", "info",
    ]

    /// Name space and identifier -> handle.
    let index: Keyspace
    /// Handle, or handle and chunk -> record.
    let nodes: Keyspace
    /// Handle -> reference count, stamp, flags; only where not the default.
    let state: Keyspace
    /// Stamp, handle -> nothing.
    let recency: Keyspace
    /// Number -> record count and shape.
    let shapes: Keyspace
    /// Number, slice -> dictionary.
    let dictionaries: Keyspace
    /// Name space and identifier -> handle and bytes: what is never evicted.
    let pins: Keyspace
    /// Name -> format, counters, budget, statistics.
    let info: Keyspace

    init(_ environment: Environment) {
        index = environment.keyspace("index")
        nodes = environment.keyspace("nodes")
        state = environment.keyspace("state")
        recency = environment.keyspace("recency")
        shapes = environment.keyspace("shapes")
        dictionaries = environment.keyspace("dictionaries")
        pins = environment.keyspace("pins")
        info = environment.keyspace("info")
    }
}

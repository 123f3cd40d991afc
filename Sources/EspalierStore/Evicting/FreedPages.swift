import EspalierLMDB
import EspalierRecords

/// How many pages deletes would set free, over the keyspaces that records stand in.
struct FreedPages {
    private var nodes: LeafForecast
    private var index: LeafForecast
    // Too small to be followed leaf by leaf: by their share.
    private let state: KeyspaceStatistics
    private let recency: KeyspaceStatistics
    /// Entries that go, less those that come.
    private var states = 0
    private var listings = 0

    init(_ snapshot: Snapshot, _ keyspaces: Keyspaces, pageSize: Int) throws {
        nodes = try LeafForecast(snapshot, keyspaces.nodes, pageSize: pageSize) { key, _ in
            try Handle(stored: key)
        }
        index = try LeafForecast(snapshot, keyspaces.index, pageSize: pageSize) { _, value in
            try? Handle(stored: value)
        }
        state = try snapshot.statistics(of: keyspaces.state)
        recency = try snapshot.statistics(of: keyspaces.recency)
    }

    mutating func remove(_ handle: Handle) {
        nodes.remove(handle)
        index.remove(handle)
    }

    mutating func note(_ before: StateEntry, _ after: StateEntry) {
        states += (before.isDefault ? 0 : 1) - (after.isDefault ? 0 : 1)
        listings += (before.isInRecency ? 1 : 0) - (after.isInRecency ? 1 : 0)
    }

    var count: Int {
        nodes.freedPages + index.freedPages + Self.share(states, of: state)
            + Self.share(listings, of: recency)
    }

    /// An entry of them takes some 28 bytes, and leaves are about two thirds full.
    private static let entriesOfPage = 100

    /// Less than none where more come than go: what a collection refers to has an entry of its own
    /// once that is gone.
    private static func share(_ entries: Int, of keyspace: KeyspaceStatistics) -> Int {
        guard entries > 0, keyspace.entries > 0 else { return entries / entriesOfPage }
        return Int(Double(entries) / Double(keyspace.entries) * Double(keyspace.pages))
    }
}

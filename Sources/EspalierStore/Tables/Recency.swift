import EspalierLMDB
import EspalierRecords

/// The `recency` keyspace: the records that eviction may take, the least recently accessed first.
///
///     key = stamp, handle (8 bytes each)        value = nothing
///
/// It lists a record exactly under its `StateEntry.recencyStamp`. `ReferenceCounts` keeps that
/// invariant: it moves a record here whenever it writes the record's state. The only other writer
/// is `RecencyOrder`, which deletes entries that damage has left.
struct Recency {
    private let keyspace: Keyspace

    init(_ keyspaces: Keyspaces) { keyspace = keyspaces.recency }

    /// A record whose place changes.
    struct Move {
        let handle: Handle
        let from: Stamp?
        let to: Stamp?
    }

    /// Moves records from the places of their old states to those of their new ones.
    func apply(_ moves: [Move], in transaction: inout WriteTransaction) throws {
        for move in moves {
            guard let stamp = move.from else { continue }
            try transaction.delete(keyspace, KeyPair(stamp.rawValue, move.handle.rawValue))
        }
        let added = moves.compactMap { move in
            move.to.map { RecencyEntry(stamp: $0, handle: move.handle) }
        }
        // Most of them are younger than all others. To append them fills the pages.
        let last = try transaction.withCursor(keyspace) { cursor in
            try cursor.last() ? cursor.withKey { KeyPair($0).map(RecencyEntry.init) } : nil
        }
        for entry in added.sorted() {
            if last.map({ $0 < entry }) ?? false {
                try transaction.append(keyspace, entry.key, [])
            } else {
                try transaction.put(keyspace, entry.key, [])
            }
        }
    }
}

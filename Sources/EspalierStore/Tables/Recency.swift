import EspalierLMDB
import EspalierRecords

/// The `recency` keyspace: the records that eviction may take, the least recently accessed first.
///
///     key = stamp, handle (8 bytes each)        value = nothing
///
/// It lists a record exactly under its `StateEntry.recencyStamp`. `ReferenceCounts` keeps that
/// invariant: it moves a record here whenever it writes the record's entry of `state`. The only
/// other writer is `RecencyOrder`, which deletes entries that damage has left.
struct Recency {
    private let keyspace: Keyspace

    init(_ keyspaces: Keyspaces) { keyspace = keyspaces.recency }

    /// Moves a record from the place of one state to the place of the next.
    func move(
        _ handle: Handle, from before: StateEntry?, to after: StateEntry?,
        in transaction: inout WriteTransaction
    ) throws {
        let old = before?.recencyStamp
        let new = after?.recencyStamp
        guard old != new else { return }
        if let old {
            try transaction.delete(keyspace, KeyPair(old.rawValue, handle.rawValue))
        }
        if let new {
            try transaction.put(keyspace, KeyPair(new.rawValue, handle.rawValue), [])
        }
    }

    /// Returns the stamp under which the keyspace lists a record. Walks the keyspace.
    func stamp(
        of handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> Stamp? {
        var stamp: Stamp?
        try transaction.forEach(in: keyspace) { key, _ in
            guard let pair = KeyPair(key), pair.second == handle.rawValue else { return true }
            stamp = Stamp(pair.first)
            return false
        }
        return stamp
    }
}

/// The part of an open environment that its transactions share. All of it is immutable but the size
/// of the map, which stays the same while a transaction is open.
///
/// Whoever holds one may call C only while a transaction counted by the environment is open: the
/// last one closes it.
@safe
struct EnvironmentHandle: Sendable {
    /// LMDB's environment is safe to use from every thread.
    nonisolated(unsafe) let pointer: LMDBCalls.Pointer
    /// Unique in the process, so that a keyspace of another environment is recognised.
    let serial: UInt64
    let fork: UInt64
    let pageSize: Int
    let map: MapSize
    /// Of `data.mdb`; LMDB closes it.
    let dataDescriptor: Int32
    let isReadOnly: Bool
    let keyspaces: [Keyspace]

    var mapSize: Int { map.bytes }

    /// What fits an overflow page of its own, after its header.
    var maximumValueSize: Int { pageSize - 16 }

    /// Opened by an ancestor of this process.
    var isForeign: Bool { fork != ForkMark.current }
}

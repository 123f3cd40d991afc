/// A named, ordered map from keys to values inside an environment.
///
/// ```swift
/// let nodes = environment.keyspace("nodes")
/// let record = try environment.read { try $0.value(nodes, UInt64(7)) }
/// ```
///
/// Threading: a value, valid in every transaction of the environment it came from. Cost: a few
/// words. Errors: none; using it with another environment, even one opened later on the same
/// directory, is a programmer error and traps.
public struct Keyspace: Sendable, Hashable {
    public let name: String
    let index: UInt32
    let environment: UInt64

    /// The two keyspaces LMDB keeps for itself: the free list and the table of named keyspaces.
    static let freeListIndex: UInt32 = 0
    static let directoryIndex: UInt32 = 1
}

import Synchronization

/// One LMDB transaction, pooled when it reads.
///
/// Opaque outside this module: what a `ReadableTransaction` hands to the operations they all share.
///
/// The epoch moves on each time the transaction ends. Snapshots and cursors remember the epoch they
/// were made in, and so find out that they are stale even when the slot already serves another read
/// on another thread. `borrows` counts the values and entries lent out at the moment: a write would
/// pull the page from under them.
///
/// Threading: one thread at a time, which the `~Copyable` transactions ensure; only `epoch` may be
/// looked at by others.
@safe
public final class OpenTransaction: @unchecked Sendable {
    // immutable
    let environment: EnvironmentHandle
    let isWritable: Bool
    let pointer: LMDBCalls.Pointer

    // atomic
    private let epochs = Atomic<UInt64>(0)

    // confined to the thread the transaction runs on; atomic only because that spares the
    // exclusivity checks of a `var`
    private let borrows = Atomic<Int>(0)
    private let failed = Atomic<Bool>(false)
    private let known = unsafe Atomic<Unmanaged<RecordAddressCache>?>(nil)

    init(_ pointer: LMDBCalls.Pointer, of environment: EnvironmentHandle, isWritable: Bool) {
        unsafe self.pointer = pointer
        self.environment = environment
        self.isWritable = isWritable
    }

    deinit { unsafe known.load(ordering: .acquiring)?.release() }

    var epoch: UInt64 { epochs.load(ordering: .acquiring) }
    var number: UInt64 { unsafe LMDBCalls.number(pointer) }
    var hasFailed: Bool { failed.load(ordering: .relaxed) }

    func end() {
        precondition(
            borrows.load(ordering: .relaxed) == 0,
            "a transaction ended while one of its values was borrowed")
        epochs.store(epochs.load(ordering: .relaxed) &+ 1, ordering: .releasing)
    }

    func fail() {
        failed.store(true, ordering: .relaxed)
    }

    func borrow() {
        borrows.store(borrows.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Public only for inlining; does nothing useful elsewhere.
    @usableFromInline
    func giveBack() {
        borrows.store(borrows.load(ordering: .relaxed) &- 1, ordering: .relaxed)
    }

    func requireNothingBorrowed() {
        precondition(
            borrows.load(ordering: .relaxed) == 0,
            "a transaction wrote while one of its values was borrowed")
    }

    func index(of keyspace: Keyspace) -> UInt32 {
        precondition(
            keyspace.environment == environment.serial,
            "the keyspace belongs to another environment")
        return keyspace.index
    }

    /// Where the values of a keyspace were found by earlier reads of the same commit; nil where
    /// that is not kept, as in a write, whose pages move.
    func knownPlaces(_ keyspace: UInt32) -> RecordAddressCache? {
        guard !isWritable else { return nil }
        if let known = unsafe known.load(ordering: .relaxed) {
            let places = unsafe known.takeUnretainedValue()
            return places.isOf(keyspace) ? places : nil
        }
        guard let places = RecordAddressCache(keyspace) else { return nil }
        unsafe known.store(.passRetained(places), ordering: .releasing)
        return places
    }

    /// Finds a value and counts it as borrowed; the caller gives it back.
    @usableFromInline
    func borrowValue(_ keyspace: Keyspace, _ key: RawSpan) throws(LMDBError)
        -> UnsafeRawBufferPointer?
    {
        let index = index(of: keyspace)
        let pointer = unsafe self.pointer
        let found = try unsafe key.withUnsafeBytes {
            (bytes) throws(LMDBError) -> UnsafeRawBufferPointer? in
            try unsafe LMDBCalls.get(pointer, index, bytes)
        }
        if unsafe found != nil { borrow() }
        return unsafe found
    }
}

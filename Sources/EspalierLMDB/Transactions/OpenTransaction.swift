import EspalierConfinement
import Synchronization

/// One transaction of LMDB. Environments pool those that read.
///
/// The type is opaque outside this module. It is public because ``ReadableTransaction`` hands it to
/// the operations that all transactions share.
///
/// The epoch increases each time the transaction ends. Snapshots and cursors remember the epoch in
/// which they were made, and so detect that they are stale, even when the object already serves
/// another read on another thread. `borrows` counts the values and entries that callers use at the
/// moment: a write would move the pages that they stand on.
///
/// One thread at a time uses the object, which the `~Copyable` transactions ensure. Other threads
/// may read the epoch only.
///
/// Unchecked `Sendable`, because a pool hands the object from thread to thread. The environment
/// calls `transferToCurrentThread` for the next one.
@safe
public final class OpenTransaction: @unchecked Sendable {
    // immutable
    let environment: EnvironmentHandle
    let isWritable: Bool
    let pointer: LMDBCalls.Pointer

    // confined to the thread that the transaction runs on; changes while no thread uses the object
    /// Whether values have to be opened. A field, because every look-up asks.
    @usableFromInline private(set) var isProtected = false

    // shared by all threads
    private let epochs = Atomic<UInt64>(0)

    private struct State {
        var borrows = 0
        /// The first error that made the transaction void.
        var failure: LMDBError?
    }

    // confined to the thread that the transaction runs on
    private let state = Confined(State())

    init(_ pointer: LMDBCalls.Pointer, of environment: EnvironmentHandle, isWritable: Bool) {
        unsafe self.pointer = pointer
        self.environment = environment
        self.isWritable = isWritable
        isProtected = environment.protection != nil
    }

    /// Makes the calling thread the owner of a transaction from the pool.
    func transferToCurrentThread() {
        state.transferToCurrentThread()
        isProtected = environment.protection != nil
    }

    var epoch: UInt64 { epochs.load(ordering: .acquiring) }
    var number: UInt64 { unsafe LMDBCalls.number(pointer) }
    var hasFailed: Bool { state.value.failure != nil }

    /// Makes all snapshots and cursors of the transaction stale.
    func end() {
        precondition(
            state.value.borrows == 0, "a transaction ended while one of its values was borrowed")
        state.value.failure = nil
        epochs.store(epochs.load(ordering: .relaxed) &+ 1, ordering: .releasing)
    }

    /// Notes the error of a call, and returns the one to throw.
    ///
    /// LMDB refuses all calls of a transaction once it has met a bad page, even in a transaction
    /// that only reads, and gives no reason. Whichever call meets the refusal, the file is damaged.
    func fail(_ error: LMDBError) -> LMDBError {
        let isRefused = error.code == .transactionFailed
        let cause = isRefused ? refusal(error.operation) : error
        if state.value.failure == nil { state.value.failure = cause }
        return cause
    }

    /// The error of a call after the transaction has become void.
    func refusal(_ operation: LMDBError.Operation) -> LMDBError {
        let isDamaged = state.value.failure.map { $0.code == .corrupted } ?? true
        return LMDBError(isDamaged ? .corrupted : .transactionFailed, operation)
    }

    /// Counts a value that the caller is about to use.
    func beginBorrow() {
        state.value.borrows &+= 1
    }

    /// Ends the use of a value. Only inlined code of this module calls it from other modules.
    @usableFromInline
    func endBorrow() {
        state.value.borrows &-= 1
    }

    func requireNothingBorrowed() {
        precondition(
            state.value.borrows == 0, "a transaction wrote while one of its values was borrowed")
    }

    /// Returns the index of a keyspace. Traps if it belongs to another environment.
    func index(of keyspace: Keyspace) -> UInt32 {
        precondition(
            keyspace.environment == environment.serial,
            "the keyspace belongs to another environment")
        return keyspace.index
    }

    /// Returns the content of an encrypted value, or `nil` if the value is stored plainly. One that
    /// does not open has no bytes.
    @usableFromInline
    func opened(_ stored: UnsafeRawBufferPointer, _ keyspace: Keyspace, _ key: RawSpan) -> [UInt8]?
    {
        unsafe environment.protection?.opened(stored, in: keyspace.index, key: key)
    }

    /// Finds a value and calls `beginBorrow`. The caller calls `endBorrow`.
    @usableFromInline
    func borrowValue(_ keyspace: Keyspace, _ key: RawSpan) throws(LMDBError)
        -> UnsafeRawBufferPointer?
    {
        let index = index(of: keyspace)
        let pointer = unsafe self.pointer
        let found: UnsafeRawBufferPointer?
        do {
            unsafe found = try key.withUnsafeBytes {
                (bytes) throws(LMDBError) -> UnsafeRawBufferPointer? in
                try unsafe LMDBCalls.get(pointer, index, bytes)
            }
        } catch {
            throw fail(error)
        }
        if unsafe found != nil { beginBorrow() }
        return unsafe found
    }
}

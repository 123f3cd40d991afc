import Synchronization

extension Environment {
    /// Begins the write transaction, after waiting, without a limit, for the one that is under way
    /// here or in another process. A second one on the same thread would wait for itself, and
    /// traps.
    ///
    /// Not for asynchronous functions, which change threads at every `await`.
    @available(
        *, noasync,
        message: "a write transaction is bound to its thread; use a synchronous function"
    )
    public func beginWrite() throws(LMDBError) -> WriteTransaction {
        _ = try enter(.beginWrite)
        do throws(LMDBError) {
            guard !handle.isReadOnly else { throw LMDBError(.notWritable, .beginWrite) }
            let thread = Self.currentThread
            precondition(
                writer.load(ordering: .relaxed) != thread,
                "this thread is writing already; commit or abort first")
            let pointer = try unsafe LMDBCalls.begin(handle.pointer, readOnly: false)
            writer.store(thread, ordering: .relaxed)
            expectMark()
            return unsafe WriteTransaction(
                OpenTransaction(pointer, of: handle, isWritable: true), in: self)
        } catch {
            leave()
            throw error
        }
    }

    /// Writes and commits; aborts, and throws, when `body` throws. Blocks as `beginWrite` does.
    public func write<R>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
        var transaction = try beginWrite()
        let result = try body(&transaction)
        try transaction.commit()
        return result
    }

    func commitWrite(_ transaction: OpenTransaction) throws(LMDBError) {
        // In a forked child dropping it is all there is to do.
        guard !handle.isForeign else { throw LMDBError(.usedAfterFork, .commit) }
        finishWrite(transaction)
        // LMDB frees the transaction, whether it can be committed or not.
        defer { leave() }
        try marking(isDurable: options.durability != .noSync) { () throws(LMDBError) in
            try unsafe LMDBCalls.commit(transaction.pointer)
        }
    }

    func abortWrite(_ transaction: OpenTransaction) {
        guard !handle.isForeign else { return }
        finishWrite(transaction)
        // What the transaction spilled has changed the file, if only where it is free.
        try? marking(isDurable: false) { () throws(LMDBError) in
            unsafe LMDBCalls.abort(transaction.pointer)
        }
        leave()
    }

    private func finishWrite(_ transaction: OpenTransaction) {
        precondition(
            writer.load(ordering: .relaxed) == Self.currentThread,
            "a write transaction must end on the thread that began it")
        transaction.end()
        writer.store(0, ordering: .relaxed)
    }
}

import Synchronization

extension Environment {
    /// Reads from one snapshot, the last commit at this moment.
    ///
    /// Pages freed since then cannot be reused before `body` returns: keep it short.
    @inlinable
    public func read<R>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
        let transaction = try beginRead()
        return try body(transaction)
    }

    /// Begins a read that ends with the value returned; for a look at the last commit beside a
    /// write.
    public func beginRead() throws(LMDBError) -> ReadTransaction {
        let idle = try enter(.beginRead, takingReader: true)
        do {
            if let idle {
                try renew(idle)
                return ReadTransaction(idle, in: self)
            }
            return ReadTransaction(try makeReader(), in: self)
        } catch {
            leave()
            throw error
        }
    }

    private func renew(_ reader: OpenTransaction) throws(LMDBError) {
        do {
            try unsafe LMDBCalls.renew(reader.pointer)
        } catch {
            unsafe LMDBCalls.abort(reader.pointer)
            throw error
        }
    }

    private func makeReader() throws(LMDBError) -> OpenTransaction {
        do {
            return try unsafe OpenTransaction(
                LMDBCalls.begin(handle.pointer, readOnly: true), of: handle, isWritable: false)
        } catch {
            // LMDB never looks for the slots of dead processes by itself.
            guard error.code == .readersFull else { throw error }
            guard try unsafe LMDBCalls.clearStaleReaders(handle.pointer) > 0 else { throw error }
        }
        return try unsafe OpenTransaction(
            LMDBCalls.begin(handle.pointer, readOnly: true), of: handle, isWritable: false)
    }

    func endRead(_ reader: OpenTransaction) {
        reader.end()
        guard !handle.isForeign else { return }
        unsafe LMDBCalls.reset(reader.pointer)
        let thread = Self.currentThread
        let isKept = state.withLock { state in
            guard !state.isClosing, !state.isTurnstileClosed, state.idleReaders.count < idleLimit
            else { return false }
            state.idleReaders.append(reader)
            state.remove(thread)
            return true
        }
        guard !isKept else { return }
        unsafe LMDBCalls.abort(reader.pointer)
        leave()
    }
}

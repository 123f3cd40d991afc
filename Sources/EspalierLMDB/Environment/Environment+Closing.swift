import Synchronization

extension Environment {
    enum Admission {
        case closed
        case open(idleReader: OpenTransaction?)
    }

    /// Refuses new transactions from now on; the file is closed when the last open one has ended. May be called again.
    public func close() {
        // A child leaves everything to its parent, the mutex included.
        guard !handle.isForeign else { return }
        let idle = state.withLock { state -> [OpenTransaction]? in
            guard !state.isClosing else { return nil }
            state.isClosing = true
            state.users += 1
            defer { state.idleReaders = [] }
            return state.idleReaders
        }
        guard let idle else { return }
        for reader in idle { unsafe LMDBCalls.abort(reader.pointer) }
        leave()
    }

    /// Whether `close` was called; transactions may still be open.
    public var isClosed: Bool {
        handle.isForeign || state.withLock { $0.isClosing }
    }

    /// Keeps the C environment open until `leave`.
    func enter(_ operation: LMDBError.Operation, takingReader: Bool = false) throws(LMDBError) -> OpenTransaction? {
        guard !handle.isForeign else { throw LMDBError(.usedAfterFork, operation) }
        let admission = state.withLock { state -> Admission in
            guard !state.isClosing else { return .closed }
            state.users += 1
            return .open(idleReader: takingReader ? state.idleReaders.popLast() : nil)
        }
        guard case .open(let reader) = admission else { throw LMDBError(.closed, operation) }
        return reader
    }

    /// The last to leave a closing environment closes it.
    func leave() {
        let isLast = state.withLock { state in
            state.users -= 1
            return state.isClosing && state.users == 0
        }
        guard isLast else { return }
        unsafe LMDBCalls.close(handle.pointer)
        EnvironmentRegistry.remove(entry)
    }
}

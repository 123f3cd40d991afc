import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension Environment {
    enum Admission {
        case closed, broken, turnstile
        case open(idleReader: OpenTransaction?)
    }

    /// Refuses new transactions from now on; the file is closed when the last open one has ended.
    /// May be called again.
    public func close() {
        // A child leaves everything to its parent, the mutex included.
        guard !handle.isForeign else { return }
        let idle = state.withLock { state -> [OpenTransaction]? in
            guard !state.isClosing else { return nil }
            state.isClosing = true
            state.threads.append(Self.currentThread)
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

    /// Keeps the C environment open until `leave`, on the same thread.
    func enter(
        _ operation: LMDBError.Operation, takingReader: Bool = false, closingTurnstile: Bool = false
    ) throws(LMDBError) -> OpenTransaction? {
        guard !handle.isForeign else { throw LMDBError(.usedAfterFork, operation) }
        let thread = Self.currentThread
        while true {
            let admission = state.withLock { state -> Admission in
                guard !state.isClosing else { return .closed }
                guard !state.isBroken else { return .broken }
                // Whoever is inside already must not wait for those who wait for it.
                if state.isTurnstileClosed && !state.threads.contains(thread) { return .turnstile }
                state.threads.append(thread)
                if closingTurnstile { state.isTurnstileClosed = true }
                return .open(idleReader: takingReader ? state.idleReaders.popLast() : nil)
            }
            switch admission {
            case .open(let reader): return reader
            case .closed: throw LMDBError(.closed, operation)
            case .broken: throw LMDBError(.panic, operation)
            case .turnstile: turnstile.withLock { _ in }
            }
        }
    }

    /// The last to leave a closing environment closes it.
    func leave() {
        let thread = Self.currentThread
        let isLast = state.withLock { state in
            state.remove(thread)
            return state.isClosing && state.threads.isEmpty
        }
        guard isLast else { return }
        unsafe LMDBCalls.close(handle.pointer)
        EnvironmentRegistry.remove(entry)
    }

    static var currentThread: UInt {
        #if canImport(Glibc)
        UInt(pthread_self())
        #else
        unsafe UInt(bitPattern: pthread_self())
        #endif
    }
}

extension Environment.State {
    mutating func remove(_ thread: UInt) {
        guard let index = threads.lastIndex(of: thread) else {
            preconditionFailure("a transaction must end on the thread that began it")
        }
        threads.swapAt(index, threads.count - 1)
        threads.removeLast()
    }
}

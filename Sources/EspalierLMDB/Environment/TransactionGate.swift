import Synchronization

/// Counts the transactions and calls that use an environment, and decides who may enter.
///
/// Every call of C stands between `enter` and `leave`, on one thread. The last thread that leaves a
/// closing environment closes it. LMDB moves its map when its size changes, so a resize runs alone:
///
/// ```
///   resize        | new threads wait ....... all have left | new map | threads enter again
///   read          ---------------------|
///     nested read    ----                    a thread that is inside may enter again
///   new read                |........................................----------
/// ```
final class TransactionGate: Sendable {
    private static let pauseInNanoseconds = 100_000

    private struct State {
        /// Read transactions for reuse. They hold a reader slot but pin no pages.
        var idleReaders: [OpenTransaction] = []
        /// The threads inside: one entry for each transaction and each call under way.
        var threads: [UInt] = []
        var isClosing = false
        /// There is no map any more, or LMDB refuses every transaction, so none may begin.
        var isMapLost = false
        /// Threads that are not inside wait for the resize.
        var isResizing = false

        mutating func remove(_ thread: UInt) {
            guard let index = threads.lastIndex(of: thread) else {
                preconditionFailure("a transaction must end on the thread that began it")
            }
            threads.swapAt(index, threads.count - 1)
            threads.removeLast()
        }

        mutating func removeIdleReaders() -> [OpenTransaction] {
            defer { idleReaders = [] }
            return idleReaders
        }
    }

    private enum Admission {
        case closed, mapLost, resizing
        case admitted(idleReader: OpenTransaction?)
    }

    // immutable
    private let handle: EnvironmentHandle
    private let entry: EnvironmentRegistry.Entry
    private let guardFile: GuardFile
    private let idleLimit: Int

    private let state = Mutex(State())

    /// Held while the map is being replaced. Threads that wait for that queue here.
    private let resizing = Mutex<Void>(())

    /// Makes a gate that closes `handle` and then removes `entry` from the registry.
    init(
        _ handle: EnvironmentHandle, entry: EnvironmentRegistry.Entry, _ guardFile: GuardFile,
        maximumReaders: Int
    ) {
        self.handle = handle
        self.entry = entry
        self.guardFile = guardFile
        // Idle readers keep their slots from other processes. Most reads of a process run on a few
        // threads, so that it needs no more readers than that.
        let idleLimit = max(1, min(8, maximumReaders / 16))
        self.idleLimit = idleLimit
        state.withLock { state in
            state.idleReaders.reserveCapacity(idleLimit)
            state.threads.reserveCapacity(maximumReaders)
        }
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Whether the calling thread has entered and not left.
    var isCallerInside: Bool {
        let thread = CallingThread.identifier
        return state.withLock { $0.threads.contains(thread) }
    }

    /// Whether the calling thread has entered more than once.
    var isCallerNested: Bool {
        let thread = CallingThread.identifier
        return state.withLock { state in state.threads.count { $0 == thread } > 1 }
    }

    // MARK: Entering and leaving

    /// Keeps the environment open until `leave` is called on the same thread. Waits during a
    /// resize, unless the thread is inside already: the resize waits for that thread.
    func enter(_ operation: LMDBError.Operation) throws(LMDBError) {
        _ = try enter(operation, reusingReader: false)
    }

    /// Enters like `enter`, and returns an idle reader if there is one.
    func enterForReading() throws(LMDBError) -> OpenTransaction? {
        try enter(.beginRead, reusingReader: true)
    }

    private func enter(
        _ operation: LMDBError.Operation, reusingReader: Bool, startingResize: Bool = false
    ) throws(LMDBError) -> OpenTransaction? {
        guard !handle.isInherited else { throw LMDBError(.usedAfterFork, operation) }
        let thread = CallingThread.identifier
        while true {
            let admission = state.withLock { state -> Admission in
                guard !state.isClosing else { return .closed }
                guard !state.isMapLost else { return .mapLost }
                if state.isResizing && !state.threads.contains(thread) { return .resizing }
                state.threads.append(thread)
                if startingResize { state.isResizing = true }
                return .admitted(idleReader: reusingReader ? state.idleReaders.popLast() : nil)
            }
            switch admission {
            case .admitted(let reader): return reader
            case .closed: throw LMDBError(.closed, operation)
            case .mapLost: throw LMDBError(.panic, operation)
            case .resizing: resizing.withLock { _ in }
            }
        }
    }

    /// Leaves. The last thread to leave a closing environment closes it.
    func leave() {
        let thread = CallingThread.identifier
        let isLast = state.withLock { state in
            state.remove(thread)
            return state.isClosing && state.threads.isEmpty
        }
        guard isLast else { return }
        FileUse(guardFile).end(in: entry.directory)
        unsafe LMDBCalls.close(handle.pointer)
        handle.writerLock.closeFile()
        EnvironmentRegistry.remove(entry)
    }

    /// Leaves, and keeps a reader that was reset for the next read, or aborts it.
    func leave(keeping reader: OpenTransaction) {
        let thread = CallingThread.identifier
        let isKept = state.withLock { state in
            guard !state.isClosing, !state.isResizing, state.idleReaders.count < idleLimit else {
                return false
            }
            state.idleReaders.append(reader)
            state.remove(thread)
            return true
        }
        guard !isKept else { return }
        unsafe LMDBCalls.abort(reader.pointer)
        leave()
    }

    // MARK: Closing and resizing

    /// Refuses new threads from now on.
    func close() {
        let thread = CallingThread.identifier
        let idle = state.withLock { state -> [OpenTransaction]? in
            guard !state.isClosing else { return nil }
            state.isClosing = true
            state.threads.append(thread)
            return state.removeIdleReaders()
        }
        guard let idle else { return }
        for reader in idle { unsafe LMDBCalls.abort(reader.pointer) }
        leave()
    }

    /// Refuses new threads for ever.
    func abandon() {
        state.withLock { $0.isMapLost = true }
        close()
    }

    /// Admits threads again if the environment is closing and some thread is still inside. Returns
    /// false if the environment is open, or closed.
    func reopen() -> Bool {
        state.withLock { state in
            guard state.isClosing, !state.isMapLost, !state.threads.isEmpty else { return false }
            state.isClosing = false
            return true
        }
    }

    /// Waits until all other threads have left and calls `replaceMap`; threads that enter meanwhile
    /// wait until it is done. Throws `.busy` if the others do not leave before the deadline. If
    /// `replaceMap` throws `.panic`, the map is lost and all later calls throw `.panic`.
    func resize(deadline: Duration, _ replaceMap: () throws(LMDBError) -> Void)
        throws(LMDBError)
    {
        guard !handle.isInherited else { throw LMDBError(.usedAfterFork, .resize) }
        guard !isCallerInside else { throw LMDBError(.busy, .resize) }
        try resizing.withLock { _ throws(LMDBError) in
            _ = try enter(.resize, reusingReader: false, startingResize: true)
            defer {
                state.withLock { $0.isResizing = false }
                leave()
            }
            for reader in state.withLock({ $0.removeIdleReaders() }) {
                unsafe LMDBCalls.abort(reader.pointer)
            }
            let clock = ContinuousClock()
            let end = clock.now + deadline
            while state.withLock({ $0.threads.count }) > 1 {
                guard clock.now < end else { throw LMDBError(.busy, .resize) }
                CallingThread.sleep(nanoseconds: Self.pauseInNanoseconds)
            }
            do throws(LMDBError) {
                try replaceMap()
            } catch {
                // The old map is gone: any access would go through its address.
                if error.code == .panic { state.withLock { $0.isMapLost = true } }
                throw error
            }
        }
    }
}

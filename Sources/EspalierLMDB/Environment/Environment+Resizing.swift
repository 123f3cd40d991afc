import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// LMDB moves its map when the size changes, so nothing may be looking at it: new transactions wait
/// at a turnstile until those under way have ended.
///
/// ```
///   resize     | turnstile closed ...... all have left | new map | turnstile open
///   readers    ---------------------|
///      nested      ----                                             a thread that is inside already is let through
///   new                |...............................................----------
/// ```
extension Environment {
    private static let pause = timespec(tv_sec: 0, tv_nsec: 100_000)

    /// Raises the map, and with it the limit on the file, to `mapSize` bytes; a smaller size than
    /// now changes nothing.
    ///
    /// Transactions that begin meanwhile wait, those under way have until `deadline` to end. Then,
    /// and at once when the calling thread has a transaction open itself, it throws `.busy` and all
    /// go on with the old size. `.outOfMemory` leaves the old size, too.
    public func resize(mapSize: Int, deadline: Duration) throws(LMDBError) {
        precondition(mapSize > 0, "the map size must be positive")
        let machinePage = sysconf(Int32(_SC_PAGESIZE))
        let size = mapSize / machinePage * machinePage
        guard size > self.mapSize else { return }
        try alone(deadline: deadline) { () throws(LMDBError) in try setMapSize(size) }
    }

    /// Follows another process that has raised the map: what `.mapResized` asks for. Waits as
    /// `resize` does.
    public func followMapSize(deadline: Duration) throws(LMDBError) {
        try alone(deadline: deadline) { () throws(LMDBError) in
            let old = mapSize
            // Zero stands for the size in the file.
            try setMapSize(0)
            if mapSize < old { try setMapSize(old) }
        }
    }

    /// Whether the calling thread has a transaction of this environment open: then it must not wait
    /// for those of others.
    public var isInsideTransaction: Bool {
        let thread = Self.currentThread
        return !handle.isForeign && state.withLock { $0.threads.contains(thread) }
    }

    private func setMapSize(_ size: Int) throws(LMDBError) {
        try requireAddressSpace(max(size, mapSize))
        do {
            try unsafe LMDBCalls.resize(handle.pointer, mapSize: size)
            handle.map.bytes = try unsafe LMDBCalls.measure(handle.pointer, .resize).mapSize
        } catch {
            // The old map is gone. Whatever comes now would read through it.
            state.withLock { $0.isBroken = true }
            throw LMDBError(.panic, .resize)
        }
    }

    /// LMDB gives up the old map before it asks for the new one, and cannot go back.
    private func requireAddressSpace(_ size: Int) throws(LMDBError) {
        let address = unsafe mmap(
            nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw .system(.resize)
        }
        unsafe munmap(address, size)
    }

    private func alone(deadline: Duration, _ body: () throws(LMDBError) -> Void) throws(LMDBError) {
        guard !isInsideTransaction else { throw LMDBError(.busy, .resize) }
        try turnstile.withLock { _ throws(LMDBError) in
            _ = try enter(.resize, closingTurnstile: true)
            defer {
                state.withLock { $0.isTurnstileClosed = false }
                leave()
            }
            for reader in takeIdleReaders() { unsafe LMDBCalls.abort(reader.pointer) }
            let clock = ContinuousClock()
            let end = clock.now + deadline
            while state.withLock({ $0.threads.count }) > 1 {
                guard clock.now < end else { throw LMDBError(.busy, .resize) }
                var rest = Self.pause
                unsafe nanosleep(&rest, nil)
            }
            try body()
        }
    }

    private func takeIdleReaders() -> [OpenTransaction] {
        state.withLock { state in
            defer { state.idleReaders.removeAll() }
            return state.idleReaders
        }
    }
}

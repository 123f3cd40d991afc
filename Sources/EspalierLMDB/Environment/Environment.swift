import Synchronization

/// An open LMDB file: a set of keyspaces that change together, one commit at a time.
///
/// ```swift
/// let guardFile = try GuardFile(path: "/cache/guard", create: true)
/// let environment = try Environment.open(
///     directory: "/cache/1", guardedBy: guardFile, keyspaces: ["nodes"],
///     options: .init(mapSize: 64 << 20))
/// let nodes = environment.keyspace("nodes")
///
/// var transaction = try environment.beginWrite()
/// try transaction.put(nodes, UInt64(1), [1, 2, 3])
/// try transaction.commit()
///
/// let value = try environment.read { try $0.value(nodes, UInt64(1)) }
/// ```
///
/// All threads may use an environment. Reads run side by side and wait only while the map is being
/// resized. Writes wait for one another, in this process and in others, at most for
/// ``Options/lockDeadline``. A process opens a directory once; a forked child must open it again.
/// An environment that is dropped is closed.
///
/// All methods throw ``LMDBError``: `.closed` after ``close()``, `.usedAfterFork` in a forked
/// child, and `.panic` after an error that LMDB cannot recover from. Close the environment and open
/// it again then.
public final class Environment: Sendable {
    /// The length of the longest key in bytes. Longer keys cannot be stored, and are never found.
    public static let maximumKeySize = 511

    // immutable
    let handle: EnvironmentHandle
    let gate: TransactionGate
    private let marker: IntactMarker
    /// Open, so that the system does not give the directory's inode number to another directory
    /// while this one is registered.
    private let directory: OpenFile
    private let path: String
    /// The options that the environment was opened with.
    public let options: Options
    /// Why the file was in doubt when it was opened; `nil` if it was not. Its structure was checked
    /// then, which does not show damage inside of values.
    public let doubt: Doubt?
    let structureWatch: StructureWatch

    /// The thread that writes, 0 for none. Shared by all threads.
    private let writer = Atomic<UInt>(0)

    private init(
        _ handle: EnvironmentHandle, entry: EnvironmentRegistry.Entry,
        directory: consuming OpenFile, path: String, guardFile: GuardFile, options: Options,
        doubt: Doubt?
    ) {
        self.handle = handle
        gate = TransactionGate(
            handle, entry: entry, guardFile, maximumReaders: options.maximumReaders)
        marker = IntactMarker(guardFile, dataDescriptor: handle.dataDescriptor)
        structureWatch = StructureWatch(guardFile)
        self.directory = directory
        self.path = path
        self.options = options
        self.doubt = doubt
        unsafe guardFile.withAddress(of: .assertions) {
            unsafe LMDBCalls.countAssertions(of: handle.pointer, in: $0)
        }
    }

    deinit {
        close()
    }

    // MARK: Opening and closing

    /// Opens the file in a directory, and creates the file and its keyspaces if they are missing.
    /// A read-only open creates nothing.
    ///
    /// Waits for the guard's lock, at most for ``Options/lockDeadline``.
    ///
    /// - Parameters:
    ///   - directory: The path of the directory, which must exist.
    ///   - guardFile: The guard file of the cache. All processes must use the same one.
    ///   - keyspaces: All keyspaces of the file, or ``ReadableTransaction/pages()`` counts the
    ///     pages of the others as free.
    ///   - options: The size of the map, the durability and so on.
    /// - Throws: ``LMDBError``: `.alreadyOpen`; `.corrupted`, `.invalidFile` or `.versionMismatch`
    ///   if the file must be replaced; `.badPath` if it is a link; `.missingKeyspace` and
    ///   `.notFound` if it is read-only; an error of the file system.
    /// - Complexity: Some 100 microseconds. The structure of the file is checked first, at 0.1 to
    ///   0.5 milliseconds for each MiB, if the file has at most 64 MiB, if another program has
    ///   changed it, if its last commit may not have reached the disk, if a process has died while
    ///   it had the file open, and after 32 openings or 7 days. Each environment uses `mapSize`
    ///   bytes of address space.
    public static func open(
        directory: String, guardedBy guardFile: GuardFile, keyspaces: [String], options: Options
    ) throws(LMDBError) -> Environment {
        let lock = try guardFile.lock(deadline: options.lockDeadline)
        return try open(directory: directory, under: lock, keyspaces: keyspaces, options: options)
    }

    /// Opens the file in a directory for a caller that holds the guard's lock.
    ///
    /// If the process has closed the directory and transactions of it are still open, returns the
    /// environment of these transactions, which is then open again.
    ///
    /// The lock is necessary: when two processes open the file at once, or one is killed while
    /// another one waits, LMDB resets the number of the last transaction and overwrites commits.
    ///
    /// - Parameters:
    ///   - path: The path of the directory, which must exist.
    ///   - lock: The lock of the cache's guard file.
    ///   - keyspaces: All keyspaces of the file.
    ///   - options: The size of the map, the durability and so on.
    /// - Throws: ``LMDBError``, as ``open(directory:guardedBy:keyspaces:options:)`` does.
    /// - Complexity: The same as ``open(directory:guardedBy:keyspaces:options:)``.
    public static func open(
        directory path: String, under lock: borrowing GuardLock, keyspaces: [String],
        options: Options
    ) throws(LMDBError) -> Environment {
        precondition(
            options.maximumReaders > 0 && options.mapSize > 0,
            "reader slots and map size must be positive")
        precondition(
            Set(keyspaces).count == keyspaces.count && !keyspaces.contains(""),
            "keyspace names must differ")
        ForkCounter.start()
        let directory = try OpenFile(directory: path, .open)
        let entry = EnvironmentRegistry.Entry(
            directory: try directory.status(.open).identity, fork: ForkCounter.current)
        if let closing = EnvironmentRegistry.environment(at: entry),
            closing.options == options, closing.keyspaceNames == keyspaces, closing.gate.reopen()
        {
            return closing
        }
        try EnvironmentRegistry.insert(entry)
        let record = FileUse(lock.owner)
        let condition: EnvironmentFiles.Condition
        let handle: EnvironmentHandle
        do {
            condition = try EnvironmentFiles.prepare(
                in: directory, of: lock.owner, options: options)
            // Before LMDB touches the file: a process that dies in `mdb_env_open` counts, too.
            record.begin(in: entry.directory, isInUse: condition.isInUse)
        } catch {
            EnvironmentRegistry.remove(entry)
            throw error
        }
        do {
            handle = try EnvironmentHandle(
                path: path, in: directory, keyspaces: keyspaces, options: options,
                isLockless: condition.isLockless, fork: entry.fork)
        } catch {
            record.end(in: entry.directory)
            EnvironmentRegistry.remove(entry)
            throw error
        }
        let environment = Environment(
            handle, entry: entry, directory: directory, path: path, guardFile: lock.owner,
            options: options, doubt: condition.doubt)
        // Dropping the environment closes it.
        if condition.needsReader { try environment.checkWholeStructure() }
        if condition.isIntact { environment.marker.markIntact() }
        EnvironmentRegistry.register(environment, at: entry)
        return environment
    }

    /// Refuses new transactions from now on. The file is closed when the last open transaction has
    /// ended. Further calls have no effect.
    public func close() {
        // A forked child leaves everything to its parent; it must not even use the mutex.
        guard !handle.isInherited else { return }
        gate.close()
    }

    /// Closes the environment as ``close()`` does, and for good: an opening of the same files does
    /// not use it again while a transaction is still open. For one that LMDB has given up.
    public func abandon() { if !handle.isInherited { gate.abandon() } }

    /// Whether ``close()`` was called. Transactions may still be open.
    public var isClosed: Bool { handle.isInherited || gate.isClosing }

    /// Whether the path that the environment was opened by still leads to its data file. If it does
    /// not, commits succeed, and what they write is gone with the process.
    ///
    /// - Complexity: Two system calls.
    public var isInPlace: Bool {
        do { try gate.enter(.statistics) } catch { return true }
        defer { gate.leave() }
        guard let open = FileStatus(descriptor: handle.dataDescriptor) else { return true }
        return FileStatus(path: "\(path)/\(EnvironmentFiles.data)")?.identity == open.identity
    }

    // MARK: Properties

    private var keyspaceNames: [String] { handle.keyspaces.map(\.name) }

    /// The page size of the file in bytes, which can differ from that of the machine.
    public var pageSize: Int { handle.pageSize }

    /// The length of the longest value in bytes. Even encrypted it fits one page, so that no write
    /// needs several adjacent free pages.
    public var maximumValueSize: Int { handle.maximumValueSize }

    /// How values are encrypted, or `nil` if they are not.
    package var protection: ValueProtection? { handle.protection }

    /// Encrypts and decrypts all values from now on. Call it once, before the first value is read
    /// or stored that is not plain. Later calls have no effect.
    ///
    /// - Parameter protection: The keys, and which values are encrypted.
    package func protect(with protection: ValueProtection) { handle.protect(with: protection) }

    /// The size of the map in bytes, which is a hard limit on the file. It exceeds
    /// ``Options/mapSize`` if the file was larger already.
    public var mapSize: Int { handle.mapSize }

    /// Returns a keyspace.
    ///
    /// - Parameter name: A name that was passed to `open`. Any other name is a programmer error and
    ///   traps.
    /// - Complexity: O(*n*) in the number of keyspaces.
    public func keyspace(_ name: String) -> Keyspace {
        guard let keyspace = handle.keyspaces.first(where: { $0.name == name }) else {
            preconditionFailure(
                "no keyspace \(name) was opened; name it when opening the environment")
        }
        return keyspace
    }

    /// The number of the last commit of any process.
    ///
    /// - Throws: ``LMDBError``, see ``Environment``.
    public var lastTransaction: UInt64 {
        get throws(LMDBError) {
            try gate.enter(.statistics)
            defer { gate.leave() }
            return try unsafe LMDBCalls.measure(handle.pointer, .statistics).lastTransaction
        }
    }

    // MARK: Reading

    /// Reads from a snapshot of the last commit.
    ///
    /// LMDB cannot reuse the pages that are freed while `body` runs. Keep it short.
    ///
    /// - Parameter body: Reads from the transaction, which is valid until it returns.
    /// - Returns: The value that `body` returns.
    /// - Throws: ``LMDBError``: `.readersFull`, `.mapResized`, or see ``Environment``. Rethrows the
    ///   errors of `body`.
    /// - Complexity: Tens of nanoseconds. Allocates nothing if an idle reader is there.
    @inlinable
    public func read<R>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
        let transaction = try beginRead()
        return try body(transaction)
    }

    /// Begins a read transaction that ends when the value is dropped. Use it to read the last
    /// commit beside a write transaction.
    ///
    /// - Returns: The transaction. It must end on this thread.
    /// - Throws: ``LMDBError``, as ``read(_:)`` does.
    /// - Complexity: The same as ``read(_:)``.
    public func beginRead() throws(LMDBError) -> ReadTransaction {
        let idle = try gate.enterForReading()
        do {
            if let idle {
                try renew(idle)
                return ReadTransaction(idle, in: self)
            }
            return ReadTransaction(try makeReader(), in: self)
        } catch {
            gate.leave()
            throw error
        }
    }

    private func renew(_ reader: OpenTransaction) throws(LMDBError) {
        reader.transferToCurrentThread()
        do {
            try unsafe LMDBCalls.renew(reader.pointer)
        } catch {
            unsafe LMDBCalls.abort(reader.pointer)
            throw error
        }
    }

    /// Makes a reader. If the table is full, waits for a slot until the deadline: most reads take
    /// milliseconds, and readers that other processes keep for their next read are few.
    private func makeReader() throws(LMDBError) -> OpenTransaction {
        var end: ContinuousClock.Instant?
        while true {
            do {
                return try takeReaderSlot()
            } catch {
                guard error.code == .readersFull else { throw error }
                // LMDB does not free the slots of dead processes by itself.
                if try clearStaleReadersInside(.beginRead) > 0 { continue }
                end = end ?? .now + handle.lockDeadline
                // A thread that is inside a read would wait for itself.
                guard let end, .now < end, !gate.isCallerNested else { throw error }
                CallingThread.sleep(nanoseconds: 500_000)
            }
        }
    }

    private func takeReaderSlot() throws(LMDBError) -> OpenTransaction {
        try handle.readerTableLock.withLock(handle.lockDeadline, .beginRead) {
            () throws(LMDBError) in
            try unsafe OpenTransaction(
                LMDBCalls.begin(handle.pointer, readOnly: true), of: handle, isWritable: false)
        }
    }

    /// Frees the slots of dead processes, for a caller that has entered the gate.
    func clearStaleReadersInside(_ operation: LMDBError.Operation) throws(LMDBError) -> Int {
        try handle.readerTableLock.withLock(handle.lockDeadline, operation) {
            () throws(LMDBError) in
            try unsafe LMDBCalls.clearStaleReaders(handle.pointer)
        }
    }

    func endRead(_ reader: OpenTransaction) {
        reader.end()
        guard !handle.isInherited else { return }
        unsafe LMDBCalls.reset(reader.pointer)
        gate.leave(keeping: reader)
    }

    // MARK: Writing

    /// Begins the write transaction. Waits for a current one of this process or of another one.
    ///
    /// A second call on the same thread would wait for itself, and traps. Asynchronous functions
    /// cannot call this, because they can change threads at every `await`.
    ///
    /// - Parameter deadline: How long to wait. `nil` stands for ``Options/lockDeadline``, zero for
    ///   one attempt.
    /// - Returns: The transaction. It must end on this thread.
    /// - Throws: ``LMDBError``: `.busy` if another thread or process has been writing for longer
    ///   than `deadline`; `.notWritable`, `.mapResized`, or see ``Environment``.
    /// - Complexity: Half a microsecond: one `fstat`, two `flock`. Allocates one object.
    @available(
        *, noasync,
        message: "a write transaction is bound to its thread; use a synchronous function"
    )
    public func beginWrite(deadline: Duration? = nil) throws(LMDBError) -> WriteTransaction {
        try gate.enter(.beginWrite)
        do throws(LMDBError) {
            guard !handle.isReadOnly else { throw LMDBError(.notWritable, .beginWrite) }
            let thread = CallingThread.identifier
            precondition(
                writer.load(ordering: .relaxed) != thread,
                "this thread is writing already; commit or abort first")
            try handle.writerLock.acquire(deadline: deadline ?? handle.lockDeadline, .beginWrite)
            let pointer: LMDBCalls.Pointer
            do throws(LMDBError) {
                unsafe pointer = try LMDBCalls.begin(handle.pointer, readOnly: false)
            } catch {
                handle.writerLock.release()
                throw error
            }
            writer.store(thread, ordering: .relaxed)
            marker.beginWrite()
            return unsafe WriteTransaction(
                OpenTransaction(pointer, of: handle, isWritable: true), in: self)
        } catch {
            gate.leave()
            throw error
        }
    }

    /// Writes and commits. Aborts if `body` throws.
    ///
    /// - Parameter body: Writes to the transaction.
    /// - Returns: The value that `body` returns.
    /// - Throws: ``LMDBError``, as ``beginWrite()`` and ``WriteTransaction/commit()`` do. Rethrows
    ///   the errors of `body`.
    /// - Complexity: That of ``beginWrite()``, `body` and ``WriteTransaction/commit()``.
    public func write<R>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
        var transaction = try beginWrite()
        let result = try body(&transaction)
        try transaction.commit()
        return result
    }

    func commitWrite(_ transaction: OpenTransaction) throws(LMDBError) {
        // A forked child must not touch the transaction.
        guard !handle.isInherited else { throw LMDBError(.usedAfterFork, .commit) }
        endWriting(transaction)
        // LMDB frees the transaction whether the commit succeeds or fails.
        defer {
            handle.writerLock.release()
            gate.leave()
        }
        try marker.endWrite(isDurable: options.durability != .noSync) { () throws(LMDBError) in
            try unsafe LMDBCalls.commit(transaction.pointer)
        }
    }

    func abortWrite(_ transaction: OpenTransaction) {
        guard !handle.isInherited else { return }
        endWriting(transaction)
        // A large transaction has already written to free pages of the file.
        try? marker.endWrite(isDurable: false) { () throws(LMDBError) in
            unsafe LMDBCalls.abort(transaction.pointer)
        }
        handle.writerLock.release()
        gate.leave()
    }

    private func endWriting(_ transaction: OpenTransaction) {
        precondition(
            writer.load(ordering: .relaxed) == CallingThread.identifier,
            "a write transaction must end on the thread that began it")
        transaction.end()
        writer.store(0, ordering: .relaxed)
    }

    /// Waits until all commits are on the disk, whatever the durability.
    ///
    /// - Throws: ``LMDBError``: `.diskFull`, or see ``Environment``.
    /// - Complexity: One `fdatasync`.
    public func sync() throws(LMDBError) {
        try gate.enter(.sync)
        defer { gate.leave() }
        try marker.markDurable { () throws(LMDBError) in
            try unsafe LMDBCalls.sync(handle.pointer)
        }
    }

    // MARK: Checking

    /// Checks a part of the structure of the file. Consecutive calls check the whole file, unless a
    /// commit comes between them: the check then begins anew.
    ///
    /// One thread at a time may call it.
    ///
    /// - Parameter pages: About how many pages to check.
    /// - Returns: Whether the check is complete. The next call begins another one.
    /// - Throws: ``LMDBError``: `.corrupted` if LMDB could die of the file, or see ``Environment``.
    /// - Complexity: Up to 2.5 microseconds for each page.
    public func checkStructure(pages: Int) throws(LMDBError) -> Bool {
        try gate.enter(.statistics)
        defer { gate.leave() }
        return try structureWatch.advance(
            pages: pages, dataDescriptor: handle.dataDescriptor)
    }

    /// How long ago the structure was last checked as a whole, by any process.
    ///
    /// - Complexity: One system call.
    public var timeSinceStructureCheck: Duration { structureWatch.age }

    /// Checks the whole structure of a commit that no process changes meanwhile.
    ///
    /// - Throws: ``LMDBError``, as ``checkStructure(pages:)`` does.
    /// - Complexity: Up to 0.5 milliseconds for each MiB. LMDB cannot reuse the pages that are
    ///   freed meanwhile.
    public func checkWholeStructure() throws(LMDBError) {
        try structureWatch.checkWhole(self, handle.dataDescriptor)
    }

    // MARK: Resizing

    /// Raises the size of the map, and with it the limit on the file. A size below the current one
    /// has no effect.
    ///
    /// Transactions that begin meanwhile wait. The open ones have until `deadline` to end.
    ///
    /// - Parameters:
    ///   - mapSize: The new size in bytes. It is rounded down to whole pages.
    ///   - deadline: How long to wait for open transactions.
    /// - Throws: ``LMDBError``: `.busy` if transactions did not end before the deadline or the
    ///   calling thread has one open itself; `.outOfMemory` if there is no address space. Both
    ///   leave the old size. After `.panic` there is no map.
    /// - Complexity: A few system calls, besides the waiting.
    public func resize(mapSize: Int, deadline: Duration) throws(LMDBError) {
        precondition(mapSize > 0, "the map size must be positive")
        let size = EnvironmentHandle.wholePages(mapSize)
        guard size > self.mapSize else { return }
        try gate.resize(deadline: deadline) { () throws(LMDBError) in
            try handle.setMapSize(size)
            handle.setLimited(false)
        }
    }

    /// Lowers the size of the map. A size above the current one has no effect. LMDB keeps the map
    /// from becoming smaller than the pages of the last commit.
    ///
    /// - Parameters:
    ///   - mapSize: The new size in bytes. It is rounded down to whole pages.
    ///   - deadline: How long to wait for open transactions.
    /// - Throws: ``LMDBError``, as ``resize(mapSize:deadline:)`` does.
    /// - Complexity: The same as ``resize(mapSize:deadline:)``.
    public func shrink(mapSize: Int, deadline: Duration) throws(LMDBError) {
        precondition(mapSize > 0, "the map size must be positive")
        let size = EnvironmentHandle.wholePages(mapSize)
        guard size < self.mapSize else { return }
        try gate.resize(deadline: deadline) { () throws(LMDBError) in
            try handle.setMapSize(size)
        }
    }

    /// Appends zeros to the file, so that it has at least `count` pages behind the last used one.
    /// When the disk is full later, transactions can still write these pages to remove entries. Has
    /// no effect while ``limitToFile(deadline:)`` limits the map.
    ///
    /// - Parameters:
    ///   - count: The number of pages. The file never becomes longer than the map.
    ///   - transaction: The write transaction of the calling thread, which keeps other processes
    ///     from writing.
    /// - Throws: ``LMDBError``: `.diskFull`, or another error of the file system. The file may have
    ///   become longer all the same.
    /// - Complexity: Some five system calls for every 16 pages by which the file grows; none if the
    ///   file is known to be long enough.
    public func reserveFile(
        pages count: Int, in transaction: borrowing WriteTransaction
    ) throws(LMDBError) {
        let lastPage = try unsafe LMDBCalls.measure(handle.pointer, .statistics).lastPage
        // LMDB never uses the last page of the map.
        let mapPages = mapSize / pageSize - 1
        let needed = min(lastPage + 1 + count, mapPages)
        guard needed > handle.filePages.load(ordering: .relaxed), !isLimitedToFile else { return }
        let file = try OpenFile(duplicating: handle.dataDescriptor, .prepareFiles)
        let size = try file.status(.prepareFiles).size
        if size / pageSize < needed {
            // Also after an error: the file may have become longer all the same.
            defer { marker.markAgain() }
            try file.extend(
                from: size, to: min(needed + Self.reservedAtOnce, mapPages) * pageSize,
                .prepareFiles)
        }
        let pages = try file.status(.prepareFiles).size / pageSize
        handle.filePages.store(pages, ordering: .relaxed)
    }

    /// The further pages that an extension adds, so that few transactions extend the file.
    private static let reservedAtOnce = 16

    /// The size of the data file in bytes. It includes the pages of ``reserveFile(pages:in:)``.
    ///
    /// - Throws: ``LMDBError``, an error of the file system.
    /// - Complexity: One system call.
    public var fileSize: Int {
        get throws(LMDBError) {
            guard let status = FileStatus(descriptor: handle.dataDescriptor) else {
                throw .system(.statistics)
            }
            return status.size
        }
    }

    /// Whether ``limitToFile(deadline:)`` has limited the map to the pages that the file has.
    public var isLimitedToFile: Bool { handle.isLimited }

    /// Limits the map to the pages that the file has on the disk, which is full. Transactions that
    /// need more fail with `.mapFull` from now on and not with `.diskFull`, so that removing
    /// entries makes room for others. ``resize(mapSize:deadline:)`` lifts the limit. Other
    /// processes have limits of their own.
    ///
    /// - Parameter deadline: How long to wait for open transactions.
    /// - Throws: ``LMDBError``, as ``resize(mapSize:deadline:)`` does.
    /// - Complexity: The same as ``resize(mapSize:deadline:)``.
    public func limitToFile(deadline: Duration) throws(LMDBError) {
        try gate.resize(deadline: deadline) { () throws(LMDBError) in
            guard let file = FileStatus(descriptor: handle.dataDescriptor) else { return }
            // LMDB never uses the last page of the map. It keeps the map from becoming smaller than
            // the pages of the last commit.
            let size = (file.size / pageSize + 1) * pageSize
            guard size < mapSize else { return }
            try handle.setMapSize(EnvironmentHandle.wholePages(size))
            handle.setLimited(true)
        }
    }

    /// Adopts the size of a map that another process has raised. Call it after `.mapResized`.
    ///
    /// - Parameter deadline: How long to wait for open transactions.
    /// - Throws: ``LMDBError``, as ``resize(mapSize:deadline:)`` does.
    /// - Complexity: The same as ``resize(mapSize:deadline:)``.
    public func followMapSize(deadline: Duration) throws(LMDBError) {
        try gate.resize(deadline: deadline) { () throws(LMDBError) in
            let old = mapSize
            // Zero stands for the size that the file names.
            try handle.setMapSize(0)
            if mapSize < old { try handle.setMapSize(old) }
            handle.setLimited(false)
        }
    }

    /// Whether the calling thread has a transaction of this environment open. Such a thread must
    /// not wait for the transactions of others.
    ///
    /// - Complexity: O(*n*) in the number of open transactions.
    public var isInsideTransaction: Bool { !handle.isInherited && gate.isCallerInside }
}

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension Environment {
    private static let serials = Atomic<UInt64>(0)

    /// Opens the file in `directory`, which must exist, and all its keyspaces, creating what is
    /// missing unless read-only. Waits for the guard's lock, without a limit.
    public static func open(
        directory: String, guardedBy guardFile: GuardFile, keyspaces: [String], options: Options
    ) throws(LMDBError) -> Environment {
        let lock = try guardFile.lock()
        return try open(directory: directory, under: lock, keyspaces: keyspaces, options: options)
    }

    /// The same for a caller who holds the guard's lock already.
    ///
    /// Two opens at once, or one killed while another waits, would reset the transaction number and
    /// overwrite commits.
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
        ForkMark.watch()
        let directory = try OpenFile(directory: path, .open)
        let entry = EnvironmentRegistry.Entry(
            directory: try directory.status(.open).identity, fork: ForkMark.current)
        try EnvironmentRegistry.insert(entry)
        do {
            let isIntact = try EnvironmentFiles.prepare(
                in: directory, of: lock.owner, options: options)
            let handle = try openHandle(
                path, keyspaces: keyspaces, options: options, fork: entry.fork)
            let environment = Environment(
                handle: handle, entry: entry, directory: directory, guardFile: lock.owner,
                options: options)
            if isIntact { environment.markIntact() }
            return environment
        } catch {
            EnvironmentRegistry.remove(entry)
            throw error
        }
    }

    private static func openHandle(
        _ path: String, keyspaces names: [String], options: Options, fork: UInt64
    ) throws(LMDBError) -> EnvironmentHandle {
        let pointer = try unsafe LMDBCalls.createEnvironment()
        do {
            let machinePage = sysconf(Int32(_SC_PAGESIZE))
            let mapSize = max(options.mapSize / machinePage, 1) * machinePage
            try unsafe LMDBCalls.configure(
                pointer, mapSize: mapSize, maximumReaders: options.maximumReaders,
                keyspaces: max(names.count, 1))
            try unsafe LMDBCalls.open(pointer, directory: path, options: options)
            // LMDB sets this on its other descriptors only.
            let dataDescriptor = try unsafe LMDBCalls.dataDescriptor(pointer)
            _ = fcntl(dataDescriptor, F_SETFD, FD_CLOEXEC)
            _ = try unsafe LMDBCalls.clearStaleReaders(pointer)
            let indices = try unsafe openKeyspaces(
                names, of: pointer, isReadOnly: options.isReadOnly)
            let serial = serials.add(1, ordering: .relaxed).newValue
            let keyspaces = zip(names, indices).map {
                Keyspace(name: $0, index: $1, environment: serial)
            }
            return try unsafe EnvironmentHandle(
                pointer: pointer, serial: serial, fork: fork, pageSize: LMDBCalls.pageSize(pointer),
                map: MapSize(LMDBCalls.measure(pointer, .open).mapSize),
                dataDescriptor: dataDescriptor,
                isReadOnly: options.isReadOnly, keyspaces: keyspaces)
        } catch {
            unsafe LMDBCalls.close(pointer)
            throw error
        }
    }

    /// Keyspaces that exist are opened by a read, so that a writer that was stopped in another
    /// process does not stop us while we hold the guard.
    private static func openKeyspaces(
        _ names: [String], of environment: LMDBCalls.Pointer, isReadOnly: Bool
    ) throws(LMDBError) -> [UInt32] {
        do {
            return try unsafe openKeyspaces(names, of: environment, creating: false)
        } catch {
            guard !isReadOnly, error.code == .missingKeyspace || error.code == .readersFull else {
                throw error
            }
            return try unsafe openKeyspaces(names, of: environment, creating: true)
        }
    }

    /// Keyspaces opened in a transaction that is aborted, even a read, are closed again: so it is
    /// committed.
    private static func openKeyspaces(
        _ names: [String], of environment: LMDBCalls.Pointer, creating: Bool
    ) throws(LMDBError) -> [UInt32] {
        let transaction = try unsafe LMDBCalls.begin(environment, readOnly: !creating)
        var indices: [UInt32] = []
        do {
            for name in names {
                indices.append(
                    try unsafe LMDBCalls.openKeyspace(transaction, name, create: creating))
            }
        } catch {
            unsafe LMDBCalls.abort(transaction)
            throw error
        }
        try unsafe LMDBCalls.commit(transaction)
        return indices
    }
}

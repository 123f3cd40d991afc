import EspalierEncryption
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// LMDB's environment and its properties.
///
/// It is separate from ``Environment``, because the pooled transactions that an environment owns
/// refer to it. A reference to the environment itself would be a cycle, and an environment that is
/// dropped would never be closed.
///
/// Call C functions with it only while the environment's `TransactionGate` counts the caller: the
/// last caller that leaves closes it.
@safe
final class EnvironmentHandle: Sendable {
    private static let serials = Atomic<UInt64>(0)
    private static let machinePage = sysconf(Int32(_SC_PAGESIZE))

    /// Returns `size` rounded down to whole pages of the machine.
    static func wholePages(_ size: Int) -> Int { size / machinePage * machinePage }

    // immutable
    /// All threads may use LMDB's environment.
    nonisolated(unsafe) let pointer: LMDBCalls.Pointer
    /// Unique in the process, to recognise keyspaces of other environments.
    let serial: UInt64
    /// The number of forks when the environment was opened.
    private let fork: UInt64
    /// In bytes.
    let pageSize: Int
    /// The descriptor of `data.mdb`, which LMDB closes.
    let dataDescriptor: Int32
    let isReadOnly: Bool
    let keyspaces: [Keyspace]
    let lockDeadline: Duration

    // shared by all threads
    /// Held from before LMDB's mutex of the writer is locked until it is unlocked.
    let writerLock: ProcessLock
    /// Held while LMDB's mutex of the reader table is locked: while a slot is taken, and while
    /// slots of dead processes are freed.
    let readerTableLock: ProcessLock

    /// Set once, before others use the environment. Shared by all threads.
    private let valueProtection = AtomicLazyReference<ValueProtection>()

    /// Shared by all threads; changes only while no transaction is open.
    private let mapBytes: Atomic<Int>

    /// Shared by all threads; changes together with `mapBytes`.
    private let limited = Atomic<Bool>(false)

    /// Opens the files in the directory at `path`, and the keyspaces called `names`.
    init(
        path: String, in directory: borrowing OpenFile, keyspaces names: [String],
        options: Environment.Options, isLockless: Bool, fork: UInt64
    ) throws(LMDBError) {
        let readerTableLock = ProcessLock(
            try OpenFile(
                ".", in: directory.descriptor, flags: O_RDONLY | O_DIRECTORY, .open))
        let writerLock: ProcessLock
        let pointer = try unsafe LMDBCalls.createEnvironment()
        let (dataDescriptor, pageSize, mapSize): (Int32, Int, Int)
        let indices: [UInt32]
        do throws(LMDBError) {
            try unsafe LMDBCalls.configure(
                pointer, mapSize: max(Self.wholePages(options.mapSize), Self.machinePage),
                maximumReaders: options.maximumReaders,
                keyspaces: max(names.count, 1))
            try unsafe LMDBCalls.open(
                pointer, directory: path, options: options, isLockless: isLockless)
            dataDescriptor = try unsafe LMDBCalls.dataDescriptor(pointer)
            // LMDB sets this flag on its other descriptors only.
            _ = fcntl(dataDescriptor, F_SETFD, FD_CLOEXEC)
            writerLock = ProcessLock(
                try OpenFile(
                    EnvironmentFiles.data, in: directory.descriptor, flags: O_RDONLY, .open))
            indices = try readerTableLock.withLock(options.lockDeadline, .open) {
                () throws(LMDBError) in
                _ = try unsafe LMDBCalls.clearStaleReaders(pointer)
                return try unsafe Self.openKeyspaces(
                    names, of: pointer, writerLock, options)
            }
            pageSize = try unsafe LMDBCalls.pageSize(pointer)
            mapSize = try unsafe LMDBCalls.measure(pointer, .open).mapSize
        } catch {
            unsafe LMDBCalls.close(pointer)
            throw error
        }
        unsafe self.pointer = unsafe pointer
        let serial = Self.serials.add(1, ordering: .relaxed).newValue
        self.serial = serial
        self.fork = fork
        self.pageSize = pageSize
        self.dataDescriptor = dataDescriptor
        isReadOnly = options.isReadOnly
        lockDeadline = options.lockDeadline
        self.writerLock = writerLock
        self.readerTableLock = readerTableLock
        keyspaces = zip(names, indices).map { Keyspace(name: $0, index: $1, environment: serial) }
        mapBytes = Atomic(mapSize)
    }

    /// Opens existing keyspaces in a read transaction. A write transaction would wait for a writer
    /// that is stopped in another process, while this process holds the guard's lock.
    private static func openKeyspaces(
        _ names: [String], of environment: LMDBCalls.Pointer, _ writerLock: ProcessLock,
        _ options: Environment.Options
    ) throws(LMDBError) -> [UInt32] {
        do {
            return try unsafe openKeyspaces(names, of: environment, creating: false)
        } catch {
            guard !options.isReadOnly,
                error.code == .missingKeyspace || error.code == .readersFull
            else {
                throw error
            }
            return try writerLock.withLock(options.lockDeadline, .open) { () throws(LMDBError) in
                try unsafe openKeyspaces(names, of: environment, creating: true)
            }
        }
    }

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
        // An abort, even of a read transaction, would close the keyspaces again.
        try unsafe LMDBCalls.commit(transaction)
        return indices
    }

    /// The size of the map in bytes.
    var mapSize: Int { mapBytes.load(ordering: .acquiring) }

    /// A number of pages that the file is known to have. It can have more, because other processes
    /// make it longer, too. Shared by all threads.
    let filePages = Atomic(0)

    /// Whether the map is limited to the pages that the file has.
    var isLimited: Bool { limited.load(ordering: .relaxed) }

    func setLimited(_ isLimited: Bool) { limited.store(isLimited, ordering: .relaxed) }

    /// The longest value in bytes: it fits an overflow page of its own, after the page's header.
    var maximumValueSize: Int { pageSize - 16 - (protection?.overhead ?? 0) }

    /// How values are encrypted; `nil` if they are not.
    var protection: ValueProtection? {
        #if Encryption
        valueProtection.load()
        #else
        nil
        #endif
    }

    func protect(with protection: ValueProtection) {
        _ = valueProtection.storeIfNil(protection)
    }

    /// Whether an ancestor of this process opened the environment.
    var isInherited: Bool { fork != ForkCounter.current }

    /// Replaces the map; zero stands for the size that the file names. No transaction may be open.
    /// After `.panic` there is no map.
    func setMapSize(_ size: Int) throws(LMDBError) {
        try requireAddressSpace(max(size, mapSize))
        do {
            try unsafe LMDBCalls.resize(pointer, mapSize: size)
            mapBytes.store(
                try unsafe LMDBCalls.measure(pointer, .resize).mapSize, ordering: .releasing)
        } catch {
            throw LMDBError(.panic, .resize)
        }
    }

    /// Tests whether a map of `size` bytes is possible: LMDB removes the old map before it asks for
    /// the new one, and cannot go back.
    private func requireAddressSpace(_ size: Int) throws(LMDBError) {
        let address = unsafe mmap(
            nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw .system(.resize)
        }
        unsafe munmap(address, size)
    }
}

/// The directories that are open in this process.
///
/// LMDB's file locks do not exclude a second open in the same process. It would empty the reader
/// table that the first one uses, and closing any descriptor of `lock.mdb` would drop the locks of
/// the first one.
enum EnvironmentRegistry {
    /// The number of forks is part of the key, because a child may open what its parent has open.
    struct Entry: Hashable {
        let directory: FileIdentity
        let fork: UInt64
    }

    private struct WeakEnvironment {
        weak var environment: Environment?
    }

    private static let entries = Mutex<[Entry: WeakEnvironment]>([:])

    /// Throws `.alreadyOpen` if the entry is there.
    static func insert(_ entry: Entry) throws(LMDBError) {
        let isNew = entries.withLock { entries in
            guard entries[entry] == nil else { return false }
            entries[entry] = WeakEnvironment()
            return true
        }
        guard isNew else { throw LMDBError(.alreadyOpen, .open) }
    }

    /// Remembers the environment of an entry, which `environment(at:)` returns from then on.
    static func register(_ environment: Environment, at entry: Entry) {
        entries.withLock { $0[entry] = WeakEnvironment(environment: environment) }
    }

    static func environment(at entry: Entry) -> Environment? {
        entries.withLock { $0[entry]?.environment }
    }

    static func remove(_ entry: Entry) {
        let removed = entries.withLock { $0.removeValue(forKey: entry) }
        precondition(removed != nil, "an environment was closed twice")
    }
}

/// Counts the forks between the first open and now, in this process and its ancestors.
///
/// LMDB's locks and reader slots belong to the process that opened the environment. A child that
/// used an inherited environment would appear to work and damage both. Comparing the counter costs
/// one load.
package enum ForkCounter {
    private static let forks = Atomic<UInt64>(0)
    private static let isCounting: Bool = {
        let result = pthread_atfork(nil, nil) {
            ForkCounter.forks.add(1, ordering: .relaxed)
            InheritedDescriptors.closeAll()
        }
        precondition(result == 0, "pthread_atfork failed: out of memory")
        return true
    }()

    package static var current: UInt64 { forks.load(ordering: .relaxed) }

    /// Starts counting; later calls have no effect.
    package static func start() {
        InheritedDescriptors.prepare()
        _ = isCounting
    }
}

/// The LMDB library that the process has loaded.
///
/// ```swift
/// LMDBLibrary.version  // "0.9.24"
/// ```
public enum LMDBLibrary {
    /// Major, minor and patch version of the library.
    public static var version: String { LMDBCalls.version }
}

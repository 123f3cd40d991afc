import Synchronization

/// An open LMDB file: a set of keyspaces that change together, one commit at a time.
///
/// ```swift
/// let guardFile = try GuardFile(path: "/cache/guard", create: true)
/// let environment = try Environment.open(
///     directory: "/cache/1", guardedBy: guardFile, keyspaces: ["nodes"], options: .init(mapSize: 64 << 20))
/// let nodes = environment.keyspace("nodes")
///
/// var writing = try environment.beginWrite()
/// try writing.put(nodes, UInt64(1), [1, 2, 3])
/// try writing.commit()
///
/// let value = try environment.read { try $0.value(nodes, UInt64(1)) }
/// ```
///
/// Threading: safe from every thread. Reads run side by side and wait only while the map is being
/// resized; writes wait for one another, in this and in other processes, without a limit. A process
/// has a directory open once. A forked child must open it anew.
///
/// Cost: opening takes some 100 microseconds, and up to 0.6 milliseconds for each MiB of a file
/// that was touched by others or not written to the end, which is checked; each environment maps
/// `mapSize` bytes of address space.
///
/// Errors: `LMDBError`. After `.panic`, close it and open it again.
public final class Environment: Sendable {
    /// Longer keys cannot be stored, and so are never found.
    public static let maximumKeySize = 511

    struct State {
        /// Transactions kept for the next reads; they hold a reader slot but pin no pages.
        var idleReaders: [OpenTransaction] = []
        /// The threads of the transactions and calls under way, one entry each: the C environment
        /// stays open for them.
        var threads: [UInt] = []
        var isClosing = false
        /// Its map is lost: nothing may be begun.
        var isBroken = false
        /// Threads that have nothing under way wait at the turnstile.
        var isTurnstileClosed = false
    }

    // immutable
    let handle: EnvironmentHandle
    let entry: EnvironmentRegistry.Entry
    /// Keeps the number of the directory's inode from being given to another directory while this
    /// one is registered.
    let directory: OpenFile
    /// Holds the mark of the file.
    let guardFile: GuardFile
    let idleLimit: Int
    public let options: Options

    // protected by `state`
    let state = Mutex(State())

    /// Held while the map is being replaced, and by nobody for longer than that.
    let turnstile = Mutex<Void>(())
    /// Held from the end of a write until its mark is set.
    let marking = Mutex<Void>(())

    // atomic
    /// The thread that is writing, 0 for none.
    let writer = Atomic<UInt>(0)
    /// Whether the file carried the mark when a write was last begun.
    let isTrusted = Atomic<Bool>(true)

    init(
        handle: EnvironmentHandle, entry: EnvironmentRegistry.Entry, directory: consuming OpenFile,
        guardFile: GuardFile, options: Options
    ) {
        self.handle = handle
        self.entry = entry
        self.directory = directory
        self.guardFile = guardFile
        self.options = options
        // Idle readers keep their slots from other processes, so they may take a part of the table
        // only.
        idleLimit = max(1, min(32, options.maximumReaders / 4))
        state.withLock { state in
            state.idleReaders.reserveCapacity(idleLimit)
            state.threads.reserveCapacity(options.maximumReaders)
        }
    }

    deinit {
        close()
    }

    /// In bytes; that of the file, which need not be that of the machine.
    public var pageSize: Int { handle.pageSize }
    /// The longest value that fits a page of its own, so that no write needs several free pages in
    /// a row.
    public var maximumValueSize: Int { handle.maximumValueSize }
    /// The hard limit on the file in bytes; more than was asked for when the file was larger
    /// already.
    public var mapSize: Int { handle.mapSize }

    /// A keyspace named at `open`; any other name is a programmer error and traps.
    public func keyspace(_ name: String) -> Keyspace {
        guard let keyspace = handle.keyspaces.first(where: { $0.name == name }) else {
            preconditionFailure(
                "no keyspace \(name) was opened; name it when opening the environment")
        }
        return keyspace
    }
}

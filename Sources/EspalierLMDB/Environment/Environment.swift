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
/// Threading: safe from every thread. Reads run side by side and never wait; writes wait for one another, in this and
/// in other processes, without a limit. A process has a directory open once. A forked child must open it anew.
///
/// Cost: opening takes some 100 microseconds; each environment maps `mapSize` bytes of address space.
///
/// Errors: `LMDBError`. After `.panic`, close it and open it again.
public final class Environment: Sendable {
    /// Longer keys cannot be stored, and so are never found.
    public static let maximumKeySize = 511

    struct State {
        /// Transactions kept for the next reads; they hold a reader slot but pin no pages.
        var idleReaders: [OpenTransaction] = []
        /// Transactions and calls under way: the C environment stays open for them.
        var users = 0
        var isClosing = false
    }

    // immutable
    let handle: EnvironmentHandle
    let entry: EnvironmentRegistry.Entry
    /// Keeps the number of the directory's inode from being given to another directory while this one is registered.
    let directory: OpenFile
    let idleLimit: Int
    public let options: Options

    // protected by `state`
    let state = Mutex(State())

    // atomic
    /// The thread that is writing, 0 for none.
    let writer = Atomic<UInt>(0)

    init(
        handle: EnvironmentHandle, entry: EnvironmentRegistry.Entry, directory: consuming OpenFile, options: Options
    ) {
        self.handle = handle
        self.entry = entry
        self.directory = directory
        self.options = options
        // Idle readers keep their slots from other processes, so they may take a part of the table only.
        idleLimit = max(1, min(32, options.maximumReaders / 4))
        state.withLock { $0.idleReaders.reserveCapacity(idleLimit) }
    }

    deinit {
        close()
    }

    /// In bytes; that of the file, which need not be that of the machine.
    public var pageSize: Int { handle.pageSize }
    /// The longest value that fits a page of its own, so that no write needs several free pages in a row.
    public var maximumValueSize: Int { handle.maximumValueSize }
    /// The hard limit on the file in bytes; more than was asked for when the file was larger already.
    public var mapSize: Int { handle.mapSize }

    /// A keyspace named at `open`; any other name is a programmer error and traps.
    public func keyspace(_ name: String) -> Keyspace {
        guard let keyspace = handle.keyspaces.first(where: { $0.name == name }) else {
            preconditionFailure("no keyspace \(name) was opened; name it when opening the environment")
        }
        return keyspace
    }
}

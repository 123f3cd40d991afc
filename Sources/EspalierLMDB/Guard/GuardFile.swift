import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The file that outlives all generations of a cache.
///
/// It holds a lock for opening an environment and for switching the generation, the number of the
/// generation, a mark that identifies an intact data file, what `FileUse` needs to know, and
/// whether a process listens for the commits of others.
///
/// ```swift
/// let guardFile = try GuardFile(path: "/cache/guard", create: true)
/// let seen = guardFile.generation
/// try guardFile.withExclusiveLock(deadline: .seconds(1)) { lock in
///     switchGeneration()
///     lock.advanceGeneration()
/// }
/// ```
///
/// Never delete or replace the file while a cache is in use.
///
/// All threads may use one object. The lock excludes the threads of one process from each other,
/// too. It is not recursive: a thread that acquires it twice waits for ever.
@safe
public final class GuardFile: Sendable {
    /// What the file holds: words of eight bytes, little-endian.
    enum Word: Int {
        case generation, mark
        /// The words of `FileUse`.
        case users, assertions, openings, checked
        /// The word of `ChangeListeners`.
        case listeners
        /// The word of the owner, see `ownersWord`.
        case owners
    }

    /// The size of the file: eight words. The file of an older version is extended.
    public static let byteCount = 64
    private static var size: Int { byteCount }

    // immutable
    let directory: OpenFile
    let path: String
    let name: String
    private let identity: FileIdentity
    /// Whether this process only reads the file, and keeps no mark.
    let isReadOnly: Bool
    /// The mapped file, which other processes share. Only atomic operations access it, and the
    /// mapping lives as long as this object.
    private nonisolated(unsafe) let words: UnsafeMutablePointer<Atomic<UInt64>>

    /// Opens a guard file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. Its directory must exist.
    ///   - create: Whether to create the file if it is missing.
    ///   - isReadOnly: Whether the file is on a medium that can't be written, or must not be
    ///     changed.
    /// - Throws: ``LMDBError``: `.notFound` if the directory is missing, or the file is missing and
    ///   should not be created; `.badPath` if the file is a link or a directory; `.diskFull`.
    /// - Complexity: A few system calls.
    public init(path: String, create: Bool, isReadOnly: Bool = false) throws(LMDBError) {
        self.isReadOnly = isReadOnly
        self.path = path
        let slash = path.lastIndex(of: "/")
        name = String(slash.map { path[path.index(after: $0)...] } ?? path[...])
        // `lock` opens the file again. The open directory makes that independent of the working
        // directory.
        directory = try OpenFile(directory: slash.map { String(path[...$0]) } ?? ".", .openGuard)
        let file = try OpenFile(
            name, in: directory.descriptor,
            flags: isReadOnly ? O_RDONLY : O_RDWR | (create ? O_CREAT : 0), .openGuard)
        let status = try file.status(.openGuard)
        guard status.isPlainFile else { throw LMDBError(.badPath, .openGuard) }
        identity = status.identity
        if status.size < Self.size {
            guard !isReadOnly else { throw LMDBError(.invalidFile, .openGuard) }
            // Without the lock the zeros of one process could overwrite the generation that another
            // process has written.
            try FileLock.acquire(file, deadline: .seconds(5), .openGuard)
            let size = try file.status(.openGuard).size
            try file.extend(from: size, to: Self.size, .openGuard)
            FileLock.release(file)
        }
        unsafe words = try Self.map(file, isReadOnly: isReadOnly)
    }

    deinit {
        unsafe munmap(words, Self.size)
    }

    private static func map(
        _ file: borrowing OpenFile, isReadOnly: Bool
    ) throws(LMDBError) -> UnsafeMutablePointer<Atomic<UInt64>> {
        let access = isReadOnly ? PROT_READ : PROT_READ | PROT_WRITE
        let address = unsafe mmap(nil, size, access, MAP_SHARED, file.descriptor, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw .system(.openGuard)
        }
        return unsafe address.bindMemory(to: Atomic<UInt64>.self, capacity: size / 8)
    }

    /// Whether the path that the file was opened by still leads to it. It does not when the file or
    /// a directory above it was removed, renamed or replaced.
    ///
    /// - Complexity: One system call.
    public var isInPlace: Bool { FileStatus(path: path)?.identity == identity }

    /// How often any process has called ``GuardLock/advanceGeneration()``.
    ///
    /// - Complexity: One load from memory that all processes share.
    public var generation: UInt64 { self[.generation] }

    fileprivate func setGeneration(_ value: UInt64) {
        precondition(!isReadOnly, "a guard file that was opened to read can't be changed")
        self[.generation] = value
    }

    /// A word whose meaning is up to the owner of the file: it outlives the generations. 0 in a new
    /// file. The setter writes a new value to the disk before it returns: otherwise a power failure
    /// could bring back the old value. It has no effect on a file that is only read.
    public var ownersWord: UInt64 {
        get { self[.owners] }
        set {
            guard !isReadOnly, newValue != self[.owners] else { return }
            self[.owners] = newValue
            unsafe msync(words, Self.size, MS_SYNC)
        }
    }

    /// The `IntactMark` of the last file that was known to be intact.
    var mark: UInt64 { self[.mark] }

    func setMark(_ value: UInt64) { self[.mark] = value }

    subscript(word: Word) -> UInt64 {
        get { unsafe UInt64(littleEndian: words[word.rawValue].load(ordering: .acquiring)) }
        set {
            guard !isReadOnly else { return }
            unsafe words[word.rawValue].store(newValue.littleEndian, ordering: .releasing)
        }
    }

    /// Replaces a word by what `change` makes of it, although other processes may change it at the
    /// same time. `change` may run several times.
    func update(_ word: Word, _ change: (UInt64) -> UInt64) {
        while !isReadOnly {
            let old = self[word]
            let (isDone, _) = unsafe words[word.rawValue].compareExchange(
                expected: old.littleEndian, desired: change(old).littleEndian,
                ordering: .acquiringAndReleasing)
            if isDone { return }
        }
    }

    /// Calls `body` with the address of a word, unless the file is only read. The address is valid
    /// as long as this object.
    func withAddress(of word: Word, _ body: (UnsafeMutablePointer<Atomic<UInt64>>) -> Void) {
        guard !isReadOnly else { return }
        unsafe body(words + word.rawValue)
    }

    /// When an entry of the file's directory was last made, renamed or removed, in nanoseconds;
    /// `nil` if the system refuses to tell.
    ///
    /// - Complexity: One system call.
    public var directoryChange: UInt64? { FileStatus(descriptor: directory.descriptor)?.modified }

    // MARK: Lock

    /// Runs `body` while no other thread and no other process holds the lock.
    ///
    /// - Parameters:
    ///   - deadline: How long to wait for the lock. `nil` waits without a limit; zero tries once.
    ///   - body: What to run. The lock is released when it returns or throws.
    /// - Returns: The value that `body` returns.
    /// - Throws: ``LMDBError``: `.busy` if the lock is not free within `deadline`, `.badPath` if
    ///   the file was replaced. Rethrows the errors of `body`.
    /// - Complexity: A few system calls. With a deadline the lock is tried every millisecond.
    public func withExclusiveLock<R>(
        deadline: Duration? = nil, _ body: (borrowing GuardLock) throws -> R
    ) throws -> R {
        let lock = try lock(deadline: deadline)
        return try body(lock)
    }

    /// Acquires the lock. Each lock opens a descriptor of its own: `flock` excludes descriptors,
    /// not threads.
    func lock(deadline: Duration? = nil) throws(LMDBError) -> GuardLock {
        let file = try OpenFile(
            name, in: directory.descriptor, flags: isReadOnly ? O_RDONLY : O_RDWR, .lockGuard)
        guard try file.status(.lockGuard).identity == identity else {
            throw LMDBError(.badPath, .lockGuard)
        }
        try FileLock.acquire(file, deadline: deadline, .lockGuard)
        return GuardLock(file, of: self)
    }
}

/// Proof that the caller holds the lock of a guard file. The lock is released when the value goes
/// out of scope.
///
/// ```swift
/// try guardFile.withExclusiveLock { lock in
///     try Environment.open(directory: path, under: lock, keyspaces: names, options: options)
/// }
/// ```
public struct GuardLock: ~Copyable {
    private let file: OpenFile
    let owner: GuardFile

    fileprivate init(_ file: consuming OpenFile, of owner: GuardFile) {
        self.file = file
        self.owner = owner
    }

    deinit {
        // Closing the descriptor would not be enough: a child that was forked meanwhile has a copy.
        FileLock.release(file)
    }

    /// Tells all processes that the generation they use is no longer the current one.
    ///
    /// - Returns: The number of the new generation.
    @discardableResult
    public func advanceGeneration() -> UInt64 {
        let next = owner.generation &+ 1
        owner.setGeneration(next)
        return next
    }

    /// Whether a data file was opened since ``forgetDataFile()``. If it is missing or empty now,
    /// its contents are lost.
    public var knowsDataFile: Bool { owner.mark != IntactMark.none }

    /// Forgets the data file. Call it before a new one takes its place.
    public func forgetDataFile() {
        owner.setMark(IntactMark.none)
        FileUse(owner).reset()
    }

    /// Marks the data file of a directory as intact, so that opening it needs no check. Call it for
    /// a file that this process has written and synchronised, and that no process has open.
    ///
    /// - Parameter directory: The path of the directory.
    public func markDataFile(in directory: String) {
        guard let status = FileStatus(path: "\(directory)/\(EnvironmentFiles.data)") else { return }
        forgetDataFile()
        owner.setMark(IntactMark(status).durable)
    }
}

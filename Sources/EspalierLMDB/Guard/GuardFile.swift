import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The file that outlives every generation of a cache: a lock around opening and switching, a
/// counter of generations, and the mark by which an intact file is recognised.
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
/// It must never be deleted or replaced while a cache is in use, and this type never does.
///
/// Threading: safe from every thread. The lock excludes threads of one process, too, and is not
/// recursive: taking it twice on one thread waits for ever. Cost: `generation` is one load from a
/// page shared by all processes; the lock takes a few system calls. Errors: `LMDBError`.
@safe
public final class GuardFile: Sendable {
    /// The counter and the mark, eight bytes each, little-endian, mapped for as long as this object
    /// lives.
    private static let size = 16

    // immutable
    let directory: OpenFile
    let name: String
    let identity: FileIdentity
    /// Shared with other processes; reached by atomic operations only.
    private nonisolated(unsafe) let words: UnsafeMutablePointer<Atomic<UInt64>>

    /// Opens the guard at `path`; its directory must exist.
    public init(path: String, create: Bool) throws(LMDBError) {
        let slash = path.lastIndex(of: "/")
        name = String(slash.map { path[path.index(after: $0)...] } ?? path[...])
        // The directory is kept open, so that a change of the working directory does not lead
        // elsewhere.
        directory = try OpenFile(directory: slash.map { String(path[...$0]) } ?? ".", .openGuard)
        let file = try OpenFile(
            name, in: directory.descriptor, flags: O_RDWR | (create ? O_CREAT : 0), .openGuard)
        let status = try file.status(.openGuard)
        guard status.isPlainFile else { throw LMDBError(.badPath, .openGuard) }
        identity = status.identity
        if status.size < Self.size {
            // Under the lock, or the zeros of one opener would fall on the counter of another.
            try FileLock.acquire(file, deadline: nil, .openGuard)
            let size = try file.status(.openGuard).size
            try file.extend(from: size, to: Self.size, .openGuard)
            FileLock.release(file)
        }
        unsafe words = try Self.map(file)
    }

    deinit {
        unsafe munmap(words, Self.size)
    }

    private static func map(_ file: borrowing OpenFile) throws(LMDBError) -> UnsafeMutablePointer<
        Atomic<UInt64>
    > {
        let address = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw .system(.openGuard)
        }
        return unsafe address.bindMemory(to: Atomic<UInt64>.self, capacity: 2)
    }

    /// How often `advanceGeneration` was called, by any process.
    public var generation: UInt64 {
        unsafe UInt64(littleEndian: words[0].load(ordering: .acquiring))
    }

    func setGeneration(_ value: UInt64) {
        unsafe words[0].store(value.littleEndian, ordering: .releasing)
    }

    /// What `IntactMark` made of the last file that was known to be intact.
    var mark: UInt64 {
        unsafe UInt64(littleEndian: words[1].load(ordering: .acquiring))
    }

    func setMark(_ value: UInt64) {
        unsafe words[1].store(value.littleEndian, ordering: .releasing)
    }
}

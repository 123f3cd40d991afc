import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Tells the number of the last commit of a data file, without a transaction and without a lock.
///
/// LMDB writes the number into one of the two meta pages, in turn, as the last step of a commit.
/// This object maps both of them, so it sees the commits of all processes. Its mapping is its own:
/// it stays valid after the environment was closed.
///
/// ```swift
/// let number = try CommitNumber(of: environment)
/// let seen = number.value
/// // ... later: whether any process has committed since
/// let hasChanged = number.value != seen
/// ```
///
/// All threads may use one object.
@safe
public final class CommitNumber: Sendable {
    /// Where the number stands in a meta page, see `DataFileHead`.
    private static let offset = 144

    // immutable
    private let pageSize: Int
    /// The mapped pages, which other processes write. Only atomic operations access them.
    private nonisolated(unsafe) let address: UnsafeMutableRawPointer

    /// Maps the meta pages of an environment's file.
    ///
    /// - Throws: ``LMDBError``: `.closed`, or an error of the file system.
    /// - Complexity: Two system calls.
    public init(of environment: Environment) throws(LMDBError) {
        try environment.gate.enter(.statistics)
        defer { environment.gate.leave() }
        pageSize = environment.pageSize
        let file = try OpenFile(duplicating: environment.handle.dataDescriptor, .statistics)
        let size = try file.status(.statistics).size
        guard size >= pageSize * 2 else { throw LMDBError(.invalidFile, .statistics) }
        let address = unsafe mmap(nil, pageSize * 2, PROT_READ, MAP_SHARED, file.descriptor, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw .system(.statistics)
        }
        unsafe self.address = address
    }

    deinit {
        unsafe munmap(address, pageSize * 2)
    }

    /// The number of the last commit of any process.
    ///
    /// - Complexity: Two loads from memory that all processes share.
    public var value: UInt64 { max(number(ofPage: 0), number(ofPage: 1)) }

    private func number(ofPage page: Int) -> UInt64 {
        let word = unsafe (address + page * pageSize + Self.offset)
            .assumingMemoryBound(to: Atomic<UInt64>.self)
        return unsafe UInt64(littleEndian: word.pointee.load(ordering: .acquiring))
    }
}

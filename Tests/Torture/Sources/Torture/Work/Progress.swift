import Glibc
import Synchronization

/// The notes of a worker, in a file that is mapped into memory. They outlive the worker, and tell
/// what was acknowledged before it was killed.
final class Progress {
    enum Word: Int {
        /// 1 when the cache is open, 2 when the work is done.
        case state
        case operations, writes, busy
        /// How many errors the worker met that no caller has to expect while the disk works.
        case failures
        /// How many wrong, mixed and lost trees the worker has read.
        case findings
        /// When the operation in progress began, in nanoseconds; 0 between operations.
        case began
        /// The longest operation, in nanoseconds.
        case longest
        /// How many of its system calls the worker has counted.
        case calls
        /// Set by the parent to end the worker in good order.
        case stop
    }

    /// How many trees a worker owns.
    static let trees = 24
    private static let head = 16
    private static let count = head + 2 * trees

    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    /// Maps the file, and creates it if it is missing.
    init(_ path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, Self.count * 8) == 0,
            let address = mmap(
                nil, Self.count * 8, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            address != MAP_FAILED
        else { throw Mistake("\(path) can't be mapped") }
        close(descriptor)
        words = address.bindMemory(to: Atomic<UInt64>.self, capacity: Self.count)
    }

    deinit { munmap(words, Self.count * 8) }

    private subscript(index: Int) -> Int {
        get { Int(words[index].load(ordering: .acquiring)) }
        set { words[index].store(UInt64(newValue), ordering: .releasing) }
    }

    subscript(word: Word) -> Int {
        get { self[word.rawValue] }
        set { self[word.rawValue] = newValue }
    }

    /// The newest version of a tree that the worker has begun to write.
    func submitted(_ tree: Int) -> Int { self[Self.head + 2 * tree] }
    /// The newest version of a tree whose ticket has succeeded.
    func acknowledged(_ tree: Int) -> Int { self[Self.head + 2 * tree + 1] }

    func submit(_ tree: Int, _ version: Int) { self[Self.head + 2 * tree] = version }
    func acknowledge(_ tree: Int, _ version: Int) { self[Self.head + 2 * tree + 1] = version }

    /// Runs an operation, and notes its beginning, its end and its duration.
    func time<Result>(_ operation: () throws -> Result) rethrows -> Result {
        let start = Int(Moment.nanoseconds)
        self[.began] = start
        defer {
            self[.began] = 0
            self[.operations] += 1
            self[.longest] = max(self[.longest], Int(Moment.nanoseconds) - start)
        }
        return try operation()
    }
}

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Whole-file advisory locks, which belong to the open file and so exclude threads of one process,
/// too.
enum FileLock {
    private static let pause = timespec(tv_sec: 0, tv_nsec: 1_000_000)

    static func acquire(
        _ file: borrowing OpenFile, deadline: Duration?, _ operation: LMDBError.Operation
    ) throws(LMDBError) {
        let clock = ContinuousClock()
        let end = deadline.map { clock.now + $0 }
        // There is no flock with a time limit, so with one it is tried every millisecond.
        let flags = LOCK_EX | (end == nil ? 0 : LOCK_NB)
        while flock(file.descriptor, flags) != 0 {
            let reason = errno
            if reason == EINTR { continue }
            guard reason == EWOULDBLOCK, let end else { throw .system(operation) }
            guard clock.now < end else { throw LMDBError(.busy, operation) }
            var rest = pause
            unsafe nanosleep(&rest, nil)
        }
    }

    static func release(_ file: borrowing OpenFile) {
        _ = flock(file.descriptor, LOCK_UN)
    }
}

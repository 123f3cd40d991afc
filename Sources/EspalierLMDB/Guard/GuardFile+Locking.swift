#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension GuardFile {
    /// Runs `body` while no other thread or process holds the lock. Throws `.busy` when the lock is
    /// not free within `deadline`; waits for ever when that is `nil`, and only tries once when it
    /// is zero.
    public func withExclusiveLock<R>(
        deadline: Duration? = nil, _ body: (borrowing GuardLock) throws -> R
    ) throws -> R {
        let lock = try lock(deadline: deadline)
        return try body(lock)
    }

    /// A descriptor of its own for every lock: `flock` excludes descriptors, not threads.
    func lock(deadline: Duration? = nil) throws(LMDBError) -> GuardLock {
        let file = try OpenFile(name, in: directory.descriptor, flags: O_RDWR, .lockGuard)
        guard try file.status(.lockGuard).identity == identity else {
            throw LMDBError(.badPath, .lockGuard)
        }
        try FileLock.acquire(file, deadline: deadline, .lockGuard)
        return GuardLock(file, of: self)
    }
}

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

// The thread sanitizer does not know the lock of `Synchronization.Mutex`, which is a futex on
// Linux, and so reports a race for everything that a `Mutex` protects. `make races` builds a copy
// of the sources that imports this module in place of `Synchronization`. The module has the same
// declarations; only the lock of `Mutex` is one that the sanitizer knows.
@_exported public import Synchronization

/// `Synchronization.Mutex` with a lock of `pthread`.
///
/// `@unchecked Sendable` because the value is accessed only while the lock is held.
@safe
public struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let pointer: UnsafeMutablePointer<Value>

    public init(_ initialValue: consuming sending Value) {
        unsafe lock = .allocate(capacity: 1)
        unsafe lock.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(lock, nil)
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: initialValue)
    }

    deinit {
        unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
        unsafe pointer.deinitialize(count: 1)
        unsafe pointer.deallocate()
    }

    public borrowing func withLock<Result: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending Result
    ) throws(E) -> sending Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return try unsafe body(&pointer.pointee)
    }

    public borrowing func withLockIfAvailable<Result: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending Result
    ) throws(E) -> sending Result? {
        guard unsafe pthread_mutex_trylock(lock) == 0 else { return nil }
        defer { unsafe pthread_mutex_unlock(lock) }
        return try unsafe body(&pointer.pointee)
    }
}

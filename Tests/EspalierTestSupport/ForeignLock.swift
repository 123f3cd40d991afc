import Foundation

/// A lock that another process would have: it belongs to a descriptor of its own.
public final class ForeignLock {
    private let descriptor: Int32

    /// Locks the file or directory at `path`.
    public init(_ path: String) throws {
        descriptor = unsafe open(path, O_RDONLY)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw POSIXError(.init(rawValue: errno) ?? .EIO)
        }
    }

    deinit { close(descriptor) }

    public func release() { _ = flock(descriptor, LOCK_UN) }
}

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file descriptor that is closed when it goes out of scope.
struct OpenFile: ~Copyable, Sendable {
    let descriptor: Int32

    /// Opens `name` below `directory` without following a symbolic link, closed on exec.
    init(_ name: String, in directory: Int32, flags: Int32, _ operation: LMDBError.Operation)
        throws(LMDBError)
    {
        descriptor = unsafe openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        guard descriptor >= 0 else { throw .system(operation) }
    }

    /// Opens a directory; a link to it is followed.
    init(directory path: String, _ operation: LMDBError.Operation) throws(LMDBError) {
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(operation) }
    }

    deinit {
        close(descriptor)
    }

    func status(_ operation: LMDBError.Operation) throws(LMDBError) -> FileStatus {
        var result = stat()
        guard unsafe fstat(descriptor, &result) == 0 else { throw .system(operation) }
        return FileStatus(result)
    }

    /// `nil` when there is nothing by that name in this directory. A link is reported as the link
    /// it is.
    func status(of name: String, _ operation: LMDBError.Operation) throws(LMDBError) -> FileStatus?
    {
        var result = stat()
        if unsafe fstatat(descriptor, name, &result, AT_SYMLINK_NOFOLLOW) == 0 {
            return FileStatus(result)
        }
        guard errno == ENOENT else { throw .system(operation) }
        return nil
    }

    /// At most `count` bytes; fewer at the end of the file.
    func read(_ count: Int, at offset: Int, _ operation: LMDBError.Operation) throws(LMDBError)
        -> [UInt8]
    {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe pread(descriptor, buffer.baseAddress, count, off_t(offset))
        }
        guard done >= 0 else { throw .system(operation) }
        return Array(bytes.prefix(done))
    }

    /// Fills `bytes` from the file; `false` when that ends before.
    func fill(_ bytes: inout [UInt8], at offset: Int, _ operation: LMDBError.Operation)
        throws(LMDBError) -> Bool
    {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                // There is an address, because there are bytes left.
                unsafe pread(
                    descriptor, buffer.baseAddress! + done, buffer.count - done,
                    off_t(offset + done))
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .system(operation) }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Makes the file at least `size` bytes long with zeros that are really written: a sparse file
    /// that is mapped kills the process when the disk is full.
    func extend(from current: Int, to size: Int, _ operation: LMDBError.Operation) throws(LMDBError)
    {
        let zeros = [UInt8](repeating: 0, count: max(0, size - current))
        var done = 0
        while done < zeros.count {
            let count = unsafe zeros.withUnsafeBytes { bytes in
                // There is an address, because there are bytes left.
                unsafe pwrite(
                    descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(current + done)
                )
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                throw count == 0 ? LMDBError(.diskFull, operation) : .system(operation)
            }
            done += count
        }
    }
}

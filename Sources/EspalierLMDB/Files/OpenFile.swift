#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file descriptor that is closed when the value goes out of scope.
struct OpenFile: ~Copyable, Sendable {
    let descriptor: Int32

    /// Opens `name` in `directory`. Does not follow a symbolic link; programs that this process
    /// starts do not inherit the descriptor.
    init(_ name: String, in directory: Int32, flags: Int32, _ operation: LMDBError.Operation)
        throws(LMDBError)
    {
        descriptor = unsafe openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        guard descriptor >= 0 else { throw .system(operation) }
    }

    /// Opens a directory. Follows a symbolic link to it.
    init(directory path: String, _ operation: LMDBError.Operation) throws(LMDBError) {
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(operation) }
    }

    /// Makes a second descriptor of an open file.
    init(duplicating other: Int32, _ operation: LMDBError.Operation) throws(LMDBError) {
        descriptor = fcntl(other, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .system(operation) }
    }

    deinit {
        close(descriptor)
    }

    /// Returns the descriptor, which the caller closes.
    consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    func status(_ operation: LMDBError.Operation) throws(LMDBError) -> FileStatus {
        guard let status = FileStatus(descriptor: descriptor) else { throw .system(operation) }
        return status
    }

    /// Returns the status of `name` in this directory, or `nil` if there is nothing by that name.
    /// Reports a symbolic link as such.
    func status(of name: String, _ operation: LMDBError.Operation) throws(LMDBError) -> FileStatus?
    {
        var result = stat()
        if unsafe fstatat(descriptor, name, &result, AT_SYMLINK_NOFOLLOW) == 0 {
            return FileStatus(result)
        }
        guard errno == ENOENT else { throw .system(operation) }
        return nil
    }

    /// Fills `bytes` from the file. Returns `false` if the file ends before.
    func fill(_ bytes: inout [UInt8], at offset: Int, _ operation: LMDBError.Operation)
        throws(LMDBError) -> Bool
    {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    descriptor,
                    // The buffer has an address, because it has bytes left.
                    buffer.baseAddress! + done, buffer.count - done, off_t(offset + done))
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .system(operation) }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Reads `length` bytes from each of `offsets`, which ascend, by one call of the system. It
    /// copies what is between them, too. Returns `false`, with any content in `bytes`, if the call
    /// did not read everything.
    func fillParts(of length: Int, _ bytes: inout [UInt8], at offsets: [Int]) -> Bool {
        guard let first = offsets.first, let last = offsets.last,
            bytes.count >= offsets.count * length
        else { return false }
        let gaps = zip(offsets, offsets.dropFirst()).map { $1 - $0 - length }
        guard gaps.allSatisfy({ $0 >= 0 }) else { return false }
        var between = [UInt8](repeating: 0, count: gaps.max() ?? 0)
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe between.withUnsafeMutableBytes { between in
                var parts: [iovec] = unsafe []
                unsafe parts.reserveCapacity(offsets.count * 2)
                for index in offsets.indices {
                    unsafe parts.append(
                        iovec(
                            iov_base: bytes.baseAddress.map { unsafe $0 + index * length },
                            iov_len: length))
                    guard index < gaps.count else { break }
                    unsafe parts.append(
                        iovec(iov_base: between.baseAddress, iov_len: gaps[index]))
                }
                return unsafe preadv(descriptor, parts, Int32(parts.count), off_t(first))
            }
        }
        return count == last + length - first
    }

    /// Makes the file at least `size` bytes long by writing zeros. A mapped file must not be
    /// sparse: on a full disk the first access to a hole kills the process.
    func extend(from current: Int, to size: Int, _ operation: LMDBError.Operation) throws(LMDBError)
    {
        let zeros = [UInt8](repeating: 0, count: max(0, size - current))
        var done = 0
        while done < zeros.count {
            let count = unsafe zeros.withUnsafeBytes { bytes in
                unsafe pwrite(
                    descriptor,
                    // The buffer has an address, because it has bytes left.
                    bytes.baseAddress! + done, bytes.count - done, off_t(current + done))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                throw count == 0 ? LMDBError(.diskFull, operation) : .system(operation)
            }
            done += count
        }
    }
}

/// Identifies a file or directory, by whatever path it was reached. The number stays unique as long
/// as some process holds the file open.
package struct FileIdentity: Sendable, Hashable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// The parts of `stat` that the engine uses.
package struct FileStatus: Sendable {
    package enum Kind: Sendable {
        case file, directory, symbolicLink, other
    }

    package let identity: FileIdentity
    package let kind: Kind
    package let size: Int
    /// The number of the user who owns the file.
    package let owner: UInt32
    /// The access of the owner, the group, and all others.
    package let permissions: Int
    /// Whether this is a regular file with one name. Links, devices, directories and files with a
    /// second path are none.
    let isPlainFile: Bool
    /// When the content was last modified, in nanoseconds.
    let modified: UInt64
    /// When the content or the attributes were last changed, in nanoseconds.
    let changed: UInt64

    init(_ status: stat) {
        identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        size = Int(status.st_size)
        owner = UInt32(status.st_uid)
        permissions = Int(status.st_mode & 0o7777)
        isPlainFile = kind == .file && status.st_nlink == 1
        #if canImport(Glibc)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
        #else
        modified = Self.nanoseconds(status.st_mtimespec)
        changed = Self.nanoseconds(status.st_ctimespec)
        #endif
    }

    /// Returns `nil`, and leaves the reason in `errno`, when there is nothing at the path. Reports
    /// a symbolic link as such.
    package init?(path: String) {
        var result = stat()
        guard unsafe lstat(path, &result) == 0 else { return nil }
        self.init(result)
    }

    /// Returns `nil`, and leaves the reason in `errno`, when the system refuses.
    init?(descriptor: Int32) {
        var result = stat()
        guard unsafe fstat(descriptor, &result) == 0 else { return nil }
        self.init(result)
    }

    private static func nanoseconds(_ time: timespec) -> UInt64 {
        UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000
            &+ UInt64(truncatingIfNeeded: time.tv_nsec)
    }
}

/// Advisory locks on whole files. A lock belongs to the open file, so it excludes other threads of
/// this process, too.
enum FileLock {
    /// Waits for the lock; throws `.busy` if it is not free within `deadline`.
    static func acquire(
        _ file: borrowing OpenFile, deadline: Duration?, _ operation: LMDBError.Operation
    ) throws(LMDBError) {
        let clock = ContinuousClock()
        let end = deadline.map { clock.now + $0 }
        // `flock` has no time limit, so a lock with a deadline is tried every millisecond.
        let flags = LOCK_EX | (end == nil ? 0 : LOCK_NB)
        while flock(file.descriptor, flags) != 0 {
            let reason = errno
            if reason == EINTR { continue }
            guard reason == EWOULDBLOCK, let end else { throw .system(operation) }
            guard clock.now < end else { throw LMDBError(.busy, operation) }
            CallingThread.sleep(nanoseconds: 1_000_000)
        }
    }

    static func release(_ file: borrowing OpenFile) {
        _ = flock(file.descriptor, LOCK_UN)
    }
}

/// A file that this process has locked, until the object goes or the process ends.
package final class LockedFile: Sendable {
    private let file: OpenFile

    /// Opens and locks `name` in the directory at `path`. Returns nil if another object has the
    /// lock, or if the file was removed meanwhile.
    ///
    /// - Throws: The reason why the file can't be opened.
    package init?(_ name: String, in path: String, creates: Bool) throws(LMDBError) {
        let flags = O_RDWR | (creates ? O_CREAT : 0)
        let directory = try OpenFile(directory: path, .open)
        let file = try OpenFile(name, in: directory.descriptor, flags: flags, .open)
        guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0,
            FileStatus(descriptor: file.descriptor)?.isPlainFile == true
        else { return nil }
        self.file = file
    }
}

/// The thread that calls.
enum CallingThread {
    /// The number by which the system knows the thread. The number is unique among living threads.
    static var identifier: UInt {
        #if canImport(Glibc)
        UInt(pthread_self())
        #else
        unsafe UInt(bitPattern: pthread_self())
        #endif
    }

    /// Sleeps for less than a second. A signal can end the sleep early.
    static func sleep(nanoseconds: Int) {
        var rest = timespec(tv_sec: 0, tv_nsec: nanoseconds)
        unsafe nanosleep(&rest, nil)
    }
}

/// Names of files and directories.
package enum FileNames {
    /// Gives a file or a directory another name on the same file system, in one step. Returns
    /// whether that was possible. `FileManager` would copy what it can't rename.
    package static func rename(_ path: String, to other: String) -> Bool {
        #if canImport(Glibc)
        unsafe Glibc.rename(path, other) == 0
        #else
        unsafe Darwin.rename(path, other) == 0
        #endif
    }
}

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What `stat` says, as far as it matters here.
struct FileStatus: Sendable {
    let identity: FileIdentity
    let size: Int
    /// A regular file with one name: not a link, a device, a directory, nor reachable by a second
    /// path.
    let isPlainFile: Bool
    /// When its bytes, and when anything about it was changed last, in nanoseconds.
    let modified: UInt64
    let changed: UInt64

    init(_ status: stat) {
        identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        size = Int(status.st_size)
        isPlainFile = status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
        #if canImport(Glibc)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
        #else
        modified = Self.nanoseconds(status.st_mtimespec)
        changed = Self.nanoseconds(status.st_ctimespec)
        #endif
    }

    private static func nanoseconds(_ time: timespec) -> UInt64 {
        UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000
            &+ UInt64(truncatingIfNeeded: time.tv_nsec)
    }
}

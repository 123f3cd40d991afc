#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What `stat` says, as far as it matters here.
struct FileStatus: Sendable {
    let identity: FileIdentity
    let size: Int
    /// A regular file with one name: not a link, a device, a directory, nor reachable by a second path.
    let isPlainFile: Bool

    init(_ status: stat) {
        identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        size = Int(status.st_size)
        isPlainFile = status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
    }
}

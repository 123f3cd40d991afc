#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What has to be true of `data.mdb` and `lock.mdb` before LMDB may see them.
///
/// LMDB follows links, and it truncates `lock.mdb` to its size and maps it: on a full disk the first touch of the hole
/// kills the process. So links are refused, and the lock file is written out here.
enum EnvironmentFiles {
    static let data = "data.mdb"
    static let lock = "lock.mdb"

    /// The caller holds the guard's lock, and the directory is not open in this process: closing a descriptor of a lock
    /// file in use would drop its locks.
    static func prepare(in directory: borrowing OpenFile, options: Environment.Options) throws(LMDBError) {
        for name in [data, lock] {
            guard let status = try directory.status(of: name, .prepareFiles) else { continue }
            guard status.isPlainFile else { throw LMDBError(.badPath, .prepareFiles) }
            guard name == data else { continue }
            try DataFileHead.check(OpenFile(data, in: directory.descriptor, flags: O_RDONLY, .prepareFiles))
        }
        do {
            try writeOutLockFile(in: directory, size: lockFileSize(readers: options.maximumReaders))
        } catch {
            // Without a lock file LMDB reads a read-only file system unlocked.
            guard options.isReadOnly, error.code == .notWritable else { throw error }
        }
    }

    /// A header of three cache lines, which holds the first slot, and a line for each further slot.
    static func lockFileSize(readers: Int) -> Int { 192 + (readers - 1) * 64 }

    private static func writeOutLockFile(in directory: borrowing OpenFile, size: Int) throws(LMDBError) {
        let file = try OpenFile(lock, in: directory.descriptor, flags: O_RDWR | O_CREAT, .prepareFiles)
        let status = try file.status(.prepareFiles)
        // Another process may use a smaller table; it would read beyond its map if this one grew under it.
        guard status.size < size, !isLockedElsewhere(file) else { return }
        try file.extend(from: status.size, to: size, .prepareFiles)
    }

    /// LMDB holds a lock on the first byte as long as it has the file open.
    private static func isLockedElsewhere(_ file: borrowing OpenFile) -> Bool {
        var region = flock()
        region.l_type = Int16(F_WRLCK)
        region.l_whence = Int16(SEEK_SET)
        region.l_start = 0
        region.l_len = 1
        guard unsafe fcntl(file.descriptor, F_GETLK, &region) == 0 else { return false }
        return region.l_type != Int16(F_UNLCK)
    }
}

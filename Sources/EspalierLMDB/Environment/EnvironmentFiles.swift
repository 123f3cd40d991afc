#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What has to be true of `data.mdb` and `lock.mdb` before LMDB may see them.
///
/// LMDB follows links, and it truncates `lock.mdb` to its size and maps it: on a full disk the
/// first touch of the hole kills the process. So links are refused, and the lock file is written
/// out here.
enum EnvironmentFiles {
    static let data = "data.mdb"
    static let lock = "lock.mdb"

    /// The caller holds the guard's lock, and the directory is not open in this process: closing a
    /// descriptor of a lock file in use would drop its locks. Returns whether the data file is
    /// known to be intact.
    static func prepare(
        in directory: borrowing OpenFile, of guardFile: GuardFile, options: Environment.Options
    ) throws(LMDBError) -> Bool {
        for name in [data, lock] {
            guard let status = try directory.status(of: name, .prepareFiles) else { continue }
            guard status.isPlainFile else { throw LMDBError(.badPath, .prepareFiles) }
        }
        let isIntact = try check(in: directory, of: guardFile)
        do {
            try writeOutLockFile(in: directory, size: lockFileSize(readers: options.maximumReaders))
        } catch {
            // Without a lock file LMDB reads a read-only file system unlocked.
            guard options.isReadOnly, error.code == .notWritable else { throw error }
        }
        return isIntact
    }

    private static func check(in directory: borrowing OpenFile, of guardFile: GuardFile)
        throws(LMDBError) -> Bool
    {
        guard try directory.status(of: data, .prepareFiles) != nil else { return true }
        let file = try OpenFile(data, in: directory.descriptor, flags: O_RDONLY, .prepareFiles)
        guard let head = try DataFileHead.latest(file) else { return true }
        if IntactMark(try file.status(.prepareFiles)).matches(guardFile.mark) { return true }
        // What another process has open changes under a check; and it was checked when that opened
        // it.
        guard try !isInUse(in: directory) else { return false }
        try StructureCheck.check(file, head)
        return true
    }

    private static func isInUse(in directory: borrowing OpenFile) throws(LMDBError) -> Bool {
        do {
            // Writable, because only such a descriptor can be asked about a lock.
            return isLockedElsewhere(
                try OpenFile(lock, in: directory.descriptor, flags: O_RDWR, .prepareFiles))
        } catch {
            // On a read-only file system nobody writes.
            guard
                error.code == .notFound || error.code == .notWritable
                    || error.code == .permissionDenied
            else {
                throw error
            }
            return false
        }
    }

    /// A header of three cache lines, which holds the first slot, and a line for each further slot.
    static func lockFileSize(readers: Int) -> Int { 192 + (readers - 1) * 64 }

    private static func writeOutLockFile(in directory: borrowing OpenFile, size: Int)
        throws(LMDBError)
    {
        let file = try OpenFile(
            lock, in: directory.descriptor, flags: O_RDWR | O_CREAT, .prepareFiles)
        let status = try file.status(.prepareFiles)
        // Another process may use a smaller table; it would read beyond its map if this one grew
        // under it.
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

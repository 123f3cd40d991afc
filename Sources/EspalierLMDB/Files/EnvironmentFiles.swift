#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Makes `data.mdb` and `lock.mdb` safe for LMDB before it opens them.
///
/// LMDB follows links: opening a dangling one creates its target. LMDB also truncates `lock.mdb` to
/// its full size and maps it: on a full disk the first access to the hole kills the process with
/// SIGBUS. Therefore this type refuses links and writes the whole lock file.
enum EnvironmentFiles {
    static let data = "data.mdb"
    static let lock = "lock.mdb"

    /// Checks the files and creates the lock file. Returns whether the data file is known to be
    /// intact, and whether LMDB has to do without a lock file.
    ///
    /// The caller holds the guard's lock, and the directory is not open in this process: closing a
    /// descriptor of a lock file drops all locks that the process has on it.
    static func prepare(
        in directory: borrowing OpenFile, of guardFile: GuardFile, options: Environment.Options
    ) throws(LMDBError) -> (isIntact: Bool, isLockless: Bool) {
        for name in [data, lock] {
            guard let status = try directory.status(of: name, .prepareFiles) else { continue }
            guard status.isPlainFile else { throw LMDBError(.badPath, .prepareFiles) }
        }
        let isIntact = try check(in: directory, of: guardFile)
        if options.isReadOnly { return (isIntact, try !hasLockFile(in: directory)) }
        try writeOutLockFile(in: directory, size: lockFileSize(readers: options.maximumReaders))
        return (isIntact, false)
    }

    /// Returns whether there is a lock file in which this process can enter its reads. A reader
    /// creates none: where the file is missing or can't be written, no process writes.
    private static func hasLockFile(in directory: borrowing OpenFile) throws(LMDBError) -> Bool {
        do {
            _ = try OpenFile(lock, in: directory.descriptor, flags: O_RDWR, .prepareFiles)
            return true
        } catch {
            guard [.notFound, .notWritable, .permissionDenied].contains(error.code) else {
                throw error
            }
            return false
        }
    }

    /// Checks the data file unless its mark says that it is intact. Returns whether it is intact.
    private static func check(in directory: borrowing OpenFile, of guardFile: GuardFile)
        throws(LMDBError) -> Bool
    {
        guard try directory.status(of: data, .prepareFiles) != nil else { return true }
        let file = try OpenFile(data, in: directory.descriptor, flags: O_RDONLY, .prepareFiles)
        guard let head = try DataFileHead.latest(file) else { return true }
        if IntactMark(try file.status(.prepareFiles)).matches(guardFile.mark) { return true }
        // A process that has the file open changes it during a check. It has checked the file
        // itself when it opened it.
        guard try !isInUse(in: directory) else { return false }
        try StructureCheck.check(file, head)
        return true
    }

    private static func isInUse(in directory: borrowing OpenFile) throws(LMDBError) -> Bool {
        do {
            // `F_GETLK` for a write lock needs a writable descriptor.
            return isLockedElsewhere(
                try OpenFile(lock, in: directory.descriptor, flags: O_RDWR, .prepareFiles))
        } catch {
            // On a read-only file system no process writes.
            guard
                error.code == .notFound || error.code == .notWritable
                    || error.code == .permissionDenied
            else {
                throw error
            }
            return false
        }
    }

    /// Returns the size that LMDB gives the lock file: three cache lines for the header and the
    /// first slot, one cache line for each further slot.
    private static func lockFileSize(readers: Int) -> Int { 192 + (readers - 1) * 64 }

    private static func writeOutLockFile(in directory: borrowing OpenFile, size: Int)
        throws(LMDBError)
    {
        let file = try OpenFile(
            lock, in: directory.descriptor, flags: O_RDWR | O_CREAT, .prepareFiles)
        let status = try file.status(.prepareFiles)
        // A process that uses the file with a smaller table would read beyond its map.
        guard status.size < size, !isLockedElsewhere(file) else { return }
        try file.extend(from: status.size, to: size, .prepareFiles)
    }

    /// Returns whether another process has the environment open: LMDB then locks the first byte of
    /// the lock file.
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

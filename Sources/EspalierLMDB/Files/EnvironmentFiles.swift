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

    /// What `prepare` has found out about the files.
    struct Condition {
        /// Whether the file may be marked as intact.
        var isIntact = true
        /// Whether another process has the file open.
        var isInUse = false
        var doubt: Environment.Doubt?
        /// Whether the structure must be checked, and the other process writes too often for that:
        /// the check needs a reader of the file.
        var needsReader = false
        /// Whether LMDB has to do without a lock file.
        var isLockless = false
    }

    /// How often the structure is checked while another process may write, before a reader is
    /// needed.
    private static let attempts = 3

    /// Checks the files and creates the lock file. Returns the condition of the files.
    ///
    /// The caller holds the guard's lock, and the directory is not open in this process: closing a
    /// descriptor of a lock file drops all locks that the process has on it.
    static func prepare(
        in directory: borrowing OpenFile, of guardFile: GuardFile, options: Environment.Options
    ) throws(LMDBError) -> Condition {
        for name in [data, lock] {
            guard let status = try directory.status(of: name, .prepareFiles) else { continue }
            guard status.isPlainFile else { throw LMDBError(.badPath, .prepareFiles) }
        }
        var condition = try check(in: directory, of: guardFile)
        if options.isReadOnly {
            condition.isLockless = try !hasLockFile(in: directory)
        } else {
            try writeOutLockFile(in: directory, size: lockFileSize(readers: options.maximumReaders))
        }
        return condition
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

    /// Checks the data file, unless its mark says that it is intact and no check is due.
    private static func check(in directory: borrowing OpenFile, of guardFile: GuardFile)
        throws(LMDBError) -> Condition
    {
        let record = FileUse(guardFile)
        let isNew = try directory.status(of: data, .prepareFiles)?.size ?? 0 == 0
        guard !isNew else {
            record.reset()
            return Condition()
        }
        let file = try OpenFile(data, in: directory.descriptor, flags: O_RDONLY, .prepareFiles)
        guard let head = try DataFileHead.latest(file) else { return Condition() }
        let status = try file.status(.prepareFiles)
        let isMarked = IntactMark(status).matches(guardFile.mark)
        var condition = Condition()
        condition.isInUse = try isInUse(in: directory)
        let hasCrashed = record.hasCrashed(isInUse: condition.isInUse)
        if !condition.isInUse {
            condition.doubt = !isMarked ? .changed : hasCrashed ? .unclosed : nil
        }
        guard !isMarked || hasCrashed || record.isCheckDue(fileSize: status.size) else {
            record.addOpening()
            return condition
        }
        if !condition.isInUse {
            try StructureCheck.check(file, head)
        } else {
            condition.isIntact = isMarked
            guard try checkWhileInUse(in: directory) else {
                condition.needsReader = true
                return condition
            }
        }
        guard record.finishCheck() else { throw LMDBError.damage }
        return condition
    }

    /// Checks a file that another process may be changing. Returns `false` if it has committed
    /// during each of the attempts.
    private static func checkWhileInUse(in directory: borrowing OpenFile) throws(LMDBError) -> Bool
    {
        for _ in 0..<attempts {
            let file = try OpenFile(data, in: directory.descriptor, flags: O_RDONLY, .prepareFiles)
            guard let head = try DataFileHead.latest(file) else { return true }
            var check = try StructureCheck.begin(file, head)
            var failure: LMDBError?
            do throws(LMDBError) { _ = try check.advance(pages: .max) } catch { failure = error }
            guard try check.isCurrent() else { continue }
            if let failure { throw failure }
            return true
        }
        return false
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

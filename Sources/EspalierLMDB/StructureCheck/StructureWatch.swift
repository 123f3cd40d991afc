import Synchronization

/// Checks the structure of a file that is open, in small parts.
///
/// A drive can return other bytes than were written while the file is open, and a read of such a
/// page kills the process. The check finds it first if the page is not needed before. It reads the
/// file as of one commit and needs no reader for it: LMDB changes no page of the last commit, so
/// the parts of a check belong together as long as that commit is the last one.
///
/// ```
///   advance       a part of the trees
///   isCurrent     the part counts if no process has committed meanwhile
///   ...
///   complete      the guard file gets the time, for the processes that share the file
/// ```
final class StructureWatch: Sendable {
    // immutable
    private let record: FileUse

    // protected by itself
    private let check = Mutex<StructureCheck?>(nil)

    init(_ guardFile: GuardFile) { record = FileUse(guardFile) }

    /// How long ago any process has completed a check.
    var age: Duration { .seconds(Int64(clamping: record.age)) }

    /// Checks about `pages` further pages. Returns whether the check is complete.
    func advance(pages: Int, dataDescriptor: Int32) throws(LMDBError) -> Bool {
        try check.withLock { check throws(LMDBError) in
            var running: StructureCheck
            if let interrupted = check.take() {
                running = interrupted
            } else {
                let file = try OpenFile(duplicating: dataDescriptor, .statistics)
                guard let head = try DataFileHead.latest(file) else { return true }
                running = try StructureCheck.begin(file, head)
            }
            var isComplete = false
            var failure: LMDBError?
            do throws(LMDBError) {
                isComplete = try running.advance(pages: pages)
            } catch {
                failure = error
            }
            // A commit may have changed pages before they were checked.
            guard try running.isCurrent() else { return false }
            if let failure { throw failure }
            guard isComplete else {
                check = consume running
                return false
            }
            guard record.finishCheck() else { throw LMDBError.damage }
            return true
        }
    }

    /// Checks all trees of a commit that a reader keeps.
    func checkWhole(_ environment: Environment, _ dataDescriptor: Int32) throws(LMDBError) {
        var failure = LMDBError.damage
        for _ in 0..<8 {
            let transaction = try environment.beginRead()
            let file = try OpenFile(duplicating: dataDescriptor, .statistics)
            let head: DataFileHead
            do throws(LMDBError) {
                head = try DataFileHead.ofCommit(transaction.number, file)
            } catch {
                // By now, two commits of another process may have replaced the page.
                failure = error
                continue
            }
            try StructureCheck.check(file, head)
            guard record.finishCheck() else { throw LMDBError.damage }
            return
        }
        throw failure
    }
}

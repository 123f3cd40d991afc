import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Keeps the mark in the guard by which the next open knows that the file needs no check.
///
/// ```
///   begin write    the file carries the mark?     no: somebody else touched it, so it is left without one
///   ... pages are written, the file's times move on ...
///   end write      a new mark, if it had carried one
/// ```
///
/// So a file damaged while it was open is checked when it is opened next, whatever was committed
/// after that. Cost: half a microsecond a write.
extension Environment {
    /// How often, and how long, another process is waited for that has committed and not marked
    /// yet.
    private static let patience = 3
    private static let pause = timespec(tv_sec: 0, tv_nsec: 20_000)

    /// Marks the file as it is now: the next open does not check it. For callers who know that it
    /// is intact.
    package func markIntact() {
        do { _ = try enter(.sync) } catch { return }
        defer { leave() }
        marking.withLock { _ in setMark(isDurable: false) }
    }

    /// Called in a write transaction before it writes, so no process of good will is changing the
    /// file.
    func expectMark() {
        // Behind a commit of this process that is about to set its mark.
        var found = marking.withLock { _ in isMarked }
        if !found, isTrusted.load(ordering: .relaxed) {
            for _ in 0..<Self.patience where !found {
                var rest = Self.pause
                unsafe nanosleep(&rest, nil)
                found = isMarked
            }
        }
        isTrusted.store(found, ordering: .relaxed)
    }

    /// Ends a write transaction by `end`, and marks what it made of the file.
    func marking(isDurable: Bool, _ end: () throws(LMDBError) -> Void) throws(LMDBError) {
        // Held from before the end, so that the next write of this process finds the mark.
        try marking.withLock { _ throws(LMDBError) in
            let isTrusted = isTrusted.load(ordering: .relaxed)
            do throws(LMDBError) {
                try end()
            } catch {
                // It may have written pages before it failed, to places that are free.
                if isTrusted { setMark(isDurable: false) }
                throw error
            }
            if isTrusted { setMark(isDurable: isDurable) }
        }
    }

    /// Runs `sync`, after which the mark outlives a restart, unless the file has changed meanwhile.
    func markingDurable(_ sync: () throws(LMDBError) -> Void) throws(LMDBError) {
        let before = status.map(IntactMark.init)
        try sync()
        marking.withLock { _ in
            guard let before, before == status.map(IntactMark.init), before.matches(guardFile.mark)
            else { return }
            guardFile.setMark(before.durable)
        }
    }

    private var isMarked: Bool {
        status.map { IntactMark($0).matches(guardFile.mark) } ?? false
    }

    private func setMark(isDurable: Bool) {
        guard let mark = status.map(IntactMark.init) else { return }
        if isDurable {
            guardFile.setMark(mark.durable)
        } else if guardFile.mark != mark.durable {
            guardFile.setMark(mark.untilRestart)
        }
    }

    private var status: FileStatus? {
        var result = stat()
        guard unsafe fstat(handle.dataDescriptor, &result) == 0 else { return nil }
        return FileStatus(result)
    }
}

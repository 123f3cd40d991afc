#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the guard file knows about the use of the data file: who has it open, and when its
/// structure was last checked.
///
/// The mark of an intact file cannot show every damage: a drive may return other bytes than were
/// written, and the times of the file stay. Such a file kills the process that uses it. These
/// words make sure that it does so once at most.
///
/// ```
///   users        24 bits: how many processes have the file open; above them, 40 bits of the inode
///                of its directory. A process adds 1 when it opens the file, and subtracts 1 when
///                it closes it
///   assertions   32 bits: how often LMDB has ended a process because of the file; above them, 32
///                bits: how often it had when the structure was last checked
///   openings     how often the file was opened since its structure was last checked
///   checked      when its structure was last checked, in seconds since 1970
/// ```
///
/// A count in the file survives the death of a process, and LMDB's lock on `lock.mdb` does not. So
/// a process has died if the count is above zero although no process holds that lock. A lock alone
/// would not show that a process has died; a mark without a count would be cleared by the first
/// process that closes the file.
///
/// A process that is killed leaves the same traces as one that LMDB's bad pages have killed, and it
/// says nothing about the file. The next opening checks the structure in both cases. Only LMDB's
/// own assertions prove that the file is bad: the second one, after a check that found nothing, is
/// damage.
struct FileUse {
    /// After so many openings the structure is checked again. A check of 50 MiB takes up to 30
    /// milliseconds, which is then below a millisecond for each opening.
    static let openingLimit: UInt64 = 32
    /// After so many seconds the structure is checked again, whatever the number of openings: 7
    /// days. Disks test their sectors as often.
    static let ageLimit: UInt64 = 7 * 86_400
    /// Files of up to this size, 64 MiB, are checked at each opening, at 0.1 to 0.5 milliseconds
    /// for each MiB. A process takes longer to start again after a crash. Tests lower the size.
    @TaskLocal static var smallFile = 64 << 20
    /// How many assertions prove that the file is damaged.
    private static let assertionLimit: UInt64 = 2

    private static let countBits: UInt64 = 24
    private static let countMask = (UInt64(1) << countBits) - 1

    private let guardFile: GuardFile

    init(_ guardFile: GuardFile) { self.guardFile = guardFile }

    // MARK: Users

    /// Returns whether a process has ended without closing the file.
    ///
    /// - Parameter isInUse: Whether another process has the file open.
    func hasCrashed(isInUse: Bool) -> Bool {
        // The count may be that of another generation, whose last process has died as well.
        !isInUse && guardFile[.users] & Self.countMask != 0
    }

    /// Counts a process that opens the file in `directory`. The caller holds the guard's lock.
    func begin(in directory: FileIdentity, isInUse: Bool) {
        let tag = Self.tag(directory)
        guardFile.update(.users) { users in
            let isCounted = isInUse && users & ~Self.countMask == tag
            return tag | ((isCounted ? users & Self.countMask : 0) + 1) & Self.countMask
        }
    }

    /// Subtracts a process that is about to close the file. It needs no lock, because it may hold
    /// the guard's lock already.
    ///
    /// It must come before the file is closed: a process that opens the file in between would find
    /// a count without a user.
    func end(in directory: FileIdentity) {
        let tag = Self.tag(directory)
        guardFile.update(.users) { users in
            users & ~Self.countMask == tag && users & Self.countMask > 0 ? users - 1 : users
        }
    }

    private static func tag(_ directory: FileIdentity) -> UInt64 { directory.inode << countBits }

    // MARK: Checks

    /// Returns whether the structure must be checked although the file carries its mark.
    func isCheckDue(fileSize: Int) -> Bool {
        let now = Self.now
        let checked = guardFile[.checked]
        return fileSize <= Self.smallFile || guardFile[.openings] >= Self.openingLimit
            // The clock may have been set back.
            || checked > now || now - checked >= Self.ageLimit || hasUncheckedAssertion
    }

    private var hasUncheckedAssertion: Bool {
        let assertions = guardFile[.assertions]
        return assertions & 0xFFFF_FFFF != assertions >> 32
    }

    /// Counts an opening without a check.
    func addOpening() { guardFile.update(.openings) { $0 &+ 1 } }

    /// Notes that a check has found nothing. Returns `false` if LMDB has ended processes
    /// nevertheless, so that the file must not be used.
    func finishCheck() -> Bool {
        guardFile[.openings] = 0
        guardFile[.checked] = Self.now
        guardFile.update(.assertions) { $0 & 0xFFFF_FFFF | $0 << 32 }
        return guardFile[.assertions] & 0xFFFF_FFFF < Self.assertionLimit
    }

    /// How long ago the structure was last checked, in seconds.
    var age: UInt64 {
        let (now, checked) = (Self.now, guardFile[.checked])
        return now > checked ? now - checked : 0
    }

    /// Begins anew, for a new file.
    func reset() {
        guardFile[.assertions] = 0
        guardFile[.openings] = 0
        guardFile[.checked] = Self.now
    }

    private static var now: UInt64 { UInt64(max(0, time(nil))) }
}

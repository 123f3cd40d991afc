import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Identifies a `data.mdb` that only LMDB has changed since it was last known to be intact.
///
/// There are two kinds of marks. A durable mark outlives a restart of the machine: all pages of the
/// file are on the disk. The other kind is for a file whose last pages a power failure would lose.
/// Zero is no mark.
struct IntactMark: Equatable {
    static let none: UInt64 = 0

    /// Valid until the machine is restarted; `none` if the system does not identify its start.
    let untilRestart: UInt64
    let durable: UInt64

    init(_ status: FileStatus) {
        let words = [status.identity.inode, UInt64(status.size), status.modified, status.changed]
        durable = Self.hash(words)
        untilRestart =
            BootIdentifier.current.isEmpty ? Self.none : Self.hash(words + BootIdentifier.current)
    }

    func matches(_ stored: UInt64) -> Bool {
        stored != Self.none && (stored == durable || stored == untilRestart)
    }

    /// Hashes with the finaliser of SplitMix64. `Hasher` would not do: its seed changes with the
    /// process, and the mark is stored in a file.
    private static func hash(_ words: [UInt64]) -> UInt64 {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        for word in words {
            state = (state ^ word) &* 0xBF58_476D_1CE4_E5B9
            state = (state ^ (state >> 27)) &* 0x94D0_49BB_1331_11EB
            state ^= state >> 31
        }
        return max(state, 1)
    }
}

/// Keeps the mark in the guard file, by which the next open knows that the data file needs no
/// check.
///
/// ```
///   begin write    Does the file carry the mark? If not, another program has changed it, and the
///                  file stays unmarked until it is checked.
///   ...            LMDB writes pages, and the times of the file change.
///   end write      Set a new mark if the file carried one.
/// ```
///
/// A file that is damaged while it is open is therefore checked at the next open, whatever was
/// committed after the damage. Cost: 0.5 microseconds for each write transaction.
final class IntactMarker: Sendable {
    /// How often, and for how long, a write waits for another process that has committed but has
    /// not set its mark yet.
    private static let attempts = 3
    private static let pauseInNanoseconds = 20_000

    // immutable
    private let guardFile: GuardFile
    /// The descriptor of `data.mdb`, which LMDB owns.
    private let descriptor: Int32

    /// Whether the file carried the mark when the last write transaction began. The lock is held
    /// from before the end of a write transaction until its mark is set.
    private let isTrusted = Mutex(true)

    init(_ guardFile: GuardFile, dataDescriptor: Int32) {
        self.guardFile = guardFile
        descriptor = dataDescriptor
    }

    /// Marks the file as it is now. The caller knows that it is intact.
    func markIntact() {
        isTrusted.withLock { _ in setMark(isDurable: false) }
    }

    /// Checks the mark at the beginning of a write transaction, when no process that uses LMDB
    /// changes the file.
    func beginWrite() {
        // The lock makes this wait until the previous write of this process has set its mark.
        isTrusted.withLock { isTrusted in
            var isMarked = isMarked
            if !isMarked, isTrusted {
                for _ in 0..<Self.attempts where !isMarked {
                    CallingThread.sleep(nanoseconds: Self.pauseInNanoseconds)
                    isMarked = self.isMarked
                }
            }
            isTrusted = isMarked
        }
    }

    /// Marks the file anew after a change of its length, if it carried the mark before.
    func markAgain() {
        isTrusted.withLock { if $0 { setMark(isDurable: false) } }
    }

    /// Ends a write transaction by calling `end`, and marks the file that results.
    func endWrite(isDurable: Bool, _ end: () throws(LMDBError) -> Void) throws(LMDBError) {
        try isTrusted.withLock { isTrusted throws(LMDBError) in
            do throws(LMDBError) {
                try end()
            } catch {
                // A commit that fails may have written to free pages before.
                if isTrusted { setMark(isDurable: false) }
                throw error
            }
            if isTrusted { setMark(isDurable: isDurable) }
        }
    }

    /// Calls `sync`, and makes the mark durable unless the file has changed meanwhile.
    func markDurable(after sync: () throws(LMDBError) -> Void) throws(LMDBError) {
        let before = fileMark
        try sync()
        isTrusted.withLock { _ in
            guard let before, before == fileMark, before.matches(guardFile.mark) else { return }
            guardFile.setMark(before.durable)
        }
    }

    private var fileMark: IntactMark? { FileStatus(descriptor: descriptor).map(IntactMark.init) }

    private var isMarked: Bool { fileMark?.matches(guardFile.mark) ?? false }

    private func setMark(isDurable: Bool) {
        guard let mark = fileMark else { return }
        if isDurable {
            guardFile.setMark(mark.durable)
        } else if guardFile.mark != mark.durable {
            guardFile.setMark(mark.untilRestart)
        }
    }
}

/// Identifies the time since the machine was started.
private enum BootIdentifier {
    /// Empty if the system does not provide an identifier.
    static let current: [UInt64] = {
        var words: [UInt64] = []
        for (index, byte) in read().enumerated() {
            if index % 8 == 0 { words.append(0) }
            words[index / 8] = words[index / 8] << 8 | UInt64(byte)
        }
        return words
    }()

    /// Reads the identifier, which has 36 characters on Linux and on Apple's systems.
    private static func read() -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: 64)
        #if canImport(Glibc)
        let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count >= 36 else { return [] }
        #else
        var count = bytes.count
        let result = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe sysctlbyname("kern.bootsessionuuid", buffer.baseAddress, &count, nil, 0)
        }
        guard result == 0, count >= 36 else { return [] }
        #endif
        return bytes.prefix(36)
    }
}

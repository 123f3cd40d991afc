/// What a `data.mdb` is recognised by that nobody but LMDB has touched since it was last known to
/// be intact.
///
/// Two kinds: one that outlives a restart of the machine, for a file that is on the disk as it is,
/// and one that does not, for a file whose last pages a loss of power would have taken. Zero is no
/// mark.
struct IntactMark: Equatable {
    static let none: UInt64 = 0

    /// Good until the machine is restarted; `none` where nobody can tell.
    let untilRestart: UInt64
    let durable: UInt64

    init(_ status: FileStatus) {
        let words = [status.identity.inode, UInt64(status.size), status.modified, status.changed]
        durable = Self.mark(words)
        untilRestart =
            BootIdentifier.current.isEmpty ? Self.none : Self.mark(words + BootIdentifier.current)
    }

    func matches(_ stored: UInt64) -> Bool {
        stored != Self.none && (stored == durable || stored == untilRestart)
    }

    /// Stored in a file, so no `Hasher`, whose seed changes with the process. The finaliser is that
    /// of SplitMix64.
    private static func mark(_ words: [UInt64]) -> UInt64 {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        for word in words {
            state = (state ^ word) &* 0xBF58_476D_1CE4_E5B9
            state = (state ^ (state >> 27)) &* 0x94D0_49BB_1331_11EB
            state ^= state >> 31
        }
        return max(state, 1)
    }
}

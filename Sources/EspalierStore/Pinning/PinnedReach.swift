import EspalierLMDB
import EspalierRecords

/// The records that pins keep from being evicted, and what they cost: measured when a pin is set,
/// kept up as they are written.
///
/// Before the first measurement, after opening, `total` goes on from what was stored, and every
/// write counts as one of a pinned record; only when that reaches the limit are the pinned trees
/// walked. From then on it is known which records are theirs. What they refer to no longer goes on
/// counting until the next measurement.
///
/// What a transaction changes is kept apart until it is committed. Unchecked, because it is
/// confined to the thread that commits.
final class PinnedReach: @unchecked Sendable {
    struct Change {
        var charges: [Handle: Int] = [:]
        var total: Int
        var pins: Int
        /// The charges are all there are, and not what has to be added.
        var isMeasurement = false
    }

    private(set) var charges: [Handle: Int] = [:]
    private(set) var isMeasured: Bool
    private(set) var total: Int
    /// How many pins there are.
    private(set) var pins: Int

    init(loading transaction: borrowing WriteTransaction, _ keyspaces: Keyspaces, total: UInt64)
        throws
    {
        pins = try transaction.statistics(of: keyspaces.pins).entries
        self.total = Int(clamping: total)
        isMeasured = pins == 0
    }

    func start() -> Change { Change(total: total, pins: pins) }

    func charge(_ handle: Handle, with change: Change) -> Int? {
        change.charges[handle] ?? (change.isMeasurement ? nil : charges[handle])
    }

    func settle(_ change: Change) {
        total = change.total
        pins = change.pins
        if change.isMeasurement {
            charges = change.charges
            isMeasured = true
        } else if change.pins == 0 {
            charges = [:]
        } else {
            charges.merge(change.charges) { $1 }
        }
    }
}

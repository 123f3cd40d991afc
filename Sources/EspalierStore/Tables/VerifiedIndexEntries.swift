import EspalierConfinement
import EspalierRecords

/// Handles that the index is known to return for the identifier of their record.
///
/// To write a stored tree again, `TreeWriter` follows stored references: the children of a stored
/// record are nearly always the handles that the index has for the children of the same model.
/// Looking each of them up would be the main cost of such a write. The reference alone proves
/// nothing: a delete or damage may have removed the index entry of a record whose bytes are still
/// there. A handle in this cache needs no look-up.
///
/// Entries are valid as long as no other process writes. Code that removes or changes an index
/// entry removes the handle here. Of two handles with the same slot, the later one is kept. The
/// handles of a tree are consecutive and do not share slots.
///
/// `@unchecked Sendable` because it is confined to the thread that commits, which `Confined`
/// checks.
final class VerifiedIndexEntries: @unchecked Sendable {
    private static let slotCount: UInt64 = 32_768

    /// One slot for each value of the low bits of a handle. It holds the high bits plus 1; 0 means
    /// none. The array is empty until the first insertion.
    private let slots = Confined<[UInt32]>([])

    func contains(_ handle: Handle) -> Bool {
        guard !slots.value.isEmpty, let mark = Self.mark(of: handle) else { return false }
        return slots.value[Self.slot(of: handle)] == mark
    }

    func insert(_ handle: Handle) {
        guard let mark = Self.mark(of: handle) else { return }
        if slots.value.isEmpty {
            slots.value = Array(repeating: 0, count: Int(Self.slotCount))
        }
        slots.value[Self.slot(of: handle)] = mark
    }

    func remove(_ handle: Handle) {
        if contains(handle) { slots.value[Self.slot(of: handle)] = 0 }
    }

    func removeAll() { slots.value = [] }

    /// Makes the calling thread the owner. `WriterThread.turn` orders the accesses.
    func transferToCurrentThread() { slots.transferToCurrentThread() }

    private static func slot(of handle: Handle) -> Int { Int(handle.rawValue % slotCount) }

    private static func mark(of handle: Handle) -> UInt32? {
        UInt32(exactly: handle.rawValue / slotCount + 1)
    }
}

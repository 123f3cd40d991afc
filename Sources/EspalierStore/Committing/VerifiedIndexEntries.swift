import EspalierConfinement
import EspalierRecords

/// Records whose name was seen to lead to them: the index has their handle under the identifier
/// they have themselves.
///
/// What a stored parent refers to is, nearly always, what the index has for the children of the
/// same tree written again. To look there is what such a write costs most, and to trust the parent
/// alone would be wrong: a record may have lost its name, to a delete that has not taken its bytes
/// yet or to damage. A handle that is known here needs no look.
///
/// Good as long as nobody else writes, as all that the writer knows by heart; and only if whoever
/// takes a name away or gives it to another record says so here. Of two handles that share a place
/// the later one is known: those of a tree stand in a row. Unchecked, because it is confined to the
/// thread that commits.
final class VerifiedIndexEntries: @unchecked Sendable {
    private static let places: UInt64 = 32_768

    /// By the low bits of a handle, its high ones and 1; 0 for none. Empty until the first.
    private let known = Confined<[UInt32]>([])

    func contains(_ handle: Handle) -> Bool {
        guard !known.value.isEmpty, let mark = Self.mark(of: handle) else { return false }
        return known.value[Self.place(of: handle)] == mark
    }

    func insert(_ handle: Handle) {
        guard let mark = Self.mark(of: handle) else { return }
        if known.value.isEmpty { known.value = Array(repeating: 0, count: Int(Self.places)) }
        known.value[Self.place(of: handle)] = mark
    }

    func remove(_ handle: Handle) {
        if contains(handle) { known.value[Self.place(of: handle)] = 0 }
    }

    func removeAll() { known.value = [] }

    /// Makes the calling thread the owner: it is the one that commits now.
    func transferToCurrentThread() { known.transferToCurrentThread() }

    private static func place(of handle: Handle) -> Int { Int(handle.rawValue % places) }

    private static func mark(of handle: Handle) -> UInt32? {
        UInt32(exactly: handle.rawValue / places + 1)
    }
}

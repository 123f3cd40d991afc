import EspalierConfinement
import EspalierRecords

/// The records whose content one commit changes, for the trees in memory.
///
/// A record that the commit makes is not among them: nothing that was read before depends on it.
/// Confined to the thread that commits.
final class ContentChanges {
    /// Handles from here on are new.
    private let firstNew: UInt64

    private struct State {
        var changed: [Handle] = []
        var written: [Handle] = []
        var isUnknown = false
    }
    private let state = Confined(State())

    init(firstNew: UInt64) { self.firstNew = firstNew }

    /// Notes that a record has another content, or is gone or deleted.
    func change(_ handle: Handle) {
        if handle.rawValue < firstNew { state.value.changed.append(handle) }
    }

    /// Notes that a record was written by itself, changed or not.
    func write(_ handle: Handle) {
        if handle.rawValue < firstNew { state.value.written.append(handle) }
    }

    /// Notes that any record may have changed.
    func changeAnything() { state.value.isUnknown = true }

    /// Returns what the commit has changed; nil if that can be anything.
    ///
    /// - Parameter keys: The keys and collections that it has made, changed or removed.
    func entry(_ number: UInt64, keys: [String]) -> CommitHistory.Entry? {
        guard !state.value.isUnknown else { return nil }
        return CommitHistory.Entry(
            number, changed: HandleList(state.value.changed),
            written: HandleList(state.value.written), keys: Set(keys.lazy.map(Identifier.init)))
    }
}

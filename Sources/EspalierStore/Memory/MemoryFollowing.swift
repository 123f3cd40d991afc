import Dispatch
import EspalierLMDB
import EspalierRecords
import Foundation
import Synchronization

/// Lets the trees in memory follow the commits of other processes, by the ring of change sets.
///
///     silent ----- a read meets a commit of another process ----> listening
///        ^                                                            |
///        +------------ no read has met one for ten seconds -----------+
///
/// Others write the ring only while a process listens, and that costs each of their commits some
/// pages. So a process listens from the first commit that it meets until it meets no more. What
/// others committed meanwhile is not known, and all trees are read anew.
///
/// All threads may use it. It never waits for another process.
final class MemoryFollowing: Sendable {
    // immutable
    private let generations: GenerationHolder
    private let patience: DispatchTimeInterval

    // protected by `state`
    private struct State {
        /// What the process listens with; nil while it is silent.
        var listeners: ChangeListeners?
        /// Whether a read has met a commit of another process since the last look.
        var hasMet = false
    }
    private let state = Mutex(State())

    /// The most commits that are looked up. After more, it is faster to read the trees anew.
    private static let mostCommits: UInt64 = 1_024

    init(_ generations: GenerationHolder, patience: DispatchTimeInterval = .seconds(10)) {
        self.generations = generations
        self.patience = patience
    }

    deinit { state.withLock { $0.listeners?.end() } }

    /// Whether other processes write for this one what they change.
    var isListening: Bool { state.withLock { $0.listeners != nil } }

    // MARK: - Listening

    /// Notes that a read has met a commit of another process.
    func noteCommitOfAnother() {
        let listeners = generations.listeners
        let begins = state.withLock { state -> Bool in
            state.hasMet = true
            // After the directory was made anew, the old file reaches no process.
            guard state.listeners !== listeners else { return false }
            let wasSilent = state.listeners == nil
            state.listeners?.end()
            state.listeners = nil
            guard let listeners, (try? listeners.begin()) != nil else { return false }
            state.listeners = listeners
            return wasSilent
        }
        if begins { lookLater() }
    }

    private func lookLater() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + patience) { [weak self] in
            self?.look()
        }
    }

    /// Ends listening if no read has met a commit since the last look.
    private func look() {
        let goesOn = state.withLock { state -> Bool in
            guard state.listeners != nil else { return false }
            if !state.hasMet {
                state.listeners?.end()
                state.listeners = nil
            }
            defer { state.hasMet = false }
            return state.hasMet
        }
        if goesOn { lookLater() }
    }

    // MARK: - Reading the ring

    /// Returns what the transactions after `known` up to `last` have changed; nil if the ring lacks
    /// one of them. An empty transaction (`commitEmptyTransaction`) has no entry, so the result is
    /// nil if one is among them.
    ///
    /// - Parameter commit: The number of the commit that `last` is: counted in the cache, where
    ///   `last` is counted in the file.
    func entries(
        after known: UInt64, through last: UInt64, commit: UInt64, in snapshot: Snapshot,
        _ keyspaces: Keyspaces
    ) -> [CommitHistory.Entry]? {
        let count = last - known
        guard isListening, count <= Self.mostCommits, count <= commit,
            let stored = try? snapshot.changes(
                keyspaces, after: commit - count, through: commit)
        else { return nil }
        let entries = stored.compactMap(\.records)
        let isComplete = entries.enumerated().allSatisfy { index, entry in
            entry.number == known + 1 + UInt64(index)
        }
        return isComplete && entries.count == Int(count) ? entries : nil
    }
}

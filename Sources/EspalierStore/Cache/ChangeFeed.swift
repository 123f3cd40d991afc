import Dispatch
import EspalierLMDB
import EspalierRecords
import Synchronization

/// Sends the change sets of all processes to the subscribers: in the order of commits, each once.
///
/// This process hands its commits over itself. Those of other processes stand in the keyspace
/// `changes`, and `CommitWatch` tells when to look there. Both ways meet in `position`, the last
/// commit that the subscribers have received:
///
///     own commit n, position n - 1    sent at once
///     own commit n, position < n - 1  the ring has the commits between, which are sent first
///     an event                        all commits after `position` are read from the ring
///     a commit that the ring lacks    a reset stands for everything up to the newest commit
///
/// While this process commits, events wait: the ring may lack its own commits. The other processes
/// can't commit meanwhile.
///
/// A subscriber costs a file descriptor and no thread. Without subscribers nothing is read, nothing
/// is watched, and other processes write no entries. All threads may use a feed.
final class ChangeFeed: Sendable {
    // immutable
    private let generations: GenerationHolder
    /// Where the feed looks for commits of other processes. Tests suspend it.
    let queue = DispatchQueue(label: "espalier-changes")
    private let fork = ForkCounter.current
    private let limit: ChangeSubscription.Limit
    /// Called when the files of the cache are gone, some time after the subscribers were told.
    private let onLoss: @Sendable () -> Void

    // protected by `state`
    private struct State {
        var lastKey = 0
        var subscribers: [Int: ChangeSubscription] = [:]
        /// The last commit that was sent; nil while no subscriber follows other processes.
        var position: ChangePosition?
        /// Whether the position could not be read when a subscriber began to follow: commits since
        /// then are not known.
        var missesStart = false
        /// How many commits this process has begun.
        var begun: UInt64 = 0
        var isCommitting = false
        /// Whether an event waits for the end of the commit.
        var isDelayed = false
        /// Whether the subscribers were told that the cache can't be read, or that its files are
        /// gone.
        var isLost = false
        /// Whether events are ignored, because looking has failed. A failing look can cause an
        /// event itself: it takes the lock of the guard file.
        var isPaused = false
        var isFinished = false

        var followers: Bool { subscribers.values.contains { $0.followsOthers } }

        func send(_ changes: ChangeSet) {
            for subscriber in subscribers.values { subscriber.append(changes) }
        }

        /// Sends a reset if the commits up to a first position are not known.
        mutating func sendMissedStart() {
            if missesStart { send(.reset(by: .anotherProcess(nil))) }
            missesStart = false
        }
    }
    private let state = Mutex(State())

    // protected by `following`, which is never taken inside `state`
    private struct Following {
        var listeners: ChangeListeners?
        /// Whether other processes announce their commits to this one.
        var isAnnounced = false
        var watch: CommitWatch?
    }
    private let following = Mutex(Following())

    // atomic
    private let subscriberCount = Atomic<Int>(0)
    private let lookCount = Atomic<Int>(0)

    init(
        _ generations: GenerationHolder, limit: ChangeSubscription.Limit = .init(),
        onLoss: @escaping @Sendable () -> Void = {}
    ) {
        self.generations = generations
        self.limit = limit
        self.onLoss = onLoss
    }

    /// How often the feed has looked for commits of other processes.
    var looks: Int { lookCount.load(ordering: .relaxed) }

    var hasSubscribers: Bool { subscriberCount.load(ordering: .relaxed) > 0 }

    // MARK: - Subscribing

    /// Returns a sequence of the changes of all commits from now on; it ends with `finish()`.
    ///
    /// - Parameters:
    ///   - isOwn: Whether to leave out the commits of other processes, and to keep what waits
    ///     without a limit.
    ///   - closing: The sequence also ends when the object of this is closed.
    func subscribe(isOwn: Bool = false, until closing: Closing? = nil) -> AsyncStream<ChangeSet> {
        subscription(isOwn: isOwn, until: closing).changes
    }

    /// Returns the sequence that `subscribe` returns, and its subscription, whose `flush` waits for
    /// the reader of the sequence.
    func subscription(
        isOwn: Bool = false, until closing: Closing? = nil
    ) -> (changes: AsyncStream<ChangeSet>, subscription: ChangeSubscription) {
        let subscriber = ChangeSubscription(followsOthers: !isOwn, isOwn ? .none : limit)
        let key = fork != ForkCounter.current ? nil : add(subscriber)
        guard let key else {
            subscriber.finish()
            return (AsyncStream { await subscriber.next() }, subscriber)
        }
        if !isOwn { follow() }
        let ending = closing?.whenClosed { [weak subscriber] in subscriber?.finish() }
        let owner = SequenceOwner(subscriber) { [weak self] in
            self?.remove(key)
            withExtendedLifetime(ending) {}
        }
        let changes = AsyncStream {
            await owner.subscriber.next()
        } onCancel: { [weak self] in
            owner.subscriber.finish(dropping: true)
            // Not here: the runtime holds a lock of the task, and a thread that sends to the
            // subscriber under `state` takes that lock to resume it.
            self?.queue.async { [weak self] in
                if let self, take(key) { follow() }
            }
        }
        return (changes, subscriber)
    }

    /// Ends a subscription when its sequence is released.
    private final class SequenceOwner: Sendable {
        let subscriber: ChangeSubscription
        private let onEnd: @Sendable () -> Void

        init(_ subscriber: ChangeSubscription, onEnd: @escaping @Sendable () -> Void) {
            self.subscriber = subscriber
            self.onEnd = onEnd
        }

        deinit {
            // No reader is left that could take the waiting change sets.
            subscriber.finish(dropping: true)
            onEnd()
        }
    }

    /// Returns the key of the subscriber; nil after the end.
    private func add(_ subscriber: ChangeSubscription) -> Int? {
        state.withLock { state in
            guard !state.isFinished else { return nil }
            state.lastKey += 1
            state.subscribers[state.lastKey] = subscriber
            subscriberCount.store(state.subscribers.count, ordering: .relaxed)
            return state.lastKey
        }
    }

    private func remove(_ key: Int) {
        // On the queue: the caller may be the task of a subscriber, with locks of its own.
        if take(key) { queue.async { [weak self] in self?.follow() } }
    }

    /// Removes a subscriber. Returns whether it was the last one that followed other processes.
    private func take(_ key: Int) -> Bool {
        state.withLock { state in
            guard let removed = state.subscribers.removeValue(forKey: key) else { return false }
            subscriberCount.store(state.subscribers.count, ordering: .relaxed)
            return removed.followsOthers && !state.followers
        }
    }

    /// Ends all sequences after what waits for them, and those of later subscribers.
    func finish() {
        let subscribers = state.withLock { state in
            state.isFinished = true
            subscriberCount.store(0, ordering: .relaxed)
            defer { state.subscribers = [:] }
            return Array(state.subscribers.values)
        }
        follow()
        for subscriber in subscribers { subscriber.finish() }
    }

    // MARK: - Following other processes

    /// The pause after a look that has failed. The writer looks for missing files a second after it
    /// last saw them.
    private static let pause = DispatchTimeInterval.milliseconds(1_100)

    /// Begins or ends watching, as the subscribers need it. Begins again where the directory of the
    /// cache was made anew.
    private func follow() {
        following.withLock { following in
            let isNeeded = state.withLock { $0.followers && !$0.isFinished }
            let listeners = isNeeded ? generations.listeners : nil
            if following.listeners !== listeners {
                following.watch?.cancel()
                if following.isAnnounced { following.listeners?.end() }
                following = Following()
            }
            guard let listeners else { return state.withLock { $0.position = nil } }
            if following.watch == nil {
                // Before the first read of the ring, so that no commit falls between.
                following.isAnnounced = (try? listeners.begin()) != nil
                following.listeners = listeners
                following.watch = CommitWatch(
                    listeners, onlyPolls: !following.isAnnounced, queue
                ) {
                    [weak self] in self?.look()
                }
            }
        }
        guard state.withLock({ $0.followers && $0.position == nil }) else { return }
        let position = try? read(after: nil).position
        state.withLock { state in
            guard state.followers, state.position == nil else { return }
            state.position = position
            state.missesStart = position == nil
        }
    }

    /// Whether commits of other processes are looked for by a timer.
    var isPolling: Bool? { following.withLock { $0.watch?.isPolling } }

    /// Sends what other processes have committed since the last look. Runs on the queue.
    private func look() {
        lookCount.add(1, ordering: .relaxed)
        while true {
            let start = state.withLock { state -> (begun: UInt64, position: ChangePosition?)? in
                guard state.followers, !state.isFinished, !state.isPaused else { return nil }
                state.isDelayed = state.isCommitting
                return state.isCommitting ? nil : (state.begun, state.position)
            }
            guard let start else { return }
            let reading: Reading
            do {
                reading = try read(after: start.position)
            } catch {
                return reportUnreadable()
            }
            if reading.changes.isEmpty, !generations.isInPlace { return reportUnreadable() }
            let isDone = state.withLock { state in
                guard state.begun == start.begun, state.position == start.position else {
                    // This process has committed meanwhile, and its commit comes first.
                    state.isDelayed = state.isCommitting
                    return state.isCommitting
                }
                state.sendMissedStart()
                for changes in reading.changes { state.send(changes) }
                state.position = reading.position
                state.isLost = false
                return true
            }
            if isDone { return }
        }
    }

    /// Sends a reset because the cache can't be read, or its files are gone, and looks again later:
    /// nothing may tell when that ends.
    private func reportUnreadable() {
        let isPausing = state.withLock { state in
            guard !state.isFinished, state.followers, !state.isPaused else { return false }
            if !state.isLost { state.send(.reset(by: .anotherProcess(nil))) }
            (state.isLost, state.isPaused) = (true, true)
            return true
        }
        guard isPausing else { return }
        queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in
            guard let self else { return }
            onLoss()
            state.withLock { $0.isPaused = false }
            look()
        }
    }

    // MARK: - Reading the ring

    /// What stands in the ring after a position.
    private struct Reading {
        var changes: [ChangeSet]
        let position: ChangePosition
    }

    /// Returns the changes after a position, or a reset if they are not known. Returns none after
    /// no position.
    private func read(after last: ChangePosition?) throws -> Reading {
        try generations.withCurrent { generation in
            try generation.environment.read { transaction in
                let commits = try transaction.counters(generation.keyspaces).commits
                let position = ChangePosition(lineage: generation.lineage, commit: commits)
                guard let last else { return Reading(changes: [], position: position) }
                guard position.lineage == last.lineage else {
                    let reset = ChangeSet.reset(by: .anotherProcess(nil), isEmptied: true)
                    return Reading(changes: [reset], position: position)
                }
                guard position.commit >= last.commit,
                    let stored = try transaction.changes(
                        generation.keyspaces, after: last.commit, through: commits)
                else {
                    return Reading(
                        changes: [.reset(by: .anotherProcess(nil))], position: position)
                }
                return Reading(changes: visible(stored), position: position)
            }
        }
    }

    /// Returns the change sets with their origin, without those that change nothing.
    private func visible(_ stored: [StoredChanges]) -> [ChangeSet] {
        stored.compactMap { entry in
            var changes = entry.changes
            let isOwn = entry.author == generations.author
            changes.origin = isOwn ? .thisProcess : .anotherProcess(entry.author.process)
            if changes.isReset {
                changes = .reset(by: changes.origin, deleted: changes.deleted)
            }
            return changes.isEmpty ? nil : changes
        }
    }

    // MARK: - Commits of this process

    /// Notes that this process commits, or switches the generation, from now on. Called while no
    /// other process can commit, or before.
    func beginCommit() {
        state.withLock { state in
            state.begun &+= 1
            state.isCommitting = true
        }
    }

    /// Notes that the commit has failed. Does nothing if none has begun.
    func cancelCommit() { endCommit { _ in } }

    /// Sends the changes of a commit, after those of the commits before it.
    func endCommit(_ changes: ChangeSet, in generation: Generation) {
        var changes = changes
        changes.victims = []
        let position = ChangePosition(lineage: generation.lineage, commit: changes.commit)
        let last = state.withLock { $0.position }
        var before: [ChangeSet] = []
        if let last, last.lineage != position.lineage {
            // Another process has emptied the cache, and this one has found that out by writing.
            before = [.reset(by: .anotherProcess(nil), isEmptied: true)]
        } else if let last, last.commit + 1 < position.commit {
            before = changesBetween(last, position, in: generation)
        }
        endCommit { state in
            state.sendMissedStart()
            if state.position == last {
                for earlier in before { state.send(earlier) }
            }
            if !changes.isEmpty { state.send(changes) }
            if state.followers { state.position = position }
        }
    }

    /// Returns the changes of other processes between two positions, or a reset.
    private func changesBetween(
        _ last: ChangePosition, _ position: ChangePosition, in generation: Generation
    ) -> [ChangeSet] {
        let stored = try? generation.environment.read { transaction in
            try transaction.changes(
                generation.keyspaces, after: last.commit, through: position.commit - 1)
        }
        guard let stored = stored ?? nil else { return [.reset(by: .anotherProcess(nil))] }
        return visible(stored)
    }

    /// Sends a reset because this process has begun a new generation.
    func endReset() {
        // Read before the reset is sent, so that a commit of another process to the new generation
        // is not skipped.
        let position = try? read(after: nil).position
        endCommit { state in
            state.send(.reset(by: .thisProcess, isEmptied: true))
            state.position = state.followers ? position : nil
            state.missesStart = state.followers && position == nil
            state.isLost = false
        }
        guard state.withLock({ $0.followers }) else { return }
        // The files may have been made anew. Another process may have committed to them before this
        // one listens.
        follow()
        queue.async { [weak self] in self?.look() }
    }

    private func endCommit(_ body: (inout State) -> Void) {
        let isDelayed = state.withLock { state in
            guard state.isCommitting else { return false }
            state.isCommitting = false
            body(&state)
            defer { state.isDelayed = false }
            return state.isDelayed
        }
        if isDelayed { queue.async { [weak self] in self?.look() } }
    }
}

/// A commit, in the contents that it belongs to.
struct ChangePosition: Sendable, Hashable {
    /// What a copy of a generation has in common with it, see `Generation.lineage`.
    let lineage: [UInt8]
    let commit: UInt64
}

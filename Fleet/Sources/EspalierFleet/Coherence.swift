import EspalierRecords
import EspalierSharedRecords
import EspalierStore
import Synchronization

/// Knows how current a host's copies are. All changes of copies go through it.
///
/// Each server numbers its commits. A follower hands on the names that each commit changed, in
/// order: `processed` is the last of them. A commit of this host is *noted* as soon as it ends.
/// Each commit up to `applied` was processed or noted: the near cache has what these commits have
/// changed, or counts it as outdated.
///
///     server     1  2  3  4  5  6  7         the last commit is 7
///     follower   1  2  3                     processed: 3
///     noted               4     6            applied: 4
///     fetched             4                  may be restored
///     fetched                5               waits: commit 5 may have changed another copy, too
///     fetched       2                        may be restored unless 3, 4 or 6 changed it
///     own                       6            its records are near as outdated copies; waits, too
///
/// A gap in a server's changes *resets* it: its copies become outdated, and those of other servers
/// stay. Meanwhile no tree with a record of that server counts as current. The same happens if the
/// near cache fails to make copies outdated.
///
/// What must never happen: that a copy is restored over a newer state that the follower has told
/// of. So names become outdated, and copies are restored, under one lock, and a copy is restored
/// only if no commit after its fetch that the host knows of has changed it. Nor may a read return a
/// copy that this host has replaced: before a write ends, the near cache has the new records, or
/// counts the copies as outdated. What may be lost is a copy: its next read fetches it again. A
/// wait for the follower ends after `waitLimit`, and when its server can't be reached.
final class Coherence: Sendable {
    private struct Waiter {
        let server: Int
        let clock: UInt64
        let deadline: Moment
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var servers: [FollowedServer]
        /// The last commit that the host knows of after which each name may have changed.
        var recent: [SharedName: UInt64] = [:]
        /// The same names in the order in which they came, to forget the oldest.
        var order: [(server: Int, clock: UInt64, name: SharedName)] = []
        var forgotten = 0
        var waiters: [Waiter] = []
    }
    private let state: Mutex<State>
    private let near: NormalizedCache
    private let recentWrites: RecentWrites
    private let statistics: FleetCounters
    /// Up to how many bytes the records of a commit are put in the place of older copies in one
    /// step. The near cache may refuse larger ones.
    private let smallCommit: Int
    /// How many own commits have records that wait for the follower.
    private let waitingCommits = Atomic<Int>(0)
    /// The earliest `confirmed` of all servers; -1 for none.
    private let confirmedAt = Atomic<Int>(-1)

    /// The most names in `recent`.
    private static let recentLimit = 50_000
    /// The most changes of copies that wait for the next heartbeat. Beyond that, those are
    /// forgotten that have succeeded.
    private static let pendingLimit = 1_000
    /// The most own commits whose records wait for the follower.
    private static let waitingLimit = 256
    static let waitLimit = Duration.milliseconds(300)

    init(
        servers: Int, near: NormalizedCache, _ recentWrites: RecentWrites,
        _ statistics: FleetCounters, limits: TreeLimits = TreeLimits()
    ) {
        smallCommit = min(16_384, limits.maximumBytes / 2)
        state = Mutex(State(servers: Array(repeating: FollowedServer(), count: servers)))
        self.near = near
        self.recentWrites = recentWrites
        self.statistics = statistics
    }

    // MARK: Age

    /// When the host last knew the commits of all servers, in nanoseconds; -1 for never.
    @inline(__always)
    var confirmed: Int { confirmedAt.load(ordering: .acquiring) }

    /// When the host last knew the commits of each server, in nanoseconds; -1 for never.
    var confirmedByServer: [Int] {
        state.withLock { state in state.servers.map { $0.confirmed?.nanoseconds ?? -1 } }
    }

    /// Whether the host knew any server's commits at most `limit` nanoseconds ago.
    func isAnyServerCurrent(within limit: Int) -> Bool {
        let latest = state.withLock { state in
            state.servers.map { $0.confirmed?.nanoseconds ?? .min }.max() ?? .min
        }
        return latest >= 0 && Moment.now.nanoseconds - latest <= limit
    }

    /// How long ago the host last knew the commits of all servers; nil if it never did.
    var age: Duration? {
        let confirmed = confirmedAt.load(ordering: .acquiring)
        return confirmed < 0 ? nil : Moment.now - Moment(nanoseconds: confirmed)
    }

    private func publishAge(_ state: borrowing State) {
        var earliest = Int.max
        for server in state.servers {
            earliest = min(earliest, server.confirmed?.nanoseconds ?? -1)
        }
        confirmedAt.store(earliest, ordering: .releasing)
    }

    // MARK: What a follower tells

    /// Begins to follow a server. Resets it unless the follower can go on after the last processed
    /// commit.
    ///
    /// - Returns: The commit after which to go on, and whether the follower has to call
    ///   `outdateCopies`.
    func follow(
        _ server: Int, runIdentifier: String, clock: UInt64
    ) -> (position: UInt64, isReset: Bool) {
        state.withLock { state in
            let known = state.servers[server]
            let goesOn =
                known.runIdentifier == runIdentifier && known.processed <= clock
                && (known.processed > 0 || clock == 0) && !known.hasLostCommits
            state.servers[server].isFollowed = true
            state.servers[server].runIdentifier = runIdentifier
            if known.runIdentifier.isEmpty {
                // Nothing is restored before its server is followed, and the near cache was
                // emptied, see `beginWithoutCopies`: there are no copies.
                state.servers[server].begin(after: clock)
            } else if !goesOn {
                reset(server, to: clock, &state)
                return (clock, true)
            }
            return (state.servers[server].processed, false)
        }
    }

    /// Applies commits of a server, in order.
    ///
    /// - Parameter entries: The commits.
    /// - Returns: Nil if commits are missing between the last one and `entries`; otherwise the names
    ///   that other hosts have changed.
    func apply(
        _ entries: [ChangeEntry], of server: Int
    ) -> [SharedName]? {
        let (foreign, waiters) = state.withLock { state -> ([SharedName]?, [Waiter]) in
            // First of all: the commits before a gap would count as processed while their names are
            // not outdated yet.
            var last = state.servers[server].processed
            for entry in entries {
                // A server without a commit has no number yet.
                guard entry.clock == last + 1 || last == 0 else { return (nil, []) }
                last = entry.clock
            }
            var changed: [SharedName] = []
            var foreign: [SharedName] = []
            for entry in entries {
                let isNoted = state.servers[server].process(entry.clock, entry.version)
                for name in entry.names {
                    // An own commit may be noted before those that precede it.
                    state.recent[name] = max(state.recent[name] ?? 0, entry.clock)
                    state.order.append((server, entry.clock, name))
                }
                let isOwn =
                    state.servers[server].ownVersions.remove(entry.version) != nil
                if !isOwn { foreign += entry.names }
                if !isNoted { changed += entry.names }
            }
            if !entries.isEmpty { forget(&state) }
            if !changed.isEmpty {
                recentWrites.remove(changed)
                expect(near.outdate(shared: Set(changed)), [server], &state)
            }
            if !foreign.isEmpty { statistics.add(\.changesReceived, foreign.count) }
            return (foreign, takeWaiters(&state))
        }
        for waiter in waiters { waiter.continuation.resume(returning: true) }
        return foreign
    }

    /// Notes that the host knew of all commits of a server at a moment.
    ///
    /// - Parameter runIdentifier: The server's process, as it named itself. That of the follower may
    ///   be another one.
    func confirm(_ server: Int, _ clock: UInt64, runIdentifier: String, at moment: Moment) {
        state.withLock { state in
            let known = state.servers[server]
            guard known.isFollowed, !known.mustOutdateCopies, !known.hasLostCommits,
                known.runIdentifier == runIdentifier, clock <= known.applied
            else { return }
            state.servers[server].confirmed = max(known.confirmed ?? moment, moment)
            publishAge(state)
        }
    }

    /// Returns the last commit that the host knows of a server, and the epoch: taken before the
    /// server is asked, for `noteLoss`.
    func known(of server: Int) -> (clock: UInt64, epoch: Int) {
        state.withLock { ($0.servers[server].applied, $0.servers[server].epoch) }
    }

    /// Distrusts the copies of a server whose last commit has a smaller number than a commit that
    /// the host knew when it asked: the server has lost its memory, or an older one was put in its
    /// place. The follower then has to reset it.
    ///
    /// - Returns: Whether the server has lost commits.
    func noteLoss(
        of server: Int, _ clock: UInt64, runIdentifier: String,
        after known: (clock: UInt64, epoch: Int)
    ) -> Bool {
        state.withLock { state in
            let followed = state.servers[server]
            guard !followed.hasLostCommits else { return true }
            guard followed.isFollowed, followed.runIdentifier == runIdentifier,
                followed.epoch == known.epoch, clock < known.clock
            else { return false }
            state.servers[server].hasLostCommits = true
            distrustCopies(of: server, &state)
            return true
        }
    }

    /// Whether a server has lost commits, and the follower has to reset it.
    func hasLostCommits(_ server: Int) -> Bool {
        state.withLock { $0.servers[server].hasLostCommits }
    }

    /// Resets a server, because commits are missing. The follower then has to call `outdateCopies`.
    func reset(_ server: Int, to clock: UInt64) {
        let waiters = state.withLock { state in
            reset(server, to: clock, &state)
            // What they wait for may be a commit of before.
            return takeWaiters(&state) { $0.server == server }
        }
        for waiter in waiters { waiter.continuation.resume(returning: false) }
    }

    /// From here on, no copy of the server is current, and no copy fetched earlier is restored.
    private func reset(_ server: Int, to clock: UInt64, _ state: inout State) {
        state.servers[server].begin(after: clock)
        distrustCopies(of: server, &state)
        state.order.removeFirst(state.forgotten)
        state.forgotten = 0
        state.order.removeAll { $0.server == server }
        state.recent = [:]
        for change in state.order {
            state.recent[change.name] = max(state.recent[change.name] ?? 0, change.clock)
        }
        recentWrites.removeAll()
        statistics.add(\.resets, 1)
    }

    /// Lets no copy of a server count as current until `outdateCopies` has succeeded.
    private func distrustCopies(of server: Int, _ state: inout State) {
        state.servers[server].epoch += 1
        state.servers[server].mustOutdateCopies = true
        state.servers[server].confirmed = nil
        publishAge(state)
    }

    /// Makes all copies of a server outdated that were restored before its last reset. Blocks the
    /// thread of the follower, for about a microsecond for each copy of any server. Until it has
    /// succeeded, no copy of the server counts as current. Those of other servers do.
    ///
    /// - Parameter isOnServer: Whether a record is on the server.
    /// - Returns: False if the near cache has failed; to be called again.
    @discardableResult
    func outdateCopies(of server: Int, where isOnServer: (SharedName) -> Bool) -> Bool {
        let epoch = epochs[server]
        let isDone: Bool
        do {
            try near.outdateShared(where: isOnServer)
            isDone = true
        } catch {
            // A damaged copy hides its server, so the copies of all are removed.
            isDone = (try? near.removeAll().wait()) != nil
        }
        // A change of copies may have failed meanwhile: then all are outdated once more.
        state.withLock { state in
            if isDone, state.servers[server].epoch == epoch {
                state.servers[server].mustOutdateCopies = false
            }
        }
        return isDone
    }

    /// Whether the follower of a server has to call `outdateCopies`: after a reset, or because a
    /// change of copies has failed.
    func mustOutdateCopies(of server: Int) -> Bool {
        state.withLock { $0.servers[server].mustOutdateCopies }
    }

    /// Notes a change of copies. The next heartbeat of the servers waits for it.
    ///
    /// - Parameter names: What to make outdated if the change fails.
    private func expect(
        _ ticket: WriteTicket, _ servers: Set<Int>, orOutdate names: [SharedName] = [],
        _ state: inout State
    ) {
        for server in servers {
            if state.servers[server].pending.count >= Self.pendingLimit {
                state.servers[server].pending.removeAll { change in
                    if case .success? = change.ticket.result { true } else { false }
                }
            }
            state.servers[server].pending.append(
                FollowedServer.PendingChange(ticket: ticket, names: names))
        }
    }

    /// Waits until the near cache has replaced or outdated all copies that it was told to. Returns
    /// false if it has failed: then no copy of the server is current until `outdateCopies`
    /// succeeds.
    func hasOutdatedCopies(of server: Int) async -> Bool {
        let pending = state.withLock { $0.servers[server].pending }
        var haveSucceeded = true
        for change in pending where haveSucceeded {
            haveSucceeded = await hasSucceeded(change)
        }
        let ended = Set(pending.map { ObjectIdentifier($0.ticket) })
        state.withLock { state in
            if !haveSucceeded { distrustCopies(of: server, &state) }
            state.servers[server].pending.removeAll { ended.contains(ObjectIdentifier($0.ticket)) }
        }
        return haveSucceeded
    }

    private func hasSucceeded(_ change: FollowedServer.PendingChange) async -> Bool {
        if (try? await change.ticket.committed) != nil { return true }
        guard !change.names.isEmpty else { return false }
        return (try? await near.outdate(shared: change.names).committed) != nil
    }

    /// Notes a server that can't be reached, and ends all waits for it.
    func stopFollowing(_ server: Int) {
        let waiters = state.withLock { state in
            state.servers[server].isFollowed = false
            // The follower may never see their commits, and would never remove them.
            state.servers[server].ownVersions = []
            return takeWaiters(&state) { $0.server == server }
        }
        for waiter in waiters { waiter.continuation.resume(returning: false) }
    }

    /// Ends waits that have lasted too long. A task of each follower calls it again and again.
    func endLateWaits() {
        let now = Moment.now
        let waiters = state.withLock { takeWaiters(&$0) { $0.deadline <= now } }
        for waiter in waiters { waiter.continuation.resume(returning: false) }
    }

    /// Forgets the oldest changes, if there are too many.
    private func forget(_ state: inout State) {
        let excess = state.order.count - state.forgotten - Self.recentLimit
        guard excess > 0 else { return }
        for index in state.forgotten..<state.forgotten + excess {
            let (server, clock, name) = state.order[index]
            state.servers[server].windowStart = max(state.servers[server].windowStart, clock)
            if state.recent[name] == clock { state.recent[name] = nil }
        }
        state.forgotten += excess
        if state.forgotten > Self.recentLimit {
            state.order.removeFirst(state.forgotten)
            state.forgotten = 0
        }
    }

    /// Takes the waits that have come to their end.
    private func takeWaiters(_ state: inout State) -> [Waiter] {
        guard !state.waiters.isEmpty else { return [] }
        let servers = state.servers
        return takeWaiters(&state) { $0.clock <= servers[$0.server].applied }
    }

    private func takeWaiters(
        _ state: inout State, where isEnded: (Waiter) -> Bool
    ) -> [Waiter] {
        defer { state.waiters.removeAll(where: isEnded) }
        return state.waiters.filter(isEnded)
    }

    // MARK: Copies

    /// The epoch of each server. Callers take it before they ask the servers.
    var epochs: [Int] { state.withLock { $0.servers.map(\.epoch) } }

    /// Waits until the near cache knows of all commits up to one of a server. Returns false if the
    /// follower does not come so far in time.
    func wait(
        for clock: UInt64, of server: Int, atMost limit: Duration = waitLimit
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            let known: Bool? = state.withLock { state in
                if state.servers[server].applied >= clock { return true }
                guard state.servers[server].isFollowed else { return false }
                state.waiters.append(
                    Waiter(
                        server: server, clock: clock, deadline: Moment.now + limit,
                        continuation: continuation))
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Puts fetched records into the near cache, once the follower is as far as they are.
    ///
    /// - Parameter waits: Whether to return only when they are stored.
    /// - Returns: How many of them are near: not those that have changed meanwhile, and none if the
    ///   follower does not come so far.
    @discardableResult
    func restore(_ copies: [Copy], waitingForCommit waits: Bool = false) async -> Int {
        for server in Set(copies.map(\.server)) {
            let latest = copies.reduce(0) { $1.server == server ? max($0, $1.clock) : $0 }
            guard await wait(for: latest, of: server) else { return 0 }
        }
        let (count, ticket) = state.withLock { state in restore(copies, &state) }
        guard waits else { return count }
        return (try? await ticket.committed) == nil ? 0 : count
    }

    /// Notes that this host is about to commit a version on a server, so that the follower does not
    /// take the commit for that of another host.
    ///
    /// - Returns: The epoch of the server.
    func announce(_ version: RecordVersion, on server: Int) -> Int {
        state.withLock { state in
            if state.servers[server].isFollowed {
                state.servers[server].ownVersions.insert(version)
            }
            return state.servers[server].epoch
        }
    }

    /// Notes that an announced commit has failed, or may have failed.
    func retract(_ version: RecordVersion, on server: Int) {
        state.withLock { _ = $0.servers[server].ownVersions.remove(version) }
    }

    /// Notes a commit of this host: from now on no read returns older copies of its records. Does
    /// not wait.
    ///
    /// If the near cache knows of all commits before this one, it gets the records at once, and the
    /// follower skips the commit. If not, it gets them as outdated copies, which reads accept that
    /// accept expired records; they count as fresh when the follower has come so far.
    ///
    /// - Parameter copies: The records of the commit.
    func note(ownCommit copies: [Copy]) {
        guard let first = copies.first else { return }
        let (isLater, waiters) = state.withLock { state -> (Bool, [Waiter]) in
            remember(copies.lazy.map { ($0.name, $0.server, $0.clock) }, &state)
            let isFollowed =
                state.servers[first.server].isFollowed && isOfFollowedProcess(first, state)
            let isKnown =
                isFollowed
                && state.servers[first.server].note(first.clock, first.record.version)
            replace(copies, isOutdated: !isKnown, on: first.server, &state)
            return (isFollowed && !isKnown, takeWaiters(&state))
        }
        for waiter in waiters { waiter.continuation.resume(returning: true) }
        if isLater { restoreLater(copies) }
    }

    /// Puts the records of a commit of this host in the place of older copies.
    private func replace(
        _ copies: [Copy], isOutdated: Bool, on server: Int, _ state: inout State
    ) {
        let names = copies.map(\.name)
        // The near cache may refuse large records, and has none for deleted keys and collections.
        let isSafe =
            copies.reduce(0) { $0 + $1.record.byteCount } <= smallCommit
            && !copies.contains(where: \.record.isTombstone)
        if !isSafe { expect(near.outdate(shared: names), [server], &state) }
        guard isSafe || !isOutdated else { return }
        let (count, ticket) = restore(copies, isOutdated: isOutdated, &state)
        guard isSafe else { return }
        if count == copies.count {
            expect(ticket, [server], orOutdate: names, &state)
        } else {
            // The host knows of newer commits.
            expect(near.outdate(shared: names), [server], &state)
        }
    }

    /// Puts the records of a commit of this host into the near cache when the follower has come so
    /// far. Beyond `waitingLimit` such commits, their copies stay outdated.
    private func restoreLater(_ copies: [Copy]) {
        guard waitingCommits.add(1, ordering: .relaxed).newValue <= Self.waitingLimit else {
            waitingCommits.subtract(1, ordering: .relaxed)
            return
        }
        Task.detached {
            await self.restore(copies)
            self.waitingCommits.subtract(1, ordering: .relaxed)
        }
    }

    /// Notes records that a write of this host has left as they were, because the servers had the
    /// same: from now on no read returns older copies of them.
    func note(unchanged names: [(name: SharedName, server: Int, clock: UInt64)]) {
        state.withLock { state in
            let unknown = names.filter { $0.clock > state.servers[$0.server].applied }
            guard !unknown.isEmpty else { return }
            remember(unknown, &state)
            expect(
                near.outdate(shared: unknown.map(\.name)), Set(unknown.map(\.server)), &state)
        }
    }

    /// Remembers commits of which the follower may not have heard, so that no older copy of their
    /// records is restored from now on.
    private func remember(
        _ changes: some Sequence<(name: SharedName, server: Int, clock: UInt64)>,
        _ state: inout State
    ) {
        for (name, server, clock) in changes
        where state.recent[name].map({ $0 < clock }) ?? true {
            state.recent[name] = clock
            state.order.append((server, clock, name))
        }
        forget(&state)
    }

    private func restore(
        _ copies: [Copy], isOutdated: Bool = false, _ state: inout State
    ) -> (count: Int, ticket: WriteTicket) {
        let current = copies.filter { copy in
            isOfFollowedProcess(copy, state) && copy.clock >= state.servers[copy.server].windowStart
                && state.recent[copy.name].map { $0 <= copy.clock } ?? true
        }
        let ticket = near.restore(
            shared: current.lazy.map { ($0.name, $0.record) }, isOutdated: isOutdated)
        for copy in current where copy.record.isTombstone { deleteEntry(copy.name) }
        return (current.count, ticket)
    }

    /// Whether the process that is followed has given a copy, and nothing was reset since then.
    private func isOfFollowedProcess(_ copy: Copy, _ state: borrowing State) -> Bool {
        let server = state.servers[copy.server]
        return copy.epoch == server.epoch && copy.runIdentifier == server.runIdentifier
    }

    /// Deletes the copy of a key or a collection that servers do not have any more.
    private func deleteEntry(_ name: SharedName) {
        switch name.kind {
        case .node: break
        case .key: near.deleteModel(forKey: name.identifier)
        case .collection, .segment: near.deleteCollection(forKey: name.identifier)
        }
    }

    /// Makes copies of a server's records outdated that this host may have changed.
    func outdate(_ names: [SharedName], on server: Int) {
        state.withLock { expect(near.outdate(shared: names), [server], &$0) }
        recentWrites.remove(names)
    }

    // MARK: Positions

    /// Returns up to which commits the copies are current, once the near cache has committed all
    /// that it was told; nil while some are to be made outdated, or if a change of copies has
    /// failed.
    func position(of names: [String]) -> NearFile.Position? {
        state.withLock { state in
            let hasFailed = state.servers.contains { server in
                server.mustOutdateCopies
                    || server.pending.contains { change in
                        if case .failure? = change.ticket.result { true } else { false }
                    }
            }
            guard !hasFailed else { return nil }
            return NearFile.Position(
                servers: zip(names, state.servers).map {
                    .init(name: $0, runIdentifier: $1.runIdentifier, processed: $1.processed)
                })
        }
    }

    /// Notes that the near cache is being emptied. No copy counts as current before that has
    /// succeeded.
    func beginWithoutCopies(_ emptied: WriteTicket) {
        state.withLock { state in
            expect(emptied, Set(state.servers.indices), &state)
        }
    }

    /// Goes on from where an earlier process was.
    func resume(at position: NearFile.Position) {
        state.withLock { state in
            for (index, server) in position.servers.enumerated() {
                state.servers[index].runIdentifier = server.runIdentifier
                state.servers[index].begin(after: server.processed)
            }
        }
    }
}

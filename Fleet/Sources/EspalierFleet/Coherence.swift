import EspalierRecords
import EspalierSharedRecords
import EspalierStore
import Foundation
import Synchronization

/// A moment of a clock that goes on while the process or the machine stands still, in nanoseconds.
struct Moment: Comparable, Hashable, Sendable {
    let nanoseconds: Int

    static var now: Moment {
        var time = timespec()
        #if canImport(Darwin)
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        #else
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return Moment(nanoseconds: Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec))
    }

    static func < (a: Moment, b: Moment) -> Bool { a.nanoseconds < b.nanoseconds }

    static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(nanoseconds: moment.nanoseconds + duration.nanoseconds)
    }

    static func - (a: Moment, b: Moment) -> Duration { .nanoseconds(a.nanoseconds - b.nanoseconds) }
}

extension Duration {
    /// Whole nanoseconds.
    var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }

    /// Whole milliseconds.
    var milliseconds: Int { nanoseconds / 1_000_000 }
}

/// Knows how current a host's copies are. All changes of copies go through it.
///
/// Each server numbers its commits. A follower hands on the names that each commit changed, in
/// order: `processed` is the last of them. A commit of this host that follows it is *noted* at once.
/// The near cache has what all commits up to `applied` have changed, or counts it as outdated.
///
///     server     1  2  3  4  5  6  7         the last commit is 7
///     follower   1  2  3                     processed: 3
///     noted               4                  applied: 4
///     fetched             4                  may be restored
///     fetched                  5             waits: commit 5 may have changed another copy, too
///     fetched       2                        may be restored unless 3 or 4 changed it
///     own                         6          makes its copies outdated, and waits, too
///
/// A gap in a server's changes *resets* it: its copies become outdated, and those of other servers
/// stay. Meanwhile no tree with a record of that server counts as current. The same happens if the
/// near cache fails to make copies outdated.
///
/// What must never happen: that a copy is restored over a newer state that the follower has told
/// of. So names become outdated, and copies are restored, under one lock, and a copy is restored
/// only if no applied commit after its fetch has changed it. Nor may a read return a copy that this
/// host has replaced: before a write ends, the near cache has the new records, or counts the copies
/// as outdated. What may be lost is a copy: its next read fetches it again. A wait for the follower
/// ends after `waitLimit`, and when its server can't be reached.
final class Coherence: Sendable {
    /// A server as its follower sees it.
    private struct Server {
        var isFollowed = false
        /// How often the server's copies were distrusted. A copy that was fetched before that is not
        /// restored after it: the server may give out the same numbers again.
        var epoch = 0
        /// Whether the follower has to make its copies outdated. Until then they look fresh.
        var mustOutdateCopies = false
        /// Changes of copies that the near cache may not have committed.
        var pending: [PendingChange] = []
        /// The last commit that the follower has handed on.
        var processed: UInt64 = 0
        /// The last commit such that the near cache knows of it and of all before it.
        var applied: UInt64 = 0
        /// Changes up to this commit may be missing in `recent`.
        var windowStart: UInt64 = 0
        var runIdentifier = ""
        /// Noted commits of this host that the follower has not processed.
        var own: Set<UInt64> = []
        /// The versions of own commits that the follower has not processed.
        var ownVersions: Set<RecordVersion> = []
        /// The last moment at which the host knew all of the server's commits.
        var confirmed: Moment?

        /// Notes a commit of this host.
        mutating func note(_ clock: UInt64) {
            if clock > processed { own.insert(clock) }
            advance()
        }

        /// Notes that the follower has handed on a commit. Returns whether it was noted before.
        mutating func process(_ clock: UInt64) -> Bool {
            processed = clock
            advance()
            return own.remove(clock) != nil
        }

        private mutating func advance() {
            applied = max(applied, processed)
            while own.contains(applied + 1) { applied += 1 }
        }
    }

    /// A change of copies that must not fail: on a full disk, older copies would look fresh for
    /// ever.
    private struct PendingChange {
        let ticket: WriteTicket
        /// The records of copies that are to become outdated if the change fails.
        var names: [SharedName] = []
    }

    private struct Waiter {
        let server: Int
        let clock: UInt64
        let deadline: Moment
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var servers: [Server]
        /// The last applied or own commit that changed each name.
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
    /// The earliest `confirmed` of all servers; -1 for none.
    private let confirmedAt = Atomic<Int>(-1)

    /// The most names in `recent`.
    private static let recentLimit = 50_000
    /// The most changes that are noted for the next heartbeat. Beyond that, those are forgotten that
    /// have succeeded.
    private static let pendingLimit = 1_000
    /// Up to how many bytes the records of a commit are put in the place of older copies in one
    /// step. The near cache may refuse larger ones.
    private static let smallCommit = 16_384
    static let waitLimit = Duration.milliseconds(300)

    init(
        servers: Int, near: NormalizedCache, _ recentWrites: RecentWrites,
        _ statistics: FleetCounters
    ) {
        state = Mutex(State(servers: Array(repeating: Server(), count: servers)))
        self.near = near
        self.recentWrites = recentWrites
        self.statistics = statistics
    }

    // MARK: Age

    /// Whether the host knew the commits of all servers at most `limit` nanoseconds ago.
    @inline(__always)
    func isCurrent(within limit: Int) -> Bool {
        let confirmed = confirmedAt.load(ordering: .acquiring)
        return confirmed >= 0 && Moment.now.nanoseconds - confirmed <= limit
    }

    /// Whether the host knew the commits of each of these servers at most `limit` nanoseconds ago.
    func areCurrent(_ servers: Set<Int>, within limit: Int) -> Bool {
        let earliest = state.withLock { state in
            servers.map { state.servers[$0].confirmed?.nanoseconds ?? .min }.min() ?? .min
        }
        return earliest >= 0 && Moment.now.nanoseconds - earliest <= limit
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
                && (known.processed > 0 || clock == 0)
            state.servers[server].isFollowed = true
            state.servers[server].runIdentifier = runIdentifier
            if known.runIdentifier.isEmpty {
                // Nothing is restored before its server is followed, so there are no copies yet.
                state.servers[server].processed = clock
                state.servers[server].applied = clock
                state.servers[server].windowStart = clock
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
            var changed: [SharedName] = []
            var foreign: [SharedName] = []
            for entry in entries {
                let last = state.servers[server].processed
                // A server without a commit has no number yet.
                guard entry.clock == last + 1 || last == 0 else { return (nil, []) }
                let isNoted = state.servers[server].process(entry.clock)
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
            guard known.isFollowed, !known.mustOutdateCopies, known.runIdentifier == runIdentifier,
                clock <= known.applied
            else { return }
            state.servers[server].confirmed = max(known.confirmed ?? moment, moment)
            publishAge(state)
        }
    }

    /// Resets a server, because commits are missing. The follower then has to call `outdateCopies`.
    func reset(_ server: Int, to clock: UInt64) {
        let waiters = state.withLock { state in
            reset(server, to: clock, &state)
            // What they wait for may be a commit of before.
            defer { state.waiters.removeAll { $0.server == server } }
            return state.waiters.filter { $0.server == server }
        }
        for waiter in waiters { waiter.continuation.resume(returning: false) }
    }

    /// From here on, no copy of the server is current, and no copy fetched earlier is restored.
    private func reset(_ server: Int, to clock: UInt64, _ state: inout State) {
        state.servers[server].processed = clock
        state.servers[server].applied = clock
        state.servers[server].windowStart = clock
        state.servers[server].own = []
        state.servers[server].ownVersions = []
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
            state.servers[server].pending.append(PendingChange(ticket: ticket, names: names))
        }
    }

    /// Waits until the near cache has replaced or outdated all copies that it was told to. Returns
    /// false if it has failed: then no copy of the server is current until `outdateCopies` succeeds.
    func hasOutdatedCopies(of server: Int) async -> Bool {
        let pending = state.withLock { state in
            defer { state.servers[server].pending = [] }
            return state.servers[server].pending
        }
        for change in pending where await !hasSucceeded(change) {
            state.withLock { distrustCopies(of: server, &$0) }
            return false
        }
        return true
    }

    private func hasSucceeded(_ change: PendingChange) async -> Bool {
        if (try? await change.ticket.committed) != nil { return true }
        guard !change.names.isEmpty else { return false }
        return (try? await near.outdate(shared: change.names).committed) != nil
    }

    /// Notes a server that can't be reached, and ends all waits for it.
    func lose(_ server: Int) {
        let waiters = state.withLock { state in
            state.servers[server].isFollowed = false
            defer { state.waiters.removeAll { $0.server == server } }
            return state.waiters.filter { $0.server == server }
        }
        for waiter in waiters { waiter.continuation.resume(returning: false) }
    }

    /// Ends waits that have lasted too long. A task of each follower calls it again and again.
    func endLateWaits() {
        let now = Moment.now
        let waiters = state.withLock { state in
            defer { state.waiters.removeAll { $0.deadline <= now } }
            return state.waiters.filter { $0.deadline <= now }
        }
        for waiter in waiters { waiter.continuation.resume(returning: false) }
    }

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

    private func takeWaiters(_ state: inout State) -> [Waiter] {
        guard !state.waiters.isEmpty else { return [] }
        let servers = state.servers
        defer { state.waiters.removeAll { $0.clock <= servers[$0.server].applied } }
        return state.waiters.filter { $0.clock <= servers[$0.server].applied }
    }

    // MARK: Copies

    /// A record for the near cache: the state of its server after the commit `clock`.
    struct Copy: Sendable {
        let name: SharedName
        let record: SharedRecord
        let server: Int
        let clock: UInt64
        /// The epoch of the server before it was asked.
        let epoch: Int
    }

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
    /// - Returns: How many of them are near: not those that have changed meanwhile, and none if the
    ///   follower does not come so far.
    @discardableResult
    func restore(_ copies: [Copy]) async -> Int {
        for server in Set(copies.map(\.server)) {
            let latest = copies.reduce(0) { $1.server == server ? max($0, $1.clock) : $0 }
            guard await wait(for: latest, of: server) else { return 0 }
        }
        return state.withLock { state in restore(copies, &state).count }
    }

    /// Notes that this host is about to commit a version on a server, so that the follower does not
    /// take the commit for that of another host.
    func announce(_ version: RecordVersion, on server: Int) {
        state.withLock { _ = $0.servers[server].ownVersions.insert(version) }
    }

    /// Notes that an announced commit has failed, or may have failed.
    func retract(_ version: RecordVersion, on server: Int) {
        state.withLock { _ = $0.servers[server].ownVersions.remove(version) }
    }

    /// Notes a commit of this host: from now on no read returns older copies of its records. Does
    /// not wait.
    ///
    /// If the near cache knows of all commits before this one, it gets the records at once. If not,
    /// their copies become outdated, and it gets the records when the follower has come so far, which
    /// skips the commit in either case.
    ///
    /// - Parameters:
    ///   - copies: The records of the commit.
    ///   - byteCount: How long they are.
    func note(ownCommit copies: [Copy], byteCount: Int) {
        guard let first = copies.first else { return }
        let (isRestored, waiters) = state.withLock { state -> (Bool, [Waiter]) in
            let server = state.servers[first.server]
            guard server.isFollowed, server.epoch == first.epoch else {
                outdate(copies, &state)
                return (false, [])
            }
            state.servers[first.server].note(first.clock)
            guard first.clock <= state.servers[first.server].applied else {
                outdate(copies, &state)
                return (false, [])
            }
            replace(copies, byteCount, on: first.server, &state)
            return (true, takeWaiters(&state))
        }
        for waiter in waiters { waiter.continuation.resume(returning: true) }
        if !isRestored { Task.detached { await self.restore(copies) } }
    }

    /// Puts the records of a commit of this host in the place of older copies.
    private func replace(
        _ copies: [Copy], _ byteCount: Int, on server: Int, _ state: inout State
    ) {
        // Deleted keys and collections are no records of the near cache.
        guard byteCount <= Self.smallCommit, !copies.contains(where: \.record.isTombstone) else {
            outdate(copies, &state)
            _ = restore(copies, &state)
            return
        }
        remember(copies, &state)
        let names = copies.map(\.name)
        let (count, ticket) = restore(copies, &state)
        if count == copies.count {
            expect(ticket, [server], orOutdate: names, &state)
        } else {
            // The follower has already told of newer commits.
            expect(near.outdate(shared: names), [server], &state)
        }
    }

    /// Remembers a commit of this host, of which the follower has not heard, so that no older copy
    /// of its records is restored from now on.
    private func remember(_ copies: [Copy], _ state: inout State) {
        for copy in copies
        where copy.epoch == state.servers[copy.server].epoch
            && state.recent[copy.name].map({ $0 < copy.clock }) ?? true
        {
            state.recent[copy.name] = copy.clock
            state.order.append((copy.server, copy.clock, copy.name))
        }
    }

    private func restore(
        _ copies: [Copy], _ state: inout State
    ) -> (count: Int, ticket: WriteTicket) {
        let current = copies.filter { copy in
            copy.epoch == state.servers[copy.server].epoch
                && copy.clock >= state.servers[copy.server].windowStart
                && state.recent[copy.name].map { $0 <= copy.clock } ?? true
        }
        let ticket = near.restore(shared: current.lazy.map { ($0.name, $0.record) })
        for copy in current where copy.record.isTombstone { deleteEntry(copy.name) }
        return (current.count, ticket)
    }

    /// Deletes the copy of a key or a collection that servers do not have any more.
    private func deleteEntry(_ name: SharedName) {
        switch name.kind {
        case .node: break
        case .key: near.deleteModel(forKey: name.identifier)
        case .collection, .segment: near.deleteCollection(forKey: name.identifier)
        }
    }

    /// Makes copies outdated that a commit of this host has replaced.
    private func outdate(_ copies: [Copy], _ state: inout State) {
        remember(copies, &state)
        expect(near.outdate(shared: copies.map(\.name)), Set(copies.map(\.server)), &state)
    }

    /// Makes copies of a server's records outdated that this host may have changed.
    func outdate(_ names: [SharedName], on server: Int) {
        state.withLock { expect(near.outdate(shared: names), [server], &$0) }
        recentWrites.remove(names)
    }

    // MARK: Positions

    /// Returns up to which commits the copies are current; nil while some are to be
    /// made outdated.
    func position(of names: [String]) -> NearFile.Position? {
        state.withLock { state in
            guard !state.servers.contains(where: \.mustOutdateCopies) else { return nil }
            return NearFile.Position(
                servers: zip(names, state.servers).map {
                    .init(name: $0, runIdentifier: $1.runIdentifier, processed: $1.processed)
                })
        }
    }

    /// Goes on from where an earlier process was.
    func resume(at position: NearFile.Position) {
        state.withLock { state in
            for (index, server) in position.servers.enumerated() {
                state.servers[index].runIdentifier = server.runIdentifier
                state.servers[index].processed = server.processed
                state.servers[index].applied = server.processed
                state.servers[index].windowStart = server.processed
            }
        }
    }
}

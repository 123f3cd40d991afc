import EspalierRecords
import EspalierSharing
import EspalierStore
import Foundation
import Synchronization

/// How current the copies of a host are, and the one place where they change.
///
/// Each server numbers its commits. A follower hands on the names that each commit changed, in
/// order. `processed` is the last commit of a server whose names the near cache counts as outdated.
///
///     server     1  2  3  4  5  6            the last commit is 6
///     follower   1  2  3  4                  processed: 4
///     fetched             4                  may be restored
///     fetched                  5             waits: commit 5 may have changed another copy, too
///     fetched       2                        may be restored unless 3 or 4 changed it
///
/// What must never happen: that a copy is restored over a newer state that the follower has told
/// of. So names become outdated, and copies are restored, under one lock, and a copy is restored
/// only if no processed commit after its fetch has changed it. What may be lost is a copy: its next
/// read fetches it again. A wait for the follower ends after `waitLimit`, and when its server can't
/// be reached.
final class Coherence: Sendable {
    /// A server as its follower sees it.
    private struct Server {
        var isFollowed = false
        var processed: UInt64 = 0
        /// Changes before this commit are not in `recent` any more.
        var windowStart: UInt64 = 0
        var runIdentifier = ""
        /// The last moment at which the host knew all of the server's commits.
        var confirmed: ContinuousClock.Instant?
    }

    private struct Waiter {
        let server: Int
        let clock: UInt64
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var servers: [Server]
        /// The last processed commit that changed each name.
        var recent: [SharedName: UInt64] = [:]
        /// The same names in the order in which they came, to forget the oldest.
        var order: [(server: Int, clock: UInt64, name: SharedName)] = []
        var forgotten = 0
        var waiters: [Waiter] = []
        /// Nodes that were deleted in the near cache. Trees there refer to tombstones, which stay
        /// deleted if another host writes the node again.
        var deleted: Set<SharedName> = []
    }
    private let state: Mutex<State>
    private let near: NormalizedCache
    private let files: NearFiles?
    private let statistics: FleetCounters
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    /// The earliest `confirmed` of all servers, in nanoseconds since `start`; -1 for none.
    private let confirmedAt = Atomic<Int>(-1)
    /// How often all copies were thrown away.
    private let resets = Atomic<Int>(0)

    /// The most names in `recent`.
    private static let recentLimit = 50_000
    /// The most names in `deleted`.
    private static let deletedLimit = 10_000
    static let waitLimit = Duration.milliseconds(300)

    /// - Parameter files: Where it is kept what a later process has to know; nil for nowhere.
    init(
        servers: Int, near: NormalizedCache, files: NearFiles?, _ statistics: FleetCounters
    ) {
        state = Mutex(State(servers: Array(repeating: Server(), count: servers)))
        self.near = near
        self.files = files
        self.statistics = statistics
        start = clock.now
    }

    // MARK: Age

    /// How long ago the host last knew the commits of all servers; nil if it never did.
    var age: Duration? {
        let confirmed = confirmedAt.load(ordering: .acquiring)
        guard confirmed >= 0 else { return nil }
        return start.duration(to: clock.now) - .nanoseconds(confirmed)
    }

    /// Whether every server is followed, and how current each one is.
    var servers: [(isFollowed: Bool, processed: UInt64, confirmed: ContinuousClock.Instant?)] {
        state.withLock { $0.servers.map { ($0.isFollowed, $0.processed, $0.confirmed) } }
    }

    private func publishAge(_ state: borrowing State) {
        var earliest = Int.max
        for server in state.servers {
            guard let confirmed = server.confirmed else {
                confirmedAt.store(-1, ordering: .releasing)
                return
            }
            let (seconds, attoseconds) = start.duration(to: confirmed).components
            earliest = min(earliest, Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
        }
        confirmedAt.store(max(0, earliest), ordering: .releasing)
    }

    // MARK: What a follower tells

    /// Begins to follow a server. Throws all copies away unless the follower can go on after the
    /// last processed commit.
    ///
    /// - Returns: The commit after which to go on.
    func follow(_ server: Int, runIdentifier: String, clock: UInt64) -> UInt64 {
        state.withLock { state in
            let known = state.servers[server]
            let goesOn =
                known.runIdentifier == runIdentifier && known.processed <= clock
                && known.processed > 0
            state.servers[server].isFollowed = true
            state.servers[server].runIdentifier = runIdentifier
            if known.runIdentifier.isEmpty {
                // Nothing is restored before its server is followed, so there are no copies yet.
                state.servers[server].processed = clock
                state.servers[server].windowStart = clock
            } else if !goesOn {
                reset(server, to: clock, &state)
            }
            return state.servers[server].processed
        }
    }

    /// Applies commits of a server, in order.
    ///
    /// - Parameters:
    ///   - entries: The commits.
    ///   - moment: A moment at which the server had no further commits; nil if it may have had.
    /// - Returns: False if commits are missing between the last one and `entries`.
    func apply(
        _ entries: [ChangeEntry], of server: Int, confirmedAt moment: ContinuousClock.Instant?
    ) -> Bool {
        let (isWhole, waiters) = state.withLock { state -> (Bool, [Waiter]) in
            var changed: [SharedName] = []
            for entry in entries {
                let last = state.servers[server].processed
                // A server without a commit has no number yet.
                guard entry.clock == last + 1 || last == 0 else { return (false, []) }
                state.servers[server].processed = entry.clock
                for name in entry.names {
                    state.recent[name] = entry.clock
                    state.order.append((server, entry.clock, name))
                }
                changed += entry.names
            }
            if !changed.isEmpty {
                if !state.deleted.isDisjoint(with: changed) {
                    throwAway(&state)
                } else {
                    near.outdate(shared: Set(changed))
                }
                forget(&state)
                statistics.add(\.changesReceived, changed.count)
            }
            if let moment { state.servers[server].confirmed = moment }
            publishAge(state)
            return (true, takeWaiters(&state))
        }
        for waiter in waiters { waiter.continuation.resume(returning: true) }
        return isWhole
    }

    /// Notes that changes of a server can't be followed up: throws all copies away.
    func reset(_ server: Int, to clock: UInt64) {
        state.withLock { reset(server, to: clock, &$0) }
    }

    private func reset(_ server: Int, to clock: UInt64, _ state: inout State) {
        state.servers[server].processed = clock
        state.servers[server].windowStart = clock
        throwAway(&state)
    }

    /// Throws all copies away, and keeps those from being restored that are being fetched.
    private func throwAway(_ state: inout State) {
        for index in state.servers.indices {
            state.servers[index].windowStart = state.servers[index].processed
        }
        state.recent = [:]
        state.order = []
        state.forgotten = 0
        state.deleted = []
        near.removeAll()
        files?.forgetDeleted()
        statistics.add(\.resets, 1)
        resets.add(1, ordering: .relaxed)
    }

    /// Notes that a server can't be followed any more.
    func lose(_ server: Int) {
        let waiters = state.withLock { state in
            state.servers[server].isFollowed = false
            defer { state.waiters.removeAll { $0.server == server } }
            return state.waiters.filter { $0.server == server }
        }
        for waiter in waiters { waiter.continuation.resume(returning: false) }
    }

    /// Ends waits that have lasted too long. Followers call it again and again.
    func endLateWaits() {
        let now = clock.now
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
        defer { state.waiters.removeAll { $0.clock <= servers[$0.server].processed } }
        return state.waiters.filter { $0.clock <= servers[$0.server].processed }
    }

    // MARK: Copies

    /// A record that was fetched: the state of its server after the commit `clock`.
    struct Fetched: Sendable {
        let record: SharedRecord
        let server: Int
        let clock: UInt64
    }

    /// Waits until the follower has processed a commit of a server. Returns false if it does not in
    /// time.
    func wait(for clock: UInt64, of server: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            let known: Bool? = state.withLock { state in
                if state.servers[server].processed >= clock { return true }
                guard state.servers[server].isFollowed else { return false }
                state.waiters.append(
                    Waiter(
                        server: server, clock: clock, deadline: self.clock.now + Self.waitLimit,
                        continuation: continuation))
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Puts fetched records into the near cache, once the follower is as far as they are.
    ///
    /// - Returns: Whether all of them are there.
    @discardableResult
    func restore(_ fetched: [SharedName: Fetched]) async -> Bool {
        guard !fetched.isEmpty else { return true }
        var latest: [Int: UInt64] = [:]
        for copy in fetched.values { latest[copy.server] = max(latest[copy.server] ?? 0, copy.clock) }
        for (server, clock) in latest {
            guard await wait(for: clock, of: server) else { return false }
        }
        return state.withLock { state in
            let current = fetched.filter { name, copy in
                copy.clock >= state.servers[copy.server].windowStart
                    && state.recent[name].map { $0 <= copy.clock } ?? true
            }
            near.restore(shared: current.mapValues(\.record))
            for (name, copy) in current where copy.record.isTombstone { delete(name, &state) }
            return current.count == fetched.count
        }
    }

    private func delete(_ name: SharedName, _ state: inout State) {
        switch name.kind {
        case .node:
            // The file comes first: it may name a node that was not deleted, and never lack one.
            if state.deleted.insert(name).inserted { files?.addDeleted(name.identifier) }
            near.delete(name.identifier)
            if state.deleted.count > Self.deletedLimit { throwAway(&state) }
        case .key: near.deleteModel(forKey: name.identifier)
        case .collection, .segment: near.deleteCollection(forKey: name.identifier)
        }
    }

    /// Makes copies outdated that this host has changed itself, before anybody can read them again.
    func outdate(_ names: [SharedName]) {
        state.withLock { _ in _ = near.outdate(shared: names) }
    }

    // MARK: Positions

    func position(of names: [String]) -> NearFiles.Position {
        state.withLock { state in
            NearFiles.Position(
                servers: zip(names, state.servers).map {
                    .init(name: $0, runIdentifier: $1.runIdentifier, processed: $1.processed)
                })
        }
    }

    /// Goes on from where an earlier process was.
    func resume(at position: NearFiles.Position, deleted: [String]) {
        state.withLock { state in
            for (index, server) in position.servers.enumerated() {
                state.servers[index].runIdentifier = server.runIdentifier
                state.servers[index].processed = server.processed
                state.servers[index].windowStart = server.processed
            }
            state.deleted = Set(deleted.map { SharedName(.node, $0) })
        }
    }
}

/// What a later process has to know to go on with the copies of this one, beside the near cache.
///
///     fleet-position    up to which commit of each server the copies are current; JSON
///     fleet-deleted     the nodes that were deleted near; a JSON string each line
///
/// If a file is missing or can't be read, the later process begins without copies.
struct NearFiles: Sendable {
    struct Position: Codable {
        struct Server: Codable {
            var name: String
            var runIdentifier: String
            var processed: UInt64
        }
        var servers: [Server]
    }

    private let position: URL
    private let deleted: URL

    init(directory: String) {
        position = URL(fileURLWithPath: "\(directory)/fleet-position")
        deleted = URL(fileURLWithPath: "\(directory)/fleet-deleted")
    }

    func save(_ position: Position) {
        guard let data = try? JSONEncoder().encode(position) else { return }
        try? data.write(to: self.position, options: .atomic)
    }

    /// Returns the position of these servers, and the deleted nodes; nil if they are not known.
    func load(_ names: [String]) -> (position: Position, deleted: [String])? {
        guard let data = try? Data(contentsOf: position),
            let position = try? JSONDecoder().decode(Position.self, from: data),
            position.servers.map(\.name) == names
        else { return nil }
        var deleted: [String] = []
        for line in ((try? Data(contentsOf: self.deleted)) ?? Data()).split(separator: 10) {
            guard let name = try? JSONDecoder().decode(String.self, from: line) else { return nil }
            deleted.append(name)
        }
        return (position, deleted)
    }

    func addDeleted(_ identifier: String) {
        guard let line = try? JSONEncoder().encode(identifier) else { return }
        guard let file = try? FileHandle(forWritingTo: deleted) else {
            try? (line + [10]).write(to: deleted)
            return
        }
        defer { try? file.close() }
        _ = try? file.seekToEnd()
        try? file.write(contentsOf: line + [10])
    }

    func forgetDeleted() { try? FileManager.default.removeItem(at: deleted) }

    /// Makes a later process begin without copies.
    func forget() {
        try? FileManager.default.removeItem(at: position)
        forgetDeleted()
    }
}

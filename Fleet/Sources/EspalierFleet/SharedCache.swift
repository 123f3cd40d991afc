import EspalierModels
public import EspalierRecords
import EspalierRedis
import EspalierSharedRecords
public import EspalierStore
public import Foundation
public import Logging
import Synchronization

/// A normalized cache that all hosts of a fleet share: records on Redis servers, and copies in a
/// near cache on each host.
///
/// ```swift
/// let cache = try SharedCache(FleetConfiguration(servers: [RedisAddress(host: "cache-1")]))
/// try await cache.set(feed)                              // on the servers, then near
/// let feed = await cache.read(Feed.self, "Feed:7")       // near, if no host has changed it
/// try await cache.update(Person.self, "Person:1") { person in
///     var person = person
///     person.name = "Ada"
///     return person                                      // on all hosts, in milliseconds
/// }
/// ```
///
/// A read returns a whole tree or says why not. While servers answer, it returns no state that was
/// replaced longer than ``FleetConfiguration/maximumStaleness`` ago. If servers can't be reached,
/// it returns copies for ``FleetConfiguration/staleLimit``, which outcomes mark as expired, and
/// misses after that, and where the host knows that a copy is replaced. The records of a tree that
/// are on one server are those of one moment.
///
/// A write is done when the servers have it. Of two hosts that change the same record, the second
/// merges with what the first has written, by the rules of the type. What a write changes on one
/// server changes in one step.
///
/// A near hit costs what a read of ``NormalizedCache`` costs. A read from servers takes a round
/// trip per level of the tree.
///
/// All functions may be called on any thread, also concurrently.
public final class SharedCache: Sendable {
    /// The near cache. Read statistics and events from it; do not write to it.
    public let near: NormalizedCache
    let configuration: FleetConfiguration
    let servers: Servers
    let coherence: Coherence
    let counters = FleetCounters()
    let recentWrites = RecentWrites()
    let observers = ChangeObservers()
    let calls = OrderedCalls()
    /// What this host asks the network for: a task each.
    let requests = Mutex<[NetworkKey: any Sendable]>([:])
    let clock: HybridClock
    private let followers: [Follower]
    private let flights = Mutex<[FlightKey: Flight]>([:])
    /// Counts the writes of this host that have ended: a read does not join one that began before.
    private let writes = Atomic<Int>(0)
    let isClosed = Atomic<Bool>(false)
    /// The configuration's maximum staleness, in nanoseconds.
    private let stalenessLimit: Int
    private let logger: Logger?
    private let file: NearFile?

    /// Opens the near cache, and begins to follow the servers. Does not wait for them.
    ///
    /// - Parameters:
    ///   - configuration: The servers, and how to use them.
    ///   - logger: Receives what operators should know: servers that can't be reached, changes that
    ///     were missed; nil for nothing.
    /// - Throws: `FleetError.noServers`; `CacheError` if the near cache can't be opened,
    ///   `FleetError.nearInUse` if another host uses it.
    public init(_ configuration: FleetConfiguration, logger: Logger? = nil) throws {
        guard !configuration.servers.isEmpty else { throw FleetError.noServers }
        self.configuration = configuration
        stalenessLimit = configuration.maximumStaleness.nanoseconds
        self.logger = logger
        switch configuration.near {
        case .memory:
            near = try NormalizedCache(inMemory: configuration.nearConfiguration)
            file = nil
        case .directory(let path):
            near = try NormalizedCache(
                directory: path, configuration: configuration.nearConfiguration)
            do {
                file = try NearFile(directory: path)
            } catch {
                near.close()
                throw error
            }
        }
        servers = Servers(configuration, counters)
        coherence = Coherence(
            servers: servers.all.count, near: near, recentWrites, counters,
            limits: configuration.nearConfiguration.limits)
        clock = HybridClock(host: configuration.host, milliseconds: configuration.milliseconds)
        let (servers, coherence, counters, observers) = (servers, coherence, counters, observers)
        followers = servers.all.indices.map { index in
            Follower(servers, index, coherence, observers, configuration, counters, logger)
        }
        resumePosition()
        for follower in followers { follower.start() }
    }

    deinit { close() }

    /// Ends the connections and closes the near cache. Reads then miss, and writes fail.
    public func close() {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        for follower in followers { follower.close() }
        for server in servers.all { server.client.close() }
        let names = servers.all.map(\.name)
        let position = coherence.position(of: names)
        near.close()
        // A change of copies may have failed at the end, for example one that came during the close.
        // The next process then begins without copies, which costs questions and no correctness.
        file?.update(coherence.position(of: names) == nil ? nil : position)
        file?.unlock()
    }

    /// What the cache has done since it was opened.
    public var statistics: FleetStatistics { counters.statistics }

    /// How long ago the host last knew of all commits of all servers; nil if it never did. Copies
    /// count as current while this is at most ``FleetConfiguration/maximumStaleness``.
    public var staleness: Duration? { coherence.age }

    /// Waits until the host follows all servers.
    ///
    /// - Parameter limit: How long to wait.
    /// - Returns: Whether the copies count as current; false after `limit`, or if the task was
    ///   cancelled.
    public func waitUntilCurrent(atMost limit: Duration = .seconds(5)) async -> Bool {
        let end = ContinuousClock.now + limit
        while !isCurrent {
            guard ContinuousClock.now < end, !Task.isCancelled else { return false }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return true
    }

    /// Whether copies count as current now.
    private var isCurrent: Bool { isCurrent(since: coherence.confirmed) }

    /// Whether copies that were read between two moments counted as current all the time, however
    /// long the process stood still.
    ///
    /// - Parameters:
    ///   - confirmed: `Coherence.confirmed` before the copies were read.
    ///   - end: A moment after they were read.
    @inline(__always)
    private func isCurrent(since confirmed: Int, until end: Moment = .now) -> Bool {
        confirmed >= 0 && end.nanoseconds - confirmed <= stalenessLimit
    }

    // MARK: - Positions

    /// How often the position of the copies is saved.
    private static var saveInterval: Duration { .seconds(5) }

    /// Goes on with the copies of an earlier process, if it is known up to which commits they are
    /// current. Removes them otherwise.
    ///
    /// The position stays valid while copies change: changes since then are followed again.
    private func resumePosition() {
        guard let file else { return }
        if let position = file.load(servers.all.map(\.name)) {
            coherence.resume(at: position)
        } else {
            file.remove()
            coherence.beginWithoutCopies(near.removeAll())
        }
        Task { [weak self] in
            while true {
                try? await Task.sleep(for: Self.saveInterval)
                guard let self, !self.isClosed.load(ordering: .relaxed) else { return }
                await self.savePosition()
            }
        }
    }

    /// Notes up to which commits the copies are current, once they are on disk.
    private func savePosition() async {
        guard let file else { return }
        let names = servers.all.map(\.name)
        let position = coherence.position(of: names)
        guard (try? await near.flush()) != nil, !isClosed.load(ordering: .relaxed) else { return }
        // A change of copies may have failed meanwhile.
        file.update(coherence.position(of: names) == nil ? nil : position)
    }

    // MARK: - Reads

    /// Reads the tree of the node `identifier`: from the near cache, or else from the servers.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - identifier: The node's identifier.
    /// - Returns: The model with everything below it; nil if the read misses.
    public func read<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String
    ) async -> Model? {
        // Two functions, as in the near cache: what is in memory needs no metadata of generic
        // types.
        let confirmed = coherence.confirmed
        let hit = near.nearHit(type, identifier)
        if let hit, isCurrent(since: confirmed, until: Moment(nanoseconds: hit.end)) {
            counters.addNearHit()
            return hit.model(as: type)
        }
        return await readRecords(type, identifier, readsNear: hit == nil)
    }

    /// Reads the records of the near cache, or else those of the servers.
    @inline(never)
    private func readRecords<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, readsNear: Bool
    ) async -> Model? {
        if readsNear, let model = readNear(type, identifier) { return model }
        return await sharedOutcome(.node(type, identifier), .fresh).value
    }

    /// Reads the near cache, if its copies are current.
    private func readNear<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String
    ) -> Model? {
        let confirmed = coherence.confirmed
        guard let model = near.read(type, identifier), isCurrent(since: confirmed) else {
            return nil
        }
        counters.addNearHit()
        return model
    }

    /// Reads the tree of the node `identifier` and says why, if it misses.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - identifier: The node's identifier.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it, or the reason of the miss. A hit counts as
    ///   expired, too, if servers could not be reached.
    public func readOutcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, accepting freshness: Freshness = .fresh
    ) async -> ReadOutcome<Model> {
        await outcome(.node(type, identifier), freshness)
    }

    /// Reads the model that was set under `key`, or else the node whose identifier `key` is.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - key: The key.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it, or the reason of the miss.
    public func modelOutcome<Model: IdentifiedModel>(
        _ type: Model.Type, forKey key: String, accepting freshness: Freshness = .fresh
    ) async -> ReadOutcome<Model> {
        await outcome(.key(type, key), freshness)
    }

    /// Reads the collection under `key`.
    ///
    /// - Parameters:
    ///   - type: The type of the elements.
    ///   - key: The key.
    /// - Returns: The elements in their order; nil if the read misses.
    public func collection<Model: IdentifiedModel>(
        of type: Model.Type, forKey key: String
    ) async -> [Model]? {
        await collectionOutcome(of: type, forKey: key).value
    }

    /// Reads the collection under `key` and says why, if it misses.
    ///
    /// - Parameters:
    ///   - type: The type of the elements.
    ///   - key: The key.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The elements in their order, or the reason of the miss.
    public func collectionOutcome<Model: IdentifiedModel>(
        of type: Model.Type, forKey key: String, accepting freshness: Freshness = .fresh
    ) async -> ReadOutcome<[Model]> {
        await outcome(.collection(type, key), freshness)
    }

    /// Returns the tree of a node as JSON, straight from records.
    ///
    /// ```swift
    /// let body = await cache.json(of: "Feed:7", leavingOut: ["messages.sender.email"])
    /// ```
    ///
    /// The text is what `NormalizedCache.json(of:)` writes.
    ///
    /// - Parameters:
    ///   - identifier: The node's identifier.
    ///   - depth: How many levels of nodes to write. A node further down is its identifier.
    ///   - paths: Members to leave out, by their names with dots between.
    ///   - includesNulls: Whether a member that is nil is written, as null.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The JSON text in UTF-8; nil if the read misses.
    public func json(
        of identifier: String, depth: Int = .max, leavingOut paths: [String] = [],
        includesNulls: Bool = false, accepting freshness: Freshness = .fresh
    ) async -> Data? {
        let form = SharedJSON(depth: depth, leavingOut: paths, includesNulls: includesNulls)
        return await outcome(.json(SharedName(.node, identifier), form), freshness).value
    }

    /// Returns a collection as a JSON array, straight from records.
    ///
    /// - Parameters:
    ///   - key: The collection's key.
    ///   - depth: How many levels of nodes to write. A node further down is its identifier.
    ///   - paths: Members of the elements to leave out, by their names with dots between.
    ///   - includesNulls: Whether a member that is nil is written, as null.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The JSON text in UTF-8; nil if the read misses.
    public func json(
        ofCollection key: String, depth: Int = .max, leavingOut paths: [String] = [],
        includesNulls: Bool = false, accepting freshness: Freshness = .fresh
    ) async -> Data? {
        let form = SharedJSON(depth: depth, leavingOut: paths, includesNulls: includesNulls)
        return await outcome(.json(SharedName(.collection, key), form), freshness).value
    }

    /// Reads near, and asks the servers if that is not enough.
    private func outcome<Value>(
        _ target: Target<Value>, _ freshness: Freshness
    ) async -> ReadOutcome<Value> {
        let confirmed = coherence.confirmed
        let outcome = target.readNear(near, freshness)
        if case .hit(let hit) = outcome, isCurrent(since: confirmed) {
            // An expired copy may be one that another host has changed: the servers know.
            let revalidates = hit.isExpired && freshness == .staleWhileRevalidate
            if revalidates { Task.detached { await self.sharedOutcome(target, .fresh) } }
            if !hit.isExpired || revalidates {
                counters.addNearHit()
                return outcome
            }
        }
        return await sharedOutcome(target, freshness)
    }

    // MARK: - Reads from servers

    private struct FlightKey: Hashable {
        let name: SharedName
        let value: ObjectIdentifier
        let form: SharedJSON?
        let acceptsExpired: Bool
        /// The writes that had ended when the read began.
        let writes: Int
        /// A read does not wait for the task of a read of another priority.
        let priority: UInt8
    }

    /// A fetch under way: what its readers wait for, and when it began.
    private struct Flight {
        let outcome: any Sendable
        let started: Moment
    }

    /// Fetches from the servers. Equal reads at the same time share one fetch, unless what it has
    /// fetched may be older than a read may return.
    private func sharedOutcome<Value>(
        _ target: Target<Value>, _ freshness: Freshness
    ) async -> ReadOutcome<Value> {
        guard !isClosed.load(ordering: .relaxed) else {
            return .miss(.unavailable(detail: FleetError.closed.description))
        }
        let key = FlightKey(
            name: target.name, value: ObjectIdentifier(Value.self), form: target.form,
            acceptsExpired: freshness != .fresh, writes: writes.load(ordering: .acquiring),
            priority: Task.currentPriority.rawValue)
        let now = Moment.now
        let own = SharedResult<ReadOutcome<Value>>()
        let others = flights.withLock { flights -> SharedResult<ReadOutcome<Value>>? in
            if let flight = flights[key],
                (now - flight.started).nanoseconds < stalenessLimit,
                let known = flight.outcome as? SharedResult<ReadOutcome<Value>>
            {
                return known
            }
            flights[key] = Flight(outcome: own, started: now)
            return nil
        }
        if let others {
            counters.add(\.joinedReads, 1)
            return await others.value
        }
        return await fetch(target, freshness, of: key, started: now, for: own)
    }

    /// Fetches a tree for a reader, and for all readers that wait for the same fetch. Does not run
    /// on the reader's actor: the others would have to wait for that actor.
    @concurrent
    private func fetch<Value>(
        _ target: Target<Value>, _ freshness: Freshness, of key: FlightKey, started: Moment,
        for readers: SharedResult<ReadOutcome<Value>>
    ) async -> ReadOutcome<Value> {
        let outcome = await fetchedOutcome(target, freshness)
        flights.withLock { flights in
            if flights[key]?.started == started { flights[key] = nil }
        }
        readers.finish(outcome)
        return outcome
    }

    private func fetchedOutcome<Value>(
        _ target: Target<Value>, _ freshness: Freshness
    ) async -> ReadOutcome<Value> {
        do {
            if let known = outcomeFromCurrentServers(target, freshness) { return known }
            if let refreshed = try await refreshed(target, freshness) { return refreshed }
            let epochs = coherence.epochs
            let (read, fetch) = try await fetch(target, freshness)
            switch read.result {
            case .success(let value):
                counters.add(\.sharedHits, 1)
                let outcome = ReadOutcome.shared(
                    value, recordCount: fetch.recordCount, oldestAge: read.oldestAge,
                    isExpired: read.isExpired)
                restoreLater(FinishedFetch(fetch: fetch, epochs: epochs))
                return outcome
            case .failure(let reason):
                counters.add(\.misses, 1)
                return .miss(reason)
            }
        } catch {
            return staleOutcome(target, freshness, error)
        }
    }

    /// A fetch that only the task uses that restores its records.
    private struct FinishedFetch<Value>: @unchecked Sendable {
        let fetch: TreeFetch<Value>
        let epochs: [Int]
    }

    /// Puts the records of a fetch into the near cache, and releases them. Waits first: with few
    /// cores, this would delay the answer by milliseconds.
    private func restoreLater<Value>(_ finished: FinishedFetch<Value>) {
        Task.detached { [coherence] in
            try? await Task.sleep(for: Self.restoreDelay)
            await coherence.restore(finished.fetch.copies(finished.epochs))
        }
    }

    /// Fetches a tree as a whole.
    private func fetch<Value>(
        _ target: Target<Value>, _ freshness: Freshness
    ) async throws -> (SharedTree.Read<Value>, TreeFetch<Value>) {
        let ages = SharedAges(
            acceptsExpired: freshness != .fresh, second: configuration.milliseconds() / 1_000)
        let tree = SharedTree(
            shapes: servers.shapes, limits: configuration.nearConfiguration.limits)
        for name in target.names { _ = tree.position(of: name) }
        var fetch = TreeFetch(servers, tree) { target.readTree($0, ages) }
        let read = try await fetch.run()
        return (read, fetch)
    }

    /// Reads near while some servers are not current. Returns the hit if the servers of all records
    /// of the tree are current. Returns nil otherwise, and if all servers are current: then the
    /// near cache was read before.
    ///
    /// A tree in memory does not tell the servers of its records, so the read decodes it again.
    /// That takes a fraction of a fetch, and no time of servers.
    private func outcomeFromCurrentServers<Value>(
        _ target: Target<Value>, _ freshness: Freshness
    ) -> ReadOutcome<Value>? {
        guard !isCurrent, servers.all.count > 1,
            coherence.isAnyServerCurrent(within: stalenessLimit)
        else { return nil }
        let confirmed = coherence.confirmedByServer
        let outcome = target.readNamed(near, freshness)
        guard case .hit(let hit) = outcome, !hit.isExpired,
            Set(hit.value.names.map(servers.index)).allSatisfy({
                isCurrent(since: confirmed[$0])
            })
        else { return nil }
        counters.addNearHit()
        return outcome.map(\.value)
    }

    /// Fetches the outdated records of a tree that the near cache has, and reads it there. Returns
    /// nil if that does not work: the tree is then fetched as a whole.
    private func refreshed<Value>(
        _ target: Target<Value>, _ freshness: Freshness
    ) async throws -> ReadOutcome<Value>? {
        for _ in 0..<Self.refreshRounds {
            guard isCurrent, let expired = target.expiredNear(near), !expired.isEmpty,
                expired.count <= Self.refreshLimit
            else { return nil }
            let epochs = coherence.epochs
            var copies: [Coherence.Copy] = []
            for (name, value) in zip(expired, try await servers.fetch(expired)) {
                guard let record = value.record else { return nil }
                copies.append(
                    Coherence.Copy(
                        name: name, record: record, server: value.server, clock: value.clock,
                        epoch: epochs[value.server], runIdentifier: value.runIdentifier))
            }
            guard await coherence.restore(copies) == copies.count else { return nil }
            let confirmed = coherence.confirmed
            let outcome = target.readNear(near, freshness)
            if outcome.value != nil, isCurrent(since: confirmed) {
                counters.add(\.sharedHits, 1)
                return outcome
            }
        }
        return nil
    }

    /// How long after an answer its records get into the near cache.
    private static var restoreDelay: Duration { .milliseconds(2) }
    /// How often the near cache is read again after it got records. New ones may refer to others.
    private static let refreshRounds = 3
    /// The most outdated records of a tree that are fetched by themselves.
    private static let refreshLimit = 256

    /// Answers with copies that may be stale, because the fetch has failed. A read of fresh records
    /// gets none that the host knows to be replaced, and misses if servers answer, but the tree
    /// changes all the time.
    func staleOutcome<Value>(
        _ target: Target<Value>, _ freshness: Freshness, _ error: any Error
    ) -> ReadOutcome<Value> {
        var isAnswered = false
        if case FleetError.contended = error { isAnswered = true }
        if !isAnswered || freshness != .fresh, let age = coherence.age,
            age <= configuration.maximumStaleness + configuration.staleLimit
        {
            let outcome = target.readNear(near, freshness)
            if outcome.value != nil {
                counters.add(\.staleHits, 1)
                return outcome.markedStale
            }
        }
        counters.add(\.misses, 1)
        return .miss(.unavailable(detail: "\(error)"))
    }

    /// Notes that a write of this host has ended.
    func noteWrite() { writes.add(1, ordering: .releasing) }
}

/// A value that one task finds and others wait for.
private final class SharedResult<Value: Sendable>: Sendable {
    private enum State {
        case pending([CheckedContinuation<Value, Never>])
        case done(Value)
    }
    private let state = Mutex(State.pending([]))

    /// Ends all waits. Called once.
    func finish(_ value: Value) {
        let waiters = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            defer { state = .done(value) }
            guard case .pending(let waiters) = state else { return [] }
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Waits for the value.
    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Value? in
                    switch state {
                    case .done(let value): return value
                    case .pending(let waiters):
                        state = .pending(waiters + [continuation])
                        return nil
                    }
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }
}

/// What a read asks for, and how the near cache and a fetched tree are asked for it.
struct Target<Value: Sendable>: Sendable {
    let name: SharedName
    /// The records of which one is the root. A tree has them at the first positions.
    let names: [SharedName]
    /// What JSON is to contain; nil for models.
    var form: SharedJSON?
    let readNear: @Sendable (NormalizedCache, Freshness) -> ReadOutcome<Value>
    /// As `readNear`, with the names of the records, and without trees in memory.
    let readNamed: @Sendable (NormalizedCache, Freshness) -> ReadOutcome<NamedShared<Value>>
    let expiredNear: @Sendable (NormalizedCache) -> [SharedName]?
    let readTree: @Sendable (SharedTree, SharedAges) -> SharedTree.Read<Value>
}

extension Target where Value: IdentifiedModel {
    static func node(_ type: Value.Type, _ identifier: String) -> Target {
        let name = SharedName(.node, identifier)
        return Target(
            name: name, names: [name],
            readNear: { $0.readOutcome(type, identifier, accepting: $1) },
            readNamed: { $0.namedShared(type, name, accepting: $1) },
            expiredNear: { $0.expiredShared(in: type, name) },
            readTree: { $0.model(type, at: 0, ages: $1) })
    }

    static func key(_ type: Value.Type, _ key: String) -> Target {
        let (name, node) = (SharedName(.key, key), SharedName(.node, key))
        return Target(
            name: name, names: [name, node],
            readNear: { $0.modelOutcome(type, forKey: key, accepting: $1) },
            readNamed: { $0.namedShared(type, name, accepting: $1) },
            expiredNear: { $0.expiredShared(in: type, name) },
            readTree: { tree, ages in
                let isKey = tree.record(at: 0).map { !$0.isTombstone } ?? false
                return tree.model(type, at: isKey ? 0 : 1, ages: ages)
            })
    }
}

extension Target where Value == Data {
    /// - Parameter name: The name of a node or a collection.
    static func json(_ name: SharedName, _ form: SharedJSON) -> Target {
        Target(
            name: name, names: [name], form: form,
            readNear: { $0.sharedJSON(of: name, form, accepting: $1) },
            readNamed: { $0.namedSharedJSON(of: name, form, accepting: $1) },
            expiredNear: { $0.expiredShared(inJSON: form, of: name) },
            readTree: { $0.json(at: 0, form, ages: $1) })
    }
}

extension Target {
    static func collection<Model>(
        _ type: Model.Type, _ key: String
    ) -> Target where Value == [Model], Model: IdentifiedModel {
        let name = SharedName(.collection, key)
        return Target(
            name: name, names: [name],
            readNear: { $0.collectionOutcome(of: type, forKey: key, accepting: $1) },
            readNamed: { $0.namedShared(collection: key, of: type, accepting: $1) },
            expiredNear: { $0.expiredShared(in: type, name) },
            readTree: { $0.elements(type, at: 0, ages: $1) })
    }
}

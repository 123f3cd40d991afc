import EspalierConsistency
import EspalierModels
import EspalierRecords
import Synchronization

/// Keeps the screens of a manager as the cache is, whichever code changes the cache.
///
///     commit of others --> names of changed nodes --> which of them are shown, as which types
///         --> read from the cache --> posted to the consistency manager --> screens
///
/// Names wait in one set, so that a follower that is slower than the commits reads each node once
/// and grows with the number of different nodes only. Beyond `limit` nodes it reads all that is
/// shown, and forgets the names, except those of deleted nodes: nothing else tells that these are
/// gone.
///
/// Nothing shown stays older than the cache: a node that the manager itself has posted since the
/// read began is read again, together with all that was read as a part of it; and names that arrive
/// during a fetch of a provider are looked at again after the fetch, once, because the provider may
/// show the node only then.
///
/// The old parents of a node that was deleted and then written again have lost it. The follower
/// reads these parents, too. If the deletion was shown already, the screens do not tell which
/// parents these are, and the follower reads all that is shown.
final class CacheFollower: Sendable {
    /// The most names that wait.
    private static let limit = 65_536
    /// The rounds of reading that a flush waits for at most. If others commit without end, it does
    /// not wait for all of that.
    private static let mostRounds = 8

    /// What has changed in the cache and was not looked at yet.
    private struct Changes {
        var nodes: Set<String> = []
        /// The nodes among `nodes` that leave the screens if they can't be read.
        var deleted: Set<String> = []
        var keys: Set<String> = []
        /// Whether everything that is shown has to be read.
        var readsAll = false
        /// Whether what can't be read then leaves the screens: the cache was emptied. After other
        /// resets it stays, because it may be evicted.
        var isEmptied = false

        var isEmpty: Bool { nodes.isEmpty && keys.isEmpty && !readsAll }

        mutating func add(_ other: Changes) {
            nodes.formUnion(other.nodes)
            deleted.formUnion(other.deleted)
            keys.formUnion(other.keys)
            isEmptied = isEmptied || other.isEmptied
            readsAll = readsAll || other.readsAll || nodes.count + keys.count > CacheFollower.limit
            if readsAll { (nodes, keys) = ([], []) }
            if isEmptied { deleted = [] }
        }
    }

    private struct State {
        var waiting = Changes()
        var isRunning = false
        var fetches = FetchLog()
        /// Nodes that left the screens because they were deleted, and the last round whose changes
        /// certainly arrived before that. If there are more than `limit`, all are forgotten, and a
        /// parent shows its node again only when something else makes the follower read it.
        var removed: [String: Int] = [:]
        /// The number of rounds of reading so far.
        var rounds = 0
        /// Calls of `flush`, each with the round after which it ends in any case.
        var flushes: [(lastRound: Int, caller: CheckedContinuation<Void, Never>)] = []

        mutating func noteRemoved(_ nodes: some Sequence<String>, after round: Int) {
            for node in nodes { removed[node] = round }
            if removed.count > CacheFollower.limit { removed = [:] }
        }

        /// Returns the nodes among those that this round looks at which had left the screens.
        /// Removes them, unless the change may have been made before the deletion.
        mutating func takeRemoved(in nodes: Set<String>) -> Set<String> {
            let changed = nodes.filter { removed[$0] != nil }
            for node in changed where removed[node].map({ $0 < rounds }) == true {
                removed[node] = nil
            }
            return changed
        }

        /// Removes and returns the calls of `flush` that have ended.
        mutating func takeEndedFlushes() -> [CheckedContinuation<Void, Never>] {
            let isDone = waiting.isEmpty
            let ended = flushes.filter { isDone || $0.lastRound <= rounds }
            flushes.removeAll { isDone || $0.lastRound <= rounds }
            return ended.map(\.caller)
        }
    }

    /// The fetches in progress, and what has changed since each of them began.
    private struct FetchLog {
        /// What has changed since a fetch began, until the next one began.
        private struct Part {
            let number: Int
            var changes = Changes()
        }
        private var open: [(fetch: ChangeTime, firstPart: Int)] = []
        private var parts: [Part] = []
        private var latest = 0

        mutating func begin(_ fetch: ChangeTime) {
            if parts.last?.changes.isEmpty != true {
                latest += 1
                parts.append(Part(number: latest))
            }
            open.append((fetch, parts[parts.count - 1].number))
        }

        mutating func add(_ changes: Changes) {
            if !open.isEmpty { parts[parts.count - 1].changes.add(changes) }
        }

        /// Ends a fetch, and returns what has changed since it began.
        mutating func end(_ fetch: ChangeTime) -> Changes {
            var changes = Changes()
            guard let position = open.firstIndex(where: { $0.fetch == fetch }) else {
                return changes
            }
            let first = open.remove(at: position).firstPart
            for part in parts where part.number >= first { changes.add(part.changes) }
            // A part with which no fetch begins becomes one with the part before it.
            let needed = Set(open.map(\.firstPart))
            let old = parts
            parts = []
            for part in old {
                if needed.contains(part.number) {
                    parts.append(part)
                } else if !parts.isEmpty {
                    parts[parts.count - 1].changes.add(part.changes)
                }
            }
            return changes
        }
    }

    private struct WeakOwner: Sendable { weak var manager: DataModelManager? }

    private let cache: any SharedCacheDelegate
    private let owner: WeakOwner
    private let state = Mutex(State())
    private let observation = Mutex<CacheObservation?>(nil)

    init(_ cache: any SharedCacheDelegate, _ manager: DataModelManager, source: Int) {
        self.cache = cache
        owner = WeakOwner(manager: manager)
        let observed = cache.followChanges(notBy: source) { [weak self] changes in
            self?.add(
                Changes(
                    nodes: Set(changes.written + changes.deleted), deleted: Set(changes.deleted),
                    keys: Set(changes.keys), readsAll: changes.isReset,
                    isEmptied: changes.isEmptied))
        }
        observation.withLock { $0 = observed }
    }

    // MARK: Names

    /// Notes nodes that a write of the manager may have changed in ways that only the cache knows.
    func refresh(_ nodes: Set<String>) { add(Changes(nodes: nodes)) }

    /// Notes a node that the manager deletes.
    func noteDeletion(of node: String) {
        // What waits already belongs to the next round.
        state.withLock { $0.noteRemoved([node], after: $0.rounds + 1) }
    }

    /// Adds changes to those that the next round of reading looks at.
    ///
    /// - Parameter isNew: Whether the changes are kept for the fetches in progress, too: false for
    ///   changes that were kept for them before.
    private func add(_ changes: Changes, isNew: Bool = true) {
        let starts = state.withLock { state in
            state.waiting.add(changes)
            if isNew { state.fetches.add(changes) }
            guard !state.isRunning, !state.waiting.isEmpty else { return false }
            state.isRunning = true
            return true
        }
        if starts { Task { await run() } }
    }

    /// Notes that a provider has begun to read.
    func begin(_ fetch: ChangeTime) { state.withLock { $0.fetches.begin(fetch) } }

    /// Notes that a provider shows what it has read. Looks at the changes since then again, once.
    func end(_ fetch: ChangeTime) {
        let missed = state.withLock { $0.fetches.end(fetch) }
        // A fetch that has begun since the changes knows of them.
        if !missed.isEmpty { add(missed, isNew: false) }
    }

    /// Waits until the screens show every commit that has arrived, and every node that the follower
    /// knows of.
    func flush() async {
        await observation.withLock { $0 }?.flush()
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                guard state.isRunning else { return true }
                state.flushes.append((state.rounds + Self.mostRounds, continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    // MARK: Reading

    private func run() async {
        while true {
            let (changes, flushes) = state.withLock { state in
                let flushes = state.takeEndedFlushes()
                let changes = state.waiting
                state.waiting = Changes()
                state.rounds += 1
                state.isRunning = !changes.isEmpty
                return (changes, flushes)
            }
            for flush in flushes { flush.resume() }
            guard !changes.isEmpty else { return }
            if let manager = owner.manager { await follow(changes, in: manager) }
        }
    }

    private func follow(_ changes: Changes, in manager: DataModelManager) async {
        let consistency = manager.consistencyManager
        var changes = changes
        let returned = state.withLock { $0.takeRemoved(in: changes.nodes) }
        if !returned.isEmpty { changes.readsAll = true }
        // What the manager submits from now on is newer than what is read here.
        let fetch = manager.beginReading()
        let nodes = await consistency.shownNodes(changes.readsAll ? nil : changes.nodes)
        // The cache has all that was submitted before, also by the updates that were delivered
        // until now.
        await manager.cacheQueue.afterCalls()
        var reading = Reading()
        await read(nodes, changes, &reading)
        let writtenAgain = changes.deleted.filter { reading.there.contains(Identifier($0)) }
        if !writtenAgain.isEmpty {
            await read(consistency.nodes(containing: writtenAgain), changes, &reading)
        }
        let deleted = reading.gone.map { node in
            // Screens of other types keep a node that they can read. A node that was deleted is
            // gone for types that the follower can't read, too.
            let isGone =
                (changes.isEmptied || changes.deleted.contains(node.identifier))
                && !reading.there.contains(Identifier(node.identifier))
            return GoneNode(node.identifier, as: isGone ? nil : node.type)
        }
        let there = reading.there
        state.withLock { state in
            // The parents of all nodes were emptied, too.
            guard !changes.isEmptied else { return state.removed = [:] }
            let gone = deleted.lazy.filter { $0.type == nil }.map(\.identifier)
            let still = returned.filter {
                changes.deleted.contains($0) && !there.contains(Identifier($0))
            }
            state.noteRemoved(Set(gone).union(still), after: state.rounds)
        }
        let stale = await consistency.post(fetched: reading.models, deleting: deleted, at: fetch)
        manager.endReading(fetch)
        await manager.sharedCollections.refresh(
            changes.readsAll ? nil : changes.keys, containing: writtenAgain,
            clearing: changes.isEmptied)
        // The manager has posted these meanwhile. The next read has what it wrote.
        guard !stale.isEmpty else { return }
        let again = stale.union(coveredNodes(of: stale, in: reading))
        add(
            Changes(
                nodes: again,
                deleted: changes.isEmptied ? again : changes.deleted.intersection(again)))
    }

    /// What one round has read.
    private struct Reading {
        var models: [any SimpleModel] = []
        /// The nodes that have to leave the screens of a type.
        var gone: [(identifier: String, type: any SimpleModel.Type)] = []
        /// The nodes that are parts of `models`, each with its type, and need not be read.
        var covered: Set<NodeView> = []
        /// The nodes that were read, as any type.
        var there: Set<Identifier> = []
        /// The nodes that were not read by themselves, because they were covered.
        var notRead: Set<String> = []
    }

    /// Reads nodes, except those that are parts of a node that was read before.
    private func read(
        _ nodes: [ShownNode], _ changes: Changes, _ reading: inout Reading
    ) async {
        for node in nodes {
            guard let type = node.type as? any SimpleModel.Type else { continue }
            guard !reading.covered.contains(NodeView(node.identifier, type)) else {
                reading.notRead.insert(node.identifier)
                continue
            }
            switch await read(type, node.identifier) {
            case .success(let model):
                cover(model, &reading)
                reading.models.append(model)
            // Its own deletion, or that of a node that the type requires.
            case .failure(.deleted): reading.gone.append((node.identifier, type))
            case .failure:
                if changes.isEmptied || changes.deleted.contains(node.identifier) {
                    reading.gone.append((node.identifier, type))
                }
            }
        }
    }

    /// Returns the nodes that were read as parts of some models only. These models may have other
    /// parts when they are read again.
    private func coveredNodes(of identifiers: Set<String>, in reading: Reading) -> Set<String> {
        var found: Set<String> = []
        guard !reading.notRead.isEmpty else { return found }
        func collect(_ model: any ConsistencyManagerModel) {
            if let identifier = model.modelIdentifier, reading.notRead.contains(identifier) {
                found.insert(identifier)
            }
            model.forEach(collect)
        }
        for model in reading.models where identifiers.contains(model.modelIdentifier ?? "") {
            collect(model)
        }
        return found
    }

    private func read<T: SimpleModel>(
        _ type: T.Type, _ identifier: String
    ) async -> Result<any SimpleModel, MissReason> {
        await withCheckedContinuation { continuation in
            let noAnswer = MissReason.unavailable(detail: "no reply")
            let reply = PendingReply<Result<T, MissReason>>(default: .failure(noAnswer)) {
                continuation.resume(returning: $0.map { $0 })
            }
            cache.currentModel(type, identifier: identifier) { reply.fulfill($0) }
        }
    }

    /// Adds a node that was read, and the nodes that are parts of it.
    private func cover(_ model: any ConsistencyManagerModel, _ reading: inout Reading) {
        if let identifier = model.modelIdentifier {
            reading.covered.insert(NodeView(identifier, type(of: model)))
            reading.there.insert(Identifier(identifier))
        }
        model.forEach { cover($0, &reading) }
    }
}

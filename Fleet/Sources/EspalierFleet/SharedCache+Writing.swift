public import EspalierModels
public import EspalierRecords
import EspalierRedis
import EspalierSharedRecords
import EspalierStore
import Foundation
import Synchronization

// Writes: compare and set, on as many servers as there are records.
//
//     read what the servers have --> merge --> commit on each server --(conflict)--> begin again
//
// A commit on one server is a script that does all or nothing. On several servers the commits
// follow each other; if one meets a conflict, the others stay, and the next round merges again.
// That changes nothing for nodes that are stored already. An edit of a collection would count
// twice, so the collection comes last. An update is not made again once a part of it is stored.
// What must never be lost is a record that another host has written: a commit replaces only the
// versions that were merged with. If a server does not answer, the write fails, and its caller
// can't know whether that server has it.
extension SharedCache {
    /// How often a write is tried again because other hosts were ahead of it.
    private static var attempts: Int { 64 }
    /// The most records of one commit. A larger write on one server is more than one step.
    private static var commitLimit: Int { 4_000 }

    /// Stores a tree: one record for each node.
    ///
    /// - Parameters:
    ///   - model: The root; it must have an identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records may be; nil for what their types say.
    /// - Throws: `FlattenError` or `SharedWriteError` for a model that can't be stored;
    ///   `FleetError.unavailable`, `.contended` and `.closed`.
    public func set(
        _ model: some IdentifiedModel, policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) async throws {
        try await set([model], policy: policy, maxAge: maxAge)
    }

    /// Stores trees.
    ///
    /// - Parameters:
    ///   - models: The roots; each must have an identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records may be; nil for what their types say.
    /// - Throws: As `set(_:policy:maxAge:)`.
    public func set(
        _ models: [any IdentifiedModel], policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) async throws {
        guard !models.isEmpty else { return }
        try await write(try SharedWrite(setting: models, policy: policy, maxAge: maxAge))
    }

    /// Stores a tree under a key of the caller's choice.
    ///
    /// - Parameters:
    ///   - model: The root. If `key` is its identifier, this is `set(_:policy:maxAge:)`.
    ///   - key: The key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records may be; nil for what their types say.
    /// - Throws: As `set(_:policy:maxAge:)`.
    public func setModel(
        _ model: some IdentifiedModel, forKey key: String, policy: WritePolicy? = nil,
        maxAge: Duration? = nil
    ) async throws {
        if let identifier = model.modelIdentifier, Identifier(identifier) == Identifier(key) {
            return try await set(model, policy: policy, maxAge: maxAge)
        }
        try await write(
            try SharedWrite(setting: model, forKey: key, policy: policy, maxAge: maxAge))
    }

    /// Stores a collection, in place of any that is there.
    ///
    /// A collection is one record: an edit sends the identifiers of all elements.
    ///
    /// - Parameters:
    ///   - elements: The elements in their order.
    ///   - key: The key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records may be; nil for what their types say.
    /// - Throws: As `set(_:policy:maxAge:)`.
    public func setCollection(
        _ elements: [any IdentifiedModel], forKey key: String, policy: WritePolicy? = nil,
        maxAge: Duration? = nil
    ) async throws {
        try await write(
            try SharedWrite(
                .replaceAll(elements), toCollection: key, policy: policy, maxAge: maxAge))
    }

    /// Applies an edit to a collection.
    ///
    /// - Parameters:
    ///   - edit: The edit. Indexes count the elements that a read returns.
    ///   - key: The key. An append makes the collection if there is none.
    ///   - neighbours: The elements around the edit that the sender has; nil to apply the edit in
    ///     any case.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    /// - Throws: `SharedWriteError.outOfDate`, `.outOfRange` or `.noCollection`; otherwise as
    ///   `set(_:policy:maxAge:)`.
    public func edit(
        _ edit: CollectionEdit<any IdentifiedModel>, ofCollection key: String,
        expecting neighbours: CollectionNeighbours? = nil, policy: WritePolicy? = nil
    ) async throws {
        try await write(
            try SharedWrite(.edit(edit, expecting: neighbours), toCollection: key, policy: policy))
    }

    /// Appends elements to a collection, which is made if there is none.
    ///
    /// - Parameters:
    ///   - elements: The elements.
    ///   - key: The key; not empty.
    /// - Throws: As `set(_:policy:maxAge:)`.
    public func append(
        _ elements: [any IdentifiedModel], toCollection key: String
    ) async throws {
        try await edit(.append(elements), ofCollection: key)
    }

    /// Deletes the node `identifier`. For ``FleetConfiguration/tombstoneLifetime``, references to
    /// it read as nil, or are left out of arrays. Afterwards, a tree that still refers to it is a
    /// miss.
    ///
    /// - Parameter identifier: The node's identifier.
    /// - Throws: `FleetError.unavailable`, `.contended` and `.closed`.
    public func delete(_ identifier: String) async throws {
        try await write(SharedWrite(deleting: [SharedName(.node, identifier)]))
    }

    /// Deletes the entry of `key`, not the node to which it refers.
    ///
    /// - Parameter key: The key.
    /// - Throws: `FleetError.unavailable`, `.contended` and `.closed`.
    public func deleteModel(forKey key: String) async throws {
        try await write(SharedWrite(deleting: [SharedName(.key, key)]))
    }

    /// Deletes a collection, and none of its elements' nodes.
    ///
    /// - Parameter key: The key.
    /// - Throws: `FleetError.unavailable`, `.contended` and `.closed`.
    public func deleteCollection(forKey key: String) async throws {
        try await write(SharedWrite(deleting: [SharedName(.collection, key)]))
    }

    /// Changes a model in one step. The result of `change` is stored only if no other host has
    /// meanwhile changed a record that it replaces. Otherwise `change` is called again with the new
    /// state. Records that `change` reads and leaves equal may have changed meanwhile.
    ///
    /// A change of records on several servers is stored on one server after the other. If another
    /// host is faster on a later one, the update ends with `FleetError.partlyDone`. Text in braces
    /// keeps records on one server, see ``FleetConfiguration/servers``.
    ///
    /// - Parameters:
    ///   - type: The type as which the model is read.
    ///   - identifier: The model's identifier.
    ///   - change: Returns the new model for the stored one. Called perhaps more than once; the last
    ///     call counts.
    /// - Returns: The new model.
    /// - Throws: `FleetError.miss` if there is no such model; `.partlyDone` if a part of the change
    ///   is stored, and the rest is not; what `change` throws; otherwise as
    ///   `set(_:policy:maxAge:)`.
    @discardableResult
    public func update<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, _ change: @Sendable (Model) throws -> Model
    ) async throws -> Model {
        try requireOpen()
        let ages = SharedAges(acceptsExpired: true, second: configuration.milliseconds() / 1_000)
        let (name, key) = (SharedName(.node, identifier), SharedName(.key, identifier))
        for attempt in 0..<Self.attempts {
            let tree = SharedTree(
                shapes: servers.shapes, limits: configuration.nearConfiguration.limits)
            let root = tree.position(of: name)
            _ = tree.position(of: key)
            // The first attempt does without a question if this host has changed the records last.
            var fetch = TreeFetch(servers, tree, attempt == 0 ? recentWrites : nil) {
                $0.model(type, at: root, ages: ages)
            }
            let stored: Model
            switch try await fetch.run().result {
            case .success(let model): stored = model
            case .failure(let reason):
                // What this host remembers of its own writes may be out of date: another host may
                // have set again what this one has deleted.
                guard fetch.hasAsked else { continue }
                throw FleetError.miss("\(reason)")
            }
            let changed = try change(stored)
            let write = try SharedWrite(setting: [changed])
            var found = fetch.foundByName
            let rest = write.names.filter { found[$0] == nil }
            found.merge(try await servers.find(rest)) { known, _ in known }
            let isDone = try await commit(
                write, over: found, isCertain: fetch.hasAsked, isRepeatable: false)
            if isDone { return changed }
            await Self.pause(after: attempt)
        }
        throw FleetError.contended(attempts: Self.attempts)
    }

    // MARK: - Commits

    func requireOpen() throws(FleetError) {
        if isClosed.load(ordering: .relaxed) { throw .closed }
    }

    /// Runs a write until no other host is ahead of it.
    ///
    /// - Parameter source: Who writes; observers of that source are not told.
    func write(_ write: SharedWrite, source: Int = 0) async throws {
        try requireOpen()
        for attempt in 0..<Self.attempts {
            let found = try await servers.find(write.names)
            let isDone = try await commit(
                write, over: found, isCertain: true, isRepeatable: true, source: source)
            if isDone { return }
            await Self.pause(after: attempt)
        }
        throw FleetError.contended(attempts: Self.attempts)
    }

    /// Waits at random, longer after each attempt, so that hosts do not meet again and again.
    private static func pause(after attempt: Int) async {
        let limit = min(50_000, 200 << min(attempt, 8))
        try? await Task.sleep(for: .microseconds(Int.random(in: 0...limit)))
    }

    /// Merges a write with what the servers had, and commits it. Returns false if another host was
    /// ahead.
    ///
    /// - Parameter isCertain: Whether the servers had `found` when the write had begun. If not, the
    ///   commit compares the versions of all of it, and a write without changes is not done.
    /// - Parameter isRepeatable: Whether the write may be made again when a part of it is stored.
    /// - Throws: `FleetError.partlyDone` if it may not, and another host was ahead on a later
    ///   server.
    private func commit(
        _ write: SharedWrite, over found: [SharedName: Servers.Found], isCertain: Bool,
        isRepeatable: Bool, source: Int = 0
    ) async throws -> Bool {
        let old = found.compactMapValues(\.record)
        let deleted = try await deletedElements(of: write, in: old)
        let version = clock.next(after: old.values.map(\.version).max())
        let records = try write.changes(to: old, deleted: deleted, version: version)
        // From here on copies of these records may be older than the servers'.
        defer { noteWrite() }
        if isCertain {
            coherence.note(
                unchanged: found.compactMap { name, value in
                    records[name] == nil ? (name, value.server, value.clock) : nil
                })
        }
        guard !records.isEmpty else { return isCertain }
        // In the order of the tree, which is that of the near cache, too.
        let names = write.names.filter { records[$0] != nil }
        let parts = parts(of: records, names, found)
        var copies: [Coherence.Copy] = []
        var asked = 0
        do {
            counters.add(\.roundTrips, 1)
            let checks = isCertain ? [] : found.filter { records[$0.key] == nil }
            guard isCertain || isOnOneServer(found.keys, parts) else { return false }
            for part in parts {
                let server = servers.all[part.server]
                asked = part.server
                let epoch = coherence.announce(version, on: part.server)
                let result = try await server.commit(
                    part.changes, checks: checks.map { ($0.key, $0.value.version) },
                    version: version, shapes: part.shapes,
                    changeLimit: configuration.changeLimit)
                guard case .committed(let number, let runIdentifier) = result else {
                    counters.add(\.conflicts, 1)
                    coherence.retract(version, on: part.server)
                    recentWrites.remove(Array(found.keys))
                    // The next attempt finds these records equal, and does not tell of them.
                    tell(of: copies, records, source)
                    guard copies.isEmpty || isRepeatable else {
                        throw FleetError.partlyDone(server: server.name)
                    }
                    return false
                }
                let committed = part.changes.compactMap { change in
                    records[change.name].map { record in
                        Coherence.Copy(
                            name: change.name, record: record, server: part.server,
                            clock: number, epoch: epoch, runIdentifier: runIdentifier)
                    }
                }
                coherence.note(ownCommit: committed)
                copies += committed
                counters.add(\.bytesSent, part.changes.reduce(0) { $0 + $1.bytes.count })
            }
        } catch let error as RedisError {
            counters.add(\.failures, 1)
            coherence.retract(version, on: asked)
            for part in parts {
                coherence.outdate(part.changes.map(\.name), on: part.server)
            }
            // The server may have the records all the same.
            observers.notify(names, deleted: [], source: 0)
            throw FleetError.unavailable(server: servers.all[asked].name, error)
        }
        counters.add(\.writes, 1)
        remember(copies, found)
        tell(of: copies, records, source)
        return true
    }

    /// Returns the identifiers of the deleted elements of the collection that a write edits.
    private func deletedElements(
        of write: SharedWrite, in old: [SharedName: SharedRecord]
    ) async throws -> Set<String> {
        let counted = write.elementsToCount(in: old)
        guard !counted.isEmpty else { return [] }
        let found = try await servers.find(counted)
        return Set(found.lazy.filter { $1.record?.isTombstone == true }.map(\.key.identifier))
    }

    /// Tells the managers of this host which records commits have changed.
    private func tell(
        of copies: [Coherence.Copy], _ records: [SharedName: SharedRecord], _ source: Int
    ) {
        let names = copies.map(\.name)
        guard !names.isEmpty else { return }
        let tombstones = names.filter { records[$0]?.isTombstone == true }
        observers.notify(names, deleted: Set(tombstones), source: source)
    }

    private func isOnOneServer(
        _ names: some Collection<SharedName>, _ parts: [Part]
    ) -> Bool {
        parts.count == 1 && names.allSatisfy { servers.index(of: $0) == parts[0].server }
    }

    /// Remembers the records of a write, and what it was merged with.
    private func remember(
        _ copies: [Coherence.Copy], _ found: [SharedName: Servers.Found]
    ) {
        var known = found
        for copy in copies {
            known[copy.name] = Servers.Found(
                record: copy.record, server: copy.server, clock: copy.clock,
                runIdentifier: copy.runIdentifier)
        }
        recentWrites.insert(known)
    }

    private struct Part {
        let server: Int
        let changes: [RecordServer.Change]
        let shapes: [(fingerprint: UInt64, description: [UInt8])]
    }

    /// Returns the commits of a write, in their order: one with a collection is the last.
    private func parts(
        of records: [SharedName: SharedRecord], _ names: [SharedName],
        _ found: [SharedName: Servers.Found]
    ) -> [Part] {
        let lifetime =
            configuration.retention.map { $0 <= .zero ? 0 : max(1, $0.milliseconds) } ?? 0
        let edited = names.first { $0.kind == .collection }.map { servers.index(of: $0) }
        return Dictionary(grouping: names, by: { servers.index(of: $0) })
            .sorted { ($0.key == edited ? 1 : 0, $0.key) < ($1.key == edited ? 1 : 0, $1.key) }
            .flatMap { server, names in
                stride(from: 0, to: names.count, by: Self.commitLimit).map { start in
                    let names = names[start..<min(start + Self.commitLimit, names.count)]
                    let changes = names.compactMap { name in
                        records[name].map { record in
                            RecordServer.Change(
                                name: name, expected: found[name]?.version ?? [],
                                bytes: record.bytes(named: name),
                                isDelete: record.isTombstone,
                                lifetime: record.isTombstone
                                    ? max(1, configuration.tombstoneLifetime.milliseconds)
                                    : lifetime)
                        }
                    }
                    return Part(
                        server: server, changes: changes,
                        shapes: SharedWrite.shapes(of: names.compactMap { records[$0] }))
                }
            }
    }
}

/// The records that this host has changed last, as the servers have them unless another host was
/// faster: a change of such a record need not read it first. The commit compares all of them.
final class RecentWrites: Sendable {
    private let records = Mutex<[SharedName: Servers.Found]>([:])
    private static let limit = 4_096

    /// Returns what is known of names; nil unless all of them are known.
    func find(_ names: [SharedName]) -> [Servers.Found]? {
        records.withLock { records in
            var found: [Servers.Found] = []
            for name in names {
                guard let known = records[name] else { return nil }
                found.append(known)
            }
            return found
        }
    }

    func insert(_ found: [SharedName: Servers.Found]) {
        guard found.count <= Self.limit / 8 else { return }
        records.withLock { records in
            if records.count + found.count > Self.limit { records = [:] }
            records.merge(found) { $1 }
        }
    }

    func remove(_ names: [SharedName]) {
        records.withLock { records in for name in names { records[name] = nil } }
    }

    func removeAll() { records.withLock { $0 = [:] } }
}

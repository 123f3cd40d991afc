import EspalierRecords
import EspalierRedis
import EspalierSharing
import EspalierStore
import Synchronization

/// Asks the servers of a fleet for records, all of them at once.
final class Servers: Sendable {
    let all: [RecordServer]
    let shapes = SharedShapes()
    private let ring: Ring
    private let statistics: FleetCounters

    /// The most records in one question.
    private static let batch = 2_000

    init(_ configuration: FleetConfiguration, _ statistics: FleetCounters) {
        all = configuration.servers.map { RecordServer($0, configuration) }
        ring = Ring(all.map(\.name))
        self.statistics = statistics
    }

    func index(of name: SharedName) -> Int { ring.server(of: name.identifier) }

    /// What a server has under a name.
    struct Found: Sendable {
        /// Nil for nothing, and for bytes that are not an intact record.
        let record: SharedRecord?
        /// What stands where a record has its version; empty for no value.
        let version: [UInt8]
        let server: Int
        /// The commit of the server after which this was so.
        let clock: UInt64
    }

    /// Returns what the servers have under names. Takes one round trip, and a second one the first
    /// time that this process meets a shape.
    ///
    /// - Throws: `FleetError.unavailable` if a server does not answer.
    func fetch(_ names: [SharedName]) async throws -> [SharedName: Found] {
        guard !names.isEmpty else { return [:] }
        var parts: [(server: Int, names: [SharedName])] = []
        for (server, names) in Dictionary(grouping: names, by: { index(of: $0) }) {
            for start in stride(from: 0, to: names.count, by: Self.batch) {
                parts.append((server, Array(names[start..<min(start + Self.batch, names.count)])))
            }
        }
        statistics.add(\.roundTrips, 1)
        guard parts.count > 1 else { return try await fetch(parts[0].names, from: parts[0].server) }
        return try await withThrowingTaskGroup(of: [SharedName: Found].self) { group in
            for part in parts {
                group.addTask { try await self.fetch(part.names, from: part.server) }
            }
            var found: [SharedName: Found] = [:]
            found.reserveCapacity(names.count)
            for try await part in group { found.merge(part) { $1 } }
            return found
        }
    }

    private func fetch(
        _ names: [SharedName], from index: Int
    ) async throws -> [SharedName: Found] {
        let server = all[index]
        do {
            let snapshot = try await server.snapshot(of: names)
            var found: [SharedName: Found] = [:]
            found.reserveCapacity(names.count)
            var unknown: [(name: SharedName, bytes: [UInt8])] = []
            var byteCount = 0
            for (name, value) in zip(names, snapshot.values) {
                var record: SharedRecord?
                if let value {
                    byteCount += value.count
                    do throws(SharedRecordError) {
                        record = try SharedRecord(value, named: name, shapes)
                    } catch .unknownShape {
                        unknown.append((name, value))
                    } catch {
                        statistics.add(\.damagedValues, 1)
                    }
                }
                let version = value.map { Array($0.dropFirst(2).prefix(16)) }
                found[name] = Found(
                    record: record, version: version ?? [], server: index, clock: snapshot.clock)
            }
            statistics.add(\.recordsFetched, names.count)
            statistics.add(\.bytesFetched, byteCount)
            guard !unknown.isEmpty else { return found }
            try await learnShapes(from: server)
            for (name, bytes) in unknown {
                guard let old = found[name] else { continue }
                let record = try? SharedRecord(bytes, named: name, shapes)
                if record == nil { statistics.add(\.damagedValues, 1) }
                found[name] = Found(
                    record: record, version: old.version, server: index, clock: old.clock)
            }
            return found
        } catch let error as RedisError {
            statistics.add(\.failures, 1)
            throw FleetError.unavailable(server: server.name, error)
        }
    }

    private func learnShapes(from server: RecordServer) async throws {
        statistics.add(\.roundTrips, 1)
        for (fingerprint, description) in try await server.shapes() {
            shapes.add(description, fingerprint: fingerprint)
        }
    }
}

/// Fetches one tree from the servers, level by level, so that all records of it that are on one
/// server are those of one moment.
struct TreeFetch<Value> {
    private let servers: Servers
    private let read: (SharedTree) -> SharedTree.Read<Value>
    let tree: SharedTree
    /// What the servers had under each name, also under those without a record.
    private(set) var found: [SharedName: Servers.Found] = [:]

    /// The most records that are fetched because they might be needed.
    private static var speculation: Int { 20_000 }
    /// How often records are fetched again because they have changed meanwhile. After half of it
    /// all records of a server are fetched at once.
    private static var attempts: Int { 12 }

    /// - Parameter read: Reads the tree from the records so far.
    init(
        _ servers: Servers, limits: TreeLimits,
        _ read: @escaping (SharedTree) -> SharedTree.Read<Value>
    ) {
        self.servers = servers
        self.read = read
        tree = SharedTree(shapes: servers.shapes, limits: limits)
    }

    /// Fetches the tree whose root is one of `names`.
    ///
    /// - Throws: `FleetError.unavailable` if a server does not answer, `.contended` if the tree
    ///   changes all the time.
    mutating func run(_ names: [SharedName]) async throws -> SharedTree.Read<Value> {
        try await add(names)
        for attempt in 0..<Self.attempts {
            let result = try await complete()
            let outdated = try await outdatedNames(isLast: attempt > Self.attempts / 2)
            if outdated.isEmpty { return result }
            try await add(outdated)
        }
        throw FleetError.contended(attempts: Self.attempts)
    }

    private mutating func add(_ names: [SharedName]) async throws {
        for (name, value) in try await servers.fetch(names) {
            found[name] = value
            tree.add(name, value.record)
        }
    }

    /// Fetches what the tree lacks.
    private mutating func complete() async throws -> SharedTree.Read<Value> {
        while true {
            let level = tree.nextLevel(limit: Self.speculation - min(Self.speculation, found.count))
            if !level.isEmpty {
                try await add(level)
                continue
            }
            let result = read(tree)
            if result.wanted.isEmpty { return result }
            try await add(result.wanted)
        }
    }

    /// Returns the names whose records have changed since they were fetched, up to the moment of
    /// the last fetch from their server. Without any, the records of each server are those of that
    /// moment.
    ///
    /// - Parameter isLast: Whether to return all names of a server that has changed, which are then
    ///   fetched in one moment.
    private func outdatedNames(isLast: Bool) async throws -> [SharedName] {
        var outdated: [SharedName] = []
        for (server, names) in Dictionary(grouping: found.keys, by: { servers.index(of: $0) }) {
            let clocks = names.map { found[$0]?.clock ?? 0 }
            guard let first = clocks.min(), let last = clocks.max(), first < last else { continue }
            let changed =
                isLast || first == 0
                ? nil : try? await servers.all[server].changes(after: first, upTo: last)
            guard let changed else {
                outdated += names
                continue
            }
            outdated += names.filter { name in
                changed[name].map { $0 > found[name]?.clock ?? 0 } ?? false
            }
        }
        return outdated
    }

    /// The records, for the near cache.
    var copies: [SharedName: Coherence.Fetched] {
        var copies: [SharedName: Coherence.Fetched] = [:]
        copies.reserveCapacity(found.count)
        for (name, value) in found {
            guard let record = value.record else { continue }
            copies[name] = Coherence.Fetched(
                record: record, server: value.server, clock: value.clock)
        }
        return copies
    }
}

import EspalierRecords
import EspalierRedis
import EspalierSharedRecords
import EspalierStore
import Synchronization

/// Asks the servers of a fleet for records, all of them at once.
final class Servers: Sendable {
    let all: [RecordServer]
    let shapes = SharedShapes()
    private let ring: Ring
    private let statistics: FleetCounters

    /// The most records in one question.
    fileprivate static let batch = 2_000

    init(_ configuration: FleetConfiguration, _ statistics: FleetCounters) {
        all = configuration.servers.map { RecordServer($0, configuration) }
        ring = Ring(all.map(\.name))
        self.statistics = statistics
    }

    func index(of name: SharedName) -> Int { ring.server(of: name) }

    /// What a server has under a name.
    struct Found: Sendable {
        /// Nil for nothing, and for bytes that are not an intact record.
        var record: SharedRecord?
        /// Bytes that are not an intact record; nil if there are none.
        var damaged: [UInt8]?
        let server: Int
        /// The commit of the server after which this was so.
        let clock: UInt64
        /// Names the process of the server that gave the number.
        let runIdentifier: String

        /// What stands where a record has its version; empty for no value.
        var version: [UInt8] {
            record?.version.bytes ?? damaged.map { Array($0.dropFirst(2).prefix(16)) } ?? []
        }
    }

    /// Returns what the servers have under names, in the order of the names. Takes one round trip,
    /// and a second one the first time that this process meets a shape.
    ///
    /// - Throws: `FleetError.unavailable` if a server does not answer.
    func fetch(_ names: [SharedName]) async throws -> [Found] {
        guard !names.isEmpty else { return [] }
        statistics.add(\.roundTrips, 1)
        if all.count == 1, names.count <= Self.batch { return try await fetch(names, from: 0) }
        var parts: [(server: Int, positions: [Int])] = []
        for (server, positions) in Dictionary(grouping: names.indices, by: { index(of: names[$0]) })
        {
            for start in stride(from: 0, to: positions.count, by: Self.batch) {
                let end = min(start + Self.batch, positions.count)
                parts.append((server, Array(positions[start..<end])))
            }
        }
        var found = [Found?](repeating: nil, count: names.count)
        try await withThrowingTaskGroup(of: ([Int], [Found]).self) { group in
            for part in parts {
                group.addTask {
                    let names = part.positions.map { names[$0] }
                    return (part.positions, try await self.fetch(names, from: part.server))
                }
            }
            for try await (positions, part) in group {
                for (position, value) in zip(positions, part) { found[position] = value }
            }
        }
        return found.compactMap(\.self)
    }

    /// Returns what the servers have under names, by name.
    func find(_ names: [SharedName]) async throws -> [SharedName: Found] {
        let found = try await fetch(names)
        return Dictionary(zip(names, found), uniquingKeysWith: { first, _ in first })
    }

    private func fetch(_ names: [SharedName], from index: Int) async throws -> [Found] {
        let server = all[index]
        do {
            let snapshot = try await server.snapshot(of: names)
            var found: [Found] = []
            found.reserveCapacity(names.count)
            var unknown: [Int] = []
            var byteCount = 0
            for (position, value) in snapshot.values.enumerated() {
                var answer = Found(
                    record: nil, server: index, clock: snapshot.clock,
                    runIdentifier: snapshot.runIdentifier)
                if let value {
                    byteCount += value.count
                    do throws(SharedRecordError) {
                        answer.record = try SharedRecord(value, named: names[position], shapes)
                    } catch {
                        answer.damaged = value
                        if case .unknownShape = error {
                            unknown.append(position)
                        } else {
                            statistics.add(\.damagedValues, 1)
                        }
                    }
                }
                found.append(answer)
            }
            statistics.add(\.recordsFetched, names.count)
            statistics.add(\.bytesFetched, byteCount)
            guard !unknown.isEmpty else { return found }
            try await learnShapes(from: server)
            for position in unknown {
                guard let value = snapshot.values[position] else { continue }
                found[position].record = try? SharedRecord(value, named: names[position], shapes)
                if found[position].record == nil { statistics.add(\.damagedValues, 1) }
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
    /// What is known without asking; nil to ask always.
    private let recentWrites: RecentWrites?
    /// Whether the servers were asked.
    private(set) var hasAsked = false
    /// What the servers had, by the positions of the tree; nil where nobody has asked.
    private var found: [Servers.Found?] = []

    /// The most records that are fetched because they might be needed.
    private static var speculation: Int { 20_000 }
    /// How often records are fetched again because they have changed meanwhile. After seven
    /// attempts all records of a changed server are fetched at once, if one question has room for
    /// them.
    private static var attempts: Int { 12 }

    /// - Parameters:
    ///   - tree: A tree that knows the names that are asked for.
    ///   - read: Reads the tree from the records so far.
    init(
        _ servers: Servers, _ tree: SharedTree, _ recentWrites: RecentWrites? = nil,
        _ read: @escaping (SharedTree) -> SharedTree.Read<Value>
    ) {
        self.servers = servers
        self.read = read
        self.tree = tree
        self.recentWrites = recentWrites
    }

    /// Fetches the tree whose root is one of the names that the tree knows.
    ///
    /// With recent writes, the records may be older than those of the servers.
    ///
    /// - Throws: `FleetError.unavailable` if a server does not answer, `.contended` if the tree
    ///   changes all the time.
    mutating func run() async throws -> SharedTree.Read<Value> {
        try await add(Array(0..<tree.count))
        for attempt in 0..<Self.attempts {
            let result = try await complete()
            if !hasAsked { return result }
            let outdated = try await outdatedPositions(isLast: attempt > Self.attempts / 2)
            if outdated.isEmpty { return result }
            try await add(outdated)
        }
        throw FleetError.contended(attempts: Self.attempts)
    }

    /// Fetches the names that the tree knows, and some levels of what they refer to.
    mutating func fetchLevels(_ count: Int) async throws {
        var level = Array(0..<tree.count)
        var depth = 0
        while !level.isEmpty {
            try await add(level)
            guard depth < count else { return }
            depth += 1
            level = tree.nextLevel(limit: .max, ofAll: true)
        }
    }

    private mutating func add(_ positions: [Int]) async throws {
        let names = positions.map { tree.name(at: $0) }
        let known = hasAsked ? nil : recentWrites?.find(names)
        if known == nil { hasAsked = true }
        let values = if let known { known } else { try await servers.fetch(names) }
        tree.add(values.map(\.record), at: positions)
        found += [Servers.Found?](repeating: nil, count: tree.count - found.count)
        for (position, value) in zip(positions, values) { found[position] = value }
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

    /// Returns the positions of records that have changed since they were fetched, up to the moment
    /// of the last fetch from their server. Without any, the records of each server are those of
    /// that moment.
    ///
    /// - Parameter isLast: Whether to return all records of a server that has changed, if they can
    ///   be fetched in one moment.
    private func outdatedPositions(isLast: Bool) async throws -> [Int] {
        var firsts = [UInt64](repeating: .max, count: servers.all.count)
        var lasts = [UInt64](repeating: 0, count: servers.all.count)
        // A connection may still lead to a process that another one has replaced.
        var processes = [Set<String>](repeating: [], count: servers.all.count)
        for case let value? in found {
            firsts[value.server] = min(firsts[value.server], value.clock)
            lasts[value.server] = max(lasts[value.server], value.clock)
            processes[value.server].insert(value.runIdentifier)
        }
        var outdated: [Int] = []
        for server in servers.all.indices
        where firsts[server] < lasts[server] || processes[server].count > 1 {
            let (first, last) = (firsts[server], lasts[server])
            let isMixed = processes[server].count > 1
            let fetchesAll = isLast && found.count { $0?.server == server } <= Servers.batch
            let changed =
                fetchesAll || first == 0 || isMixed
                ? nil : try? await servers.all[server].changes(after: first, upTo: last)
            for case (let position, let value?) in found.enumerated() where value.server == server {
                guard let changed else {
                    outdated.append(position)
                    continue
                }
                let change = changed[tree.name(at: position)]
                if let change, change > value.clock { outdated.append(position) }
            }
        }
        return outdated
    }

    /// The number of records that the servers had.
    var recordCount: Int { found.count { $0?.record != nil } }

    /// What the servers had, by name.
    var foundByName: [SharedName: Servers.Found] {
        var byName: [SharedName: Servers.Found] = [:]
        for case (let position, let value?) in found.enumerated() {
            byName[tree.name(at: position)] = value
        }
        return byName
    }

    /// The records for the near cache, in pre-order: a tree is read fastest if its records stand in
    /// the order in which they are read.
    ///
    /// - Parameter epochs: Those of the servers before they were asked.
    func copies(_ epochs: [Int]) -> [Coherence.Copy] {
        var copies: [Coherence.Copy] = []
        copies.reserveCapacity(found.count)
        for position in tree.preOrder {
            guard position < found.count, let value = found[position], let record = value.record
            else { continue }
            copies.append(
                Coherence.Copy(
                    name: tree.name(at: position), record: record, server: value.server,
                    clock: value.clock, epoch: epochs[value.server],
                    runIdentifier: value.runIdentifier))
        }
        return copies
    }
}

import EspalierRecords
import EspalierRedis
public import EspalierSharedRecords
import EspalierStore
import Foundation

/// Looks at the servers of a fleet from outside, for tools: it changes nothing.
///
/// ```swift
/// let inspector = FleetInspector(FleetConfiguration(servers: servers))
/// for server in try await inspector.statistics() { print(server.name, server.commits) }
/// ```
public final class FleetInspector: Sendable {
    private let servers: [RecordServer]
    private let ring: Ring
    private let configuration: FleetConfiguration

    /// The keys that a server looks at for one answer.
    private static let scanCount = 1_000

    /// Makes an inspector. It connects at once.
    ///
    /// - Parameter configuration: The servers and the prefix of the fleet.
    public init(_ configuration: FleetConfiguration) {
        self.configuration = configuration
        servers = configuration.servers.map { RecordServer($0, configuration) }
        ring = Ring(servers.map(\.name))
    }

    deinit { for server in servers { server.client.close() } }

    private func ask(
        _ server: RecordServer, _ command: RedisCommand
    ) async throws -> RedisReply {
        do {
            return try await server.client.send(command)
        } catch let error as RedisError {
            throw FleetError.unavailable(server: server.name, error)
        }
    }

    // MARK: Statistics

    /// What a server says of itself and of the fleet's records on it.
    public struct ServerStatistics: Sendable, Codable {
        /// The host and the port.
        public var name: String
        /// The version of the server.
        public var version: String
        /// The bytes of memory in use.
        public var memory: Int
        /// The most bytes that the server may use; 0 for no limit.
        public var memoryLimit: Int
        /// What the server does at that limit.
        public var evictionPolicy: String
        /// The keys that the server has evicted since it started.
        public var evictedKeys: Int
        /// The connections that wait for changes: the followers of hosts.
        public var followers: Int
        /// The number of the last commit; 0 for none.
        public var commits: UInt64
        /// The number of commits that the server's stream of changes holds.
        public var changes: Int
        /// The shapes of records.
        public var shapes: Int
        /// The records of nodes, keys and collections; nil if they were not counted.
        public var records: [String: Int]?
    }

    /// Returns the statistics of all servers.
    ///
    /// - Parameter countsRecords: Whether to count the records, which looks at all keys.
    /// - Throws: `FleetError.unavailable` for a server that does not answer.
    public func statistics(countsRecords: Bool = false) async throws -> [ServerStatistics] {
        var all: [ServerStatistics] = []
        for server in servers {
            let text = try await ask(server, RedisCommand("INFO")).text ?? ""
            var values: [Substring: Substring] = [:]
            for line in text.split(whereSeparator: \.isNewline) {
                guard let colon = line.firstIndex(of: ":") else { continue }
                values[line[..<colon]] = line[line.index(after: colon)...]
            }
            func number(_ name: Substring) -> Int { values[name].flatMap { Int($0) } ?? 0 }
            let clock = try await ask(server, RedisCommand("GET", server.clockKey))
            var statistics = ServerStatistics(
                name: server.name, version: String(values["redis_version"] ?? ""),
                memory: number("used_memory"), memoryLimit: number("maxmemory"),
                evictionPolicy: String(values["maxmemory_policy"] ?? ""),
                evictedKeys: number("evicted_keys"), followers: number("blocked_clients"),
                commits: try RecordServer.clock(clock),
                changes: try await ask(server, RedisCommand("XLEN", server.changesKey)).number ?? 0,
                shapes: try await ask(server, RedisCommand("HLEN", server.shapesKey)).number ?? 0)
            if countsRecords {
                var counts = ["node": 0, "key": 0, "collection": 0]
                try await forEachName(on: server) { names in
                    for name in names { counts["\(name.kind)", default: 0] += 1 }
                }
                statistics.records = counts
            }
            all.append(statistics)
        }
        return all
    }

    /// Calls `body` with the names of all records on a server. A record that changes meanwhile may
    /// occur twice.
    private func forEachName(
        on server: RecordServer, _ body: ([SharedName]) async throws -> Void
    ) async throws {
        let prefix = "\(configuration.prefix):"
        var cursor = "0"
        repeat {
            let reply = try await ask(
                server,
                RedisCommand(
                    "SCAN", cursor, "MATCH", Self.pattern(prefix), "COUNT", Self.scanCount))
            guard let parts = reply.elements, parts.count == 2, let next = parts[0].text else {
                throw FleetError.unavailable(server: server.name, .malformed("SCAN"))
            }
            cursor = next
            let names = (parts[1].elements ?? []).compactMap(\.text).compactMap { key in
                RecordServer.name(key.utf8.dropFirst(prefix.utf8.count))
            }
            if !names.isEmpty { try await body(names) }
        } while cursor != "0"
    }

    /// Returns the pattern of all keys with a prefix, in which no character of it is special.
    private static func pattern(_ prefix: String) -> String {
        prefix.map { "*?[]\\".contains($0) ? "\\\($0)" : String($0) }.joined() + "*"
    }

    // MARK: Verification

    /// Something that is wrong with a record.
    public struct Problem: Sendable, Hashable, Codable {
        /// The server.
        public var server: String
        /// The key of the record.
        public var key: String
        /// What is wrong, in words.
        public var detail: String
    }

    /// What a verification has found.
    public struct Verification: Sendable, Codable {
        /// The intact records.
        public var records = 0
        /// The tombstones among them.
        public var tombstones = 0
        /// The records that refer to nodes that no server has. Servers evict records one by one, so
        /// this is no problem: reads of such trees miss.
        public var incomplete = 0
        /// The records of a later format, which this version can't read.
        public var newer = 0
        /// What is wrong.
        public var problems: [Problem] = []
    }

    /// Reads all records of all servers, and checks them: their bytes, their shapes, the server
    /// that they are on, and their versions.
    ///
    /// - Throws: `FleetError.unavailable` for a server that does not answer.
    public func verify() async throws -> Verification {
        var result = Verification()
        let shapes = SharedShapes()
        for (index, server) in servers.enumerated() {
            for (fingerprint, bytes) in try await server.shapes()
            where !shapes.add(bytes, fingerprint: fingerprint) {
                result.problems.append(
                    Problem(
                        server: server.name, key: server.shapesKey,
                        detail: "the shape \(String(fingerprint, radix: 16)) is damaged"))
            }
            try await forEachName(on: server) { names in
                var command = RedisCommand("MGET", count: names.count)
                for name in names { command.append(server.key(of: name)) }
                let values = try await self.ask(server, command).elements ?? []
                try await self.reportForeignTypes(
                    zip(names, values).filter { $1 == .null }.map(\.0), on: server, &result)
                var children: Set<SharedName> = []
                var referring: [(SharedName, [String])] = []
                for (name, value) in zip(names, values) {
                    guard
                        let record = self.check(
                            value, name, on: index, shapes, &result)
                    else { continue }
                    referring.append((name, record.children))
                    children.formUnion(record.children.map { SharedName(.node, $0) })
                }
                let missing = try await self.missing(children)
                result.incomplete += referring.count { _, children in
                    children.contains { missing.contains(SharedName(.node, $0)) }
                }
            }
        }
        return result
    }

    /// Checks one value. Returns the record if it is intact.
    private func check(
        _ value: RedisReply, _ name: SharedName, on server: Int, _ shapes: SharedShapes,
        _ result: inout Verification
    ) -> SharedRecord? {
        func report(_ detail: String) {
            result.problems.append(
                Problem(
                    server: servers[server].name, key: servers[server].key(of: name),
                    detail: detail))
        }
        // Without a value the record has gone since its key was listed.
        guard let bytes = value.data else { return nil }
        do throws(SharedRecordError) {
            let record = try SharedRecord(bytes, named: name, shapes)
            result.records += 1
            if record.isTombstone { result.tombstones += 1 }
            if ring.server(of: name) != server {
                report("the record belongs on \(servers[ring.server(of: name)].name)")
            }
            if record.version.milliseconds > configuration.milliseconds() + 60_000 {
                report("the version is more than a minute in the future")
            }
            return record
        } catch .newerFormat {
            result.newer += 1
        } catch {
            report("\(error)")
        }
        return nil
    }

    /// Reports the keys that hold a list or another type, for which `MGET` returns nothing.
    private func reportForeignTypes(
        _ names: [SharedName], on server: RecordServer, _ result: inout Verification
    ) async throws {
        guard !names.isEmpty else { return }
        let replies = try await server.client.send(
            names.map { RedisCommand("TYPE", server.key(of: $0)) })
        for (name, reply) in zip(names, replies) {
            guard let type = reply.text, type != "none", type != "string" else { continue }
            result.problems.append(
                Problem(
                    server: server.name, key: server.key(of: name),
                    detail: "the value is a \(type) and no string"))
        }
    }

    /// Returns those of the names that no server has.
    private func missing(_ names: Set<SharedName>) async throws -> Set<SharedName> {
        var missing: Set<SharedName> = []
        for (index, names) in Dictionary(grouping: names, by: { ring.server(of: $0) }) {
            let server = servers[index]
            let replies = try await server.client.send(
                names.map { RedisCommand("EXISTS", server.key(of: $0)) })
            for (name, reply) in zip(names, replies) where reply == .integer(0) {
                missing.insert(name)
            }
        }
        return missing
    }

    // MARK: Changes

    /// A commit of a host.
    public struct Commit: Sendable {
        /// The server.
        public var server: String
        /// The number of the commit on that server.
        public var number: UInt64
        /// When and by which host the records were written.
        public var version: RecordVersion
        /// The records that were written.
        public var written: [SharedName]
        /// The records that were deleted.
        public var deleted: [SharedName]
    }

    /// Returns the commits from now on. The sequence ends when its task is cancelled, and throws if
    /// a server does not answer.
    public func commits() -> AsyncThrowingStream<Commit, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    var positions: [UInt64] = []
                    for server in self.servers {
                        let reply = try await self.ask(
                            server, RedisCommand("GET", server.clockKey))
                        positions.append(try RecordServer.clock(reply))
                    }
                    while !Task.isCancelled {
                        for (index, server) in self.servers.enumerated() {
                            let commits = try await self.commits(server, after: positions[index])
                            for commit in commits {
                                positions[index] = commit.number
                                continuation.yield(commit)
                            }
                            guard commits.isEmpty else { continue }
                            // A server that comes back with an older state has smaller numbers.
                            let reply = try await self.ask(
                                server, RedisCommand("GET", server.clockKey))
                            positions[index] = min(
                                positions[index], try RecordServer.clock(reply))
                        }
                        try await Task.sleep(for: .milliseconds(50))
                    }
                    continuation.finish()
                } catch is CancellationError {
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func commits(_ server: RecordServer, after number: UInt64) async throws -> [Commit] {
        let reply = try await ask(
            server, RedisCommand("XRANGE", server.changesKey, "(\(number)-0", "+", "COUNT", 1_000))
        return (reply.elements ?? []).compactMap(ChangeEntry.init).map { entry in
            Commit(
                server: server.name, number: entry.clock, version: entry.version,
                written: entry.names.filter { !entry.deleted.contains($0) },
                deleted: Array(entry.deleted))
        }
    }
}

extension SharedCache {
    /// Fills the near cache with trees, so that the first reads need not ask the servers. It copies
    /// records, so it needs no model types.
    ///
    /// - Parameters:
    ///   - identifiers: The identifiers of the roots.
    ///   - depth: How many levels of children to follow.
    /// - Returns: How many records were put near, and which roots no server has. A record of more
    ///   than an eighth of the near cache's budget is not stored.
    /// - Throws: `FleetError.unavailable` if a server does not answer.
    public func warm(
        _ identifiers: [String], depth: Int = 16
    ) async throws -> (records: Int, missing: [String]) {
        let tree = SharedTree(shapes: servers.shapes)
        var fetch = TreeFetch<Never>(servers, tree) { _ in
            preconditionFailure("Nothing is read from a tree without a type.")
        }
        let roots = identifiers.map { tree.position(of: SharedName(.node, $0)) }
        let epochs = coherence.epochs
        try await fetch.fetchLevels(depth)
        let copies = fetch.copies(epochs)
        let missing = zip(identifiers, roots).filter { _, position in
            tree.record(at: position).map(\.isTombstone) ?? true
        }
        // In parts: the near cache refuses a write of more than an eighth of its budget.
        var count = 0
        var part: [Coherence.Copy] = []
        var bytes = 0
        for copy in copies {
            if !part.isEmpty, bytes + copy.record.byteCount > near.budget.bytes / 32 {
                count += await coherence.restore(part, waitingForCommit: true)
                (part, bytes) = ([], 0)
            }
            part.append(copy)
            bytes += copy.record.byteCount
        }
        count += await coherence.restore(part, waitingForCommit: true)
        return (count, missing.map(\.0))
    }
}

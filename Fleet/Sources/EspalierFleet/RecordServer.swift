import EspalierRecords
import EspalierRedis
import EspalierSharedRecords
import Foundation
import Synchronization

/// One server and the keys on it.
///
///     PREFIX:n:IDENTIFIER     the record of a node
///     PREFIX:k:KEY            the record of a key
///     PREFIX:c:KEY            a collection
///     PREFIX:shapes           a hash: the shapes, by fingerprint in hexadecimal digits
///     PREFIX:clock            the number of the last commit, in decimal digits
///     PREFIX:changes          a stream: the names that each commit changed, under its number
///
/// Every commit is one script: it compares the versions of the records that it replaces, and does
/// nothing if one has changed. `MGET` of the clock and some records is a snapshot of the server.
final class RecordServer: Sendable {
    let name: String
    let client: RedisClient
    let clockKey: String
    let changesKey: String
    let shapesKey: String
    private let prefix: String
    private let script = Mutex<String?>(nil)

    init(_ address: RedisAddress, _ configuration: FleetConfiguration) {
        name = "\(address.host):\(address.port)"
        prefix = configuration.prefix
        clockKey = "\(prefix):clock"
        changesKey = "\(prefix):changes"
        shapesKey = "\(prefix):shapes"
        client = RedisClient(
            address, connections: configuration.connections, timeout: configuration.timeout)
    }

    // MARK: Keys

    func key(of name: SharedName) -> String { "\(prefix):\(Self.text(of: name))" }

    /// The name as it stands in keys and in the stream of changes: `n:Person:1`. In the stream the
    /// name of a deleted record begins with a capital letter: `N:Person:1`.
    static func text(of name: SharedName) -> String {
        "\(mark(of: name).dropFirst())\(name.identifier)"
    }

    /// What stands between the prefix and the identifier in a key.
    private static func mark(of name: SharedName) -> String {
        switch name.kind {
        case .node: ":n:"
        case .key: ":k:"
        case .collection, .segment: ":c:"
        }
    }

    /// Returns the name of which `text` is the text; nil if it is none.
    ///
    /// Reads bytes: an identifier may begin with a character that joins the colon before it, such
    /// as an accent.
    static func name(_ text: some Collection<UInt8>) -> SharedName? {
        guard let kind = text.first, text.dropFirst().first == UInt8(ascii: ":") else {
            return nil
        }
        let identifier = String(decoding: text.dropFirst(2), as: UTF8.self)
        switch kind {
        case UInt8(ascii: "n"), UInt8(ascii: "N"): return SharedName(.node, identifier)
        case UInt8(ascii: "k"), UInt8(ascii: "K"): return SharedName(.key, identifier)
        case UInt8(ascii: "c"), UInt8(ascii: "C"): return SharedName(.collection, identifier)
        default: return nil
        }
    }

    // MARK: Reads

    /// The values of some names, as they all were after the commit `clock`.
    struct Snapshot: Sendable {
        let clock: UInt64
        let values: [[UInt8]?]
        /// Names the process of the server that has answered.
        let runIdentifier: String
    }

    /// Reads the values of names: one command, and so one moment.
    func snapshot(of names: [SharedName]) async throws -> Snapshot {
        var command = RedisCommand("MGET", count: names.count + 1)
        command.append(clockKey)
        for name in names { command.append(prefix, Self.mark(of: name), name.identifier) }
        let (reply, runIdentifier) = try await client.ask(command)
        guard let elements = reply.elements, elements.count == names.count + 1 else {
            throw RedisError.malformed("MGET of \(names.count) records")
        }
        return Snapshot(
            clock: try Self.clock(elements[0]), values: elements.dropFirst().map(\.data),
            runIdentifier: runIdentifier)
    }

    /// Reads the descriptions of all shapes, which are few.
    func shapes() async throws -> [(fingerprint: UInt64, description: [UInt8])] {
        let elements = try await client.send(RedisCommand("HGETALL", shapesKey)).elements ?? []
        return stride(from: 0, to: elements.count - 1, by: 2).compactMap { index in
            guard let text = elements[index].text, let fingerprint = UInt64(text, radix: 16),
                let description = elements[index + 1].data
            else { return nil }
            return (fingerprint, description)
        }
    }

    /// Returns the number of the last commit from the value of `clockKey`; 0 if there is none.
    ///
    /// - Throws: `.refused` if the server answers with an error, as while it loads its data. Such
    ///   an answer must not look like a server that has lost its memory.
    static func clock(_ reply: RedisReply) throws(RedisError) -> UInt64 {
        if case .error(let message) = reply { throw .refused(message) }
        guard let text = reply.text else { return 0 }
        guard let clock = UInt64(text) else { throw .malformed("the number of the last commit") }
        return clock
    }

    /// Returns the names that the commits after `first` up to `last` have changed, each with the
    /// last of these commits; nil if the stream does not go back that far.
    func changes(after first: UInt64, upTo last: UInt64) async throws -> [SharedName: UInt64]? {
        let reply = try await client.send(
            RedisCommand("XRANGE", changesKey, "\(first + 1)", "\(last)", "COUNT", 10_000))
        let entries = (reply.elements ?? []).compactMap(ChangeEntry.init)
        // An entry that can't be read is missing.
        guard entries.first?.clock == first + 1, entries.last?.clock == last,
            UInt64(entries.count) == last - first
        else { return nil }
        var changed: [SharedName: UInt64] = [:]
        for entry in entries { for name in entry.names { changed[name] = entry.clock } }
        return changed
    }

    // MARK: Commits

    /// A record to be stored if the server still has what was read.
    struct Change: Sendable {
        let name: SharedName
        /// Bytes 2 to 18 of the value that was read: its version; empty for none.
        let expected: [UInt8]
        let bytes: [UInt8]
        let isDelete: Bool
        /// In milliseconds; 0 for ever.
        let lifetime: Int
    }

    enum CommitResult: Sendable {
        /// The number of the commit, and the run identifier of the server process that made it.
        case committed(UInt64, by: String)
        /// Another host has changed a record.
        case conflict
    }

    /// Stores records in one step, or none of them.
    ///
    /// - Parameter checks: Records that must be as they were, too, and their versions.
    func commit(
        _ changes: [Change], checks: [(name: SharedName, expected: [UInt8])],
        version: RecordVersion,
        shapes: [(fingerprint: UInt64, description: [UInt8])], changeLimit: Int
    ) async throws -> CommitResult {
        let keys =
            [clockKey, changesKey, shapesKey] + changes.map { key(of: $0.name) }
            + checks.map { key(of: $0.name) }
        var arguments: [any RedisArgument] = keys
        let names = changes.map { change in
            let text = Self.text(of: change.name)
            return change.isDelete ? text.prefix(1).uppercased() + text.dropFirst() : text
        }
        arguments.append(version.bytes)
        arguments.append(names.map { "\($0.utf8.count):\($0)," }.joined())
        arguments.append(changeLimit)
        arguments.append(changes.count)
        for change in changes {
            arguments.append(change.expected)
            arguments.append(change.bytes)
            arguments.append(change.lifetime)
        }
        for check in checks { arguments.append(check.expected) }
        for shape in shapes {
            arguments.append(String(shape.fingerprint, radix: 16))
            arguments.append(shape.description)
        }
        let (reply, runIdentifier) = try await run(keyCount: keys.count, arguments)
        switch reply {
        case .integer(0): return .conflict
        case .bytes, .status:
            guard let clock = reply.text.flatMap(UInt64.init) else { break }
            return .committed(clock, by: runIdentifier)
        default: break
        }
        throw RedisError.malformed("the commit script")
    }

    /// Runs the script, which the server may not have yet.
    private func run(
        keyCount: Int, _ arguments: [any RedisArgument]
    ) async throws -> (reply: RedisReply, runIdentifier: String) {
        func evaluate(_ digest: String) async throws -> (RedisReply, String) {
            try await client.ask(RedisCommand("EVALSHA", [digest, keyCount] + arguments))
        }
        if let digest = script.withLock({ $0 }) {
            do {
                return try await evaluate(digest)
            } catch RedisError.refused(let message) where message.hasPrefix("NOSCRIPT") {}
        }
        let loaded = try await client.send(RedisCommand("SCRIPT", "LOAD", Self.commitScript))
        guard let digest = loaded.text else { throw RedisError.malformed("SCRIPT LOAD") }
        script.withLock { $0 = digest }
        return try await evaluate(digest)
    }

    /// The number of a commit is 1 more than that of the commit before, so that a host notices each
    /// change that it has missed. A server that has lost its clock goes on above all numbers that
    /// it can have given out: with the time in microseconds.
    ///
    /// The stream comes first: if it refuses the entry, the script ends before it has changed a
    /// record.
    static let commitScript = """
        local count = tonumber(ARGV[4])
        for i = 1, count do
          if redis.call('GETRANGE', KEYS[i + 3], 2, 17) ~= ARGV[3 * i + 2] then return 0 end
        end
        local checks = #KEYS - 3 - count
        for i = 1, checks do
          local version = ARGV[4 + 3 * count + i]
          if redis.call('GETRANGE', KEYS[3 + count + i], 2, 17) ~= version then return 0 end
        end
        if redis.call('EXISTS', KEYS[1]) == 0 then
          local now = redis.call('TIME')
          local start = now[1] * 1000000 + now[2]
          local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
          if last[1] then start = math.max(start, tonumber(string.match(last[1][1], '^%d+'))) end
          redis.call('SET', KEYS[1], string.format('%.0f', start))
        end
        local clock = string.format('%.0f', redis.call('INCR', KEYS[1]))
        redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], clock .. '-0',
          'version', ARGV[1], 'names', ARGV[2])
        for i = 1, count do
          local lifetime = ARGV[3 * i + 4]
          if lifetime == '0' then
            redis.call('SET', KEYS[i + 3], ARGV[3 * i + 3])
          else
            redis.call('SET', KEYS[i + 3], ARGV[3 * i + 3], 'PX', lifetime)
          end
        end
        for i = 5 + 3 * count + checks, #ARGV, 2 do
          redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
        end
        return clock
        """
}

/// An entry of the stream of changes: what one commit has changed.
struct ChangeEntry: Sendable {
    let clock: UInt64
    let version: RecordVersion
    let names: [SharedName]
    /// Those of the names whose records were deleted.
    let deleted: Set<SharedName>

    init(
        clock: UInt64, version: RecordVersion, names: [SharedName], deleted: Set<SharedName> = []
    ) {
        self.clock = clock
        self.version = version
        self.names = names
        self.deleted = deleted
    }

    /// Returns the number of a commit from its entry.
    static func number(of reply: RedisReply) -> UInt64? {
        guard let identifier = reply.elements?.first?.text else { return nil }
        return identifier.split(separator: "-").first.flatMap { UInt64($0) }
    }

    /// Returns nil for an entry that is not one of this library's.
    init?(_ reply: RedisReply) {
        guard let parts = reply.elements, parts.count == 2, let clock = Self.number(of: reply),
            let fields = parts[1].elements
        else { return nil }
        var version: RecordVersion?
        var names: [(name: SharedName, isDelete: Bool)]?
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            guard let data = fields[index + 1].data else { continue }
            switch fields[index].text {
            case "version": version = RecordVersion(bytes: data)
            case "names": names = Self.names(data)
            default: break
            }
        }
        guard let version, let names else { return nil }
        self.init(
            clock: clock, version: version, names: names.map(\.name),
            deleted: Set(names.lazy.filter(\.isDelete).map(\.name)))
    }

    /// Reads a list of netstrings: `10:n:Person:1,`.
    private static func names(_ data: [UInt8]) -> [(name: SharedName, isDelete: Bool)]? {
        var names: [(SharedName, Bool)] = []
        var rest = data[...]
        while !rest.isEmpty {
            guard let colon = rest.firstIndex(of: UInt8(ascii: ":")),
                let count = Int(String(decoding: rest[..<colon], as: UTF8.self)), count >= 0,
                count < rest.endIndex - colon - 1, rest[colon + 1 + count] == UInt8(ascii: ","),
                let name = RecordServer.name(rest[(colon + 1)..<(colon + 1 + count)])
            else { return nil }
            names.append((name, rest[colon + 1] < UInt8(ascii: "a")))
            rest = rest[(colon + 2 + count)...]
        }
        return names
    }
}

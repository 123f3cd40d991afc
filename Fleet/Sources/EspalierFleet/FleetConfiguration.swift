import EspalierRecords
public import EspalierRedis
import EspalierSharedRecords
public import EspalierStore
import Foundation

/// How a host shares records with others.
///
/// ```swift
/// var configuration = FleetConfiguration(servers: [RedisAddress(host: "cache-1")])
/// configuration.near = .directory("/var/cache/service")
/// let cache = try SharedCache(configuration)
/// ```
///
/// All hosts of a fleet must have the same ``servers`` and the same ``prefix``. Other settings may
/// differ.
public struct FleetConfiguration: Sendable {
    /// Where a host keeps its copies.
    public enum Near: Sendable {
        /// In a directory, which survives a restart.
        case directory(String)
        /// In memory.
        case memory
    }

    /// The servers. Each record is on one of them, by consistent hashing of its identifier.
    ///
    /// All hosts must write each server the same way: `localhost` and `127.0.0.1` are two servers
    /// to them, and two databases of one server are one. If the list or its order changes, a host
    /// loses its copies on disk.
    public var servers: [RedisAddress]
    /// The beginning of all keys on the servers.
    public var prefix = "espalier"
    /// A number that no other host of the fleet has. By default it is random.
    public var host = UInt64.random(in: 1...UInt64.max)
    /// Where the near cache is.
    public var near = Near.memory
    /// The configuration of the near cache: its budget and so on. Applies to ``Near/memory``, too.
    public var nearConfiguration = Configuration()
    /// How long copies count as current after the host last knew all commits of their servers.
    /// Default: 500 ms. Afterwards a read asks the servers.
    public var maximumStaleness = Duration.milliseconds(500)
    /// How long reads return copies after ``maximumStaleness`` has passed, while servers can't be
    /// reached. Default: 30 s. Outcomes mark such hits as expired. Afterwards reads miss. Zero
    /// makes them miss at once.
    ///
    /// A read of fresh records returns no copy that the host knows to be replaced, or that is older
    /// than its record may be: it misses. A read that accepts expired records returns those, too.
    public var staleLimit = Duration.seconds(30)
    /// How long a host waits after it was told of commits before it asks a server for more.
    /// Default: 1 ms. Counts as at most a fifth of ``maximumStaleness``.
    ///
    /// A longer pause puts more commits into one message. With hundreds of hosts, 50 ms halve the
    /// work of busy servers, and make changes known 25 ms later on average.
    public var followPause = Duration.milliseconds(1)
    /// How long to wait for a connection and for an answer. With its time in a queue, a request may
    /// take twice as long.
    public var timeout = Duration.seconds(1)
    /// The connections to each server, apart from the one that listens for changes.
    public var connections = 2
    /// How long a server keeps the tombstone of a deleted record. Default: 1 hour. Until then a
    /// read omits references to the record; afterwards a tree that still refers to it is a miss.
    public var tombstoneLifetime = Duration.seconds(3_600)
    /// After how long without a write a server removes a record. Nil, the default, and zero stand
    /// for never. Reads do not prolong it.
    public var retention: Duration?
    /// About how many commits the stream of changes of a server keeps for hosts that were away.
    /// Default: 100,000. A host that was away for more commits fetches its copies anew.
    public var changeLimit = 100_000
    /// The time of the wall clock in milliseconds since 1970, for versions and ages. Tests set it.
    public var milliseconds: @Sendable () -> UInt64 = {
        UInt64(max(0, Date().timeIntervalSince1970) * 1_000)
    }

    /// Makes a configuration.
    ///
    /// - Parameter servers: The servers, at least one, in the same order on all hosts.
    public init(servers: [RedisAddress]) { self.servers = servers }
}

/// Why a fleet's cache can't do what it is asked for.
public enum FleetError: Error, Sendable, CustomStringConvertible {
    /// The configuration names no server.
    case noServers
    /// A server could not be asked. The write may have happened or not, also in part: what a read
    /// returns next tells.
    case unavailable(server: String, RedisError)
    /// Other hosts changed the same records at each of `attempts` attempts. Try again later.
    case contended(attempts: Int)
    /// An update that changes records on several servers was stored on some of them, and then
    /// another host was faster on `server`. The update is not made again, because what is stored
    /// would count twice. Read the model to find out what is left to do.
    case partlyDone(server: String)
    /// There is no such model, or it can't be read.
    case miss(String)
    /// The cache is closed.
    case closed
    /// Another process, or another object of this one, uses the directory of the near cache.
    case nearInUse(directory: String)

    /// The error in words, and what to do.
    public var description: String {
        switch self {
        case .noServers: "The configuration names no server. Name at least one."
        case .unavailable(let server, let error): "\(server): \(error)"
        case .contended(let attempts):
            "Other hosts changed the same records at each of \(attempts) attempts. Try again later."
        case .partlyDone(let server):
            "A part of the update is stored, and another host was faster on \(server). "
                + "Read the model, and change what is left."
        case .miss(let reason): "There is no such model: \(reason)."
        case .closed: "The cache is closed."
        case .nearInUse(let directory):
            "\(directory): another host uses this near cache. Close it, or name another directory."
        }
    }
}

/// Assigns records to servers by consistent hashing (Karger et al., 1997): if a server is added to
/// *n*, a share of 1/(*n* + 1) of the records moves.
///
/// Of an identifier with text in braces, such as `Post:{user7}:12`, only that text counts, so that
/// records which change together can be kept on one server, where they change in one step.
struct Ring: Sendable {
    private static let pointsPerServer = 160
    private let points: [(hash: UInt64, server: Int)]
    private let count: Int

    /// - Parameter names: The names of the servers.
    init(_ names: [String]) {
        count = names.count
        points = names.enumerated().flatMap { index, name in
            (0..<Self.pointsPerServer).map { point in
                (hash: SharedName(.node, "\(name)#\(point)").stableHash, server: index)
            }
        }.sorted { ($0.hash, $0.server) < ($1.hash, $1.server) }
    }

    /// Returns the position of the server of a record.
    func server(of name: SharedName) -> Int {
        guard count > 1 else { return 0 }
        let tag = Self.tag(of: name.identifier)
        // A node and a key of one name are on one server, because a write concerns both.
        let wanted =
            tag == nil && name.kind == .node
            ? name.stableHash : SharedName(.node, tag ?? name.identifier).stableHash
        var (low, high) = (0, points.count)
        while low < high {
            let middle = (low + high) / 2
            if points[middle].hash < wanted { low = middle + 1 } else { high = middle }
        }
        return points[low == points.count ? 0 : low].server
    }

    /// Returns the text in the first braces of an identifier; nil for none.
    private static func tag(of identifier: String) -> String? {
        let utf8 = identifier.utf8
        guard let open = utf8.firstIndex(of: UInt8(ascii: "{")),
            let close = utf8[open...].firstIndex(of: UInt8(ascii: "}")),
            utf8.index(after: open) < close
        else { return nil }
        return String(identifier[utf8.index(after: open)..<close])
    }
}

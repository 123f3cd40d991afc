/// The time that a server works for one request, in nanoseconds.
///
/// The figures follow from what `fleet-simulation measure` printed for a redis-server 7.0 on one of
/// two busy cores. They are processor time by the server's own `INFO cpu`:
///
///     GET (heartbeat)                                  9.08 us
///     MGET of 1                                        8.81 us
///     MGET of 20                                      11.26 us
///     MGET of 600                                    110.62 us
///     commit, 1 followers, 3817 a second              91.56 us
///     commit, 50 followers, 640 a second             853.46 us
///         and 195396 messages to all but the first
///     XREAD of 1000 commits                          385.39 us
public struct ServerCosts: Sendable, Hashable {
    /// `GET` of the commits' number: a heartbeat.
    public var heartbeat = 9_080
    /// `MGET`, whatever it returns: the line through `MGET` of 1 and of 600 records.
    public var fetch = 8_640
    /// Each record of an `MGET`.
    public var fetchedRecord = 170
    /// The commit script, with one record: a commit of one follower without its message.
    public var commit = 75_960
    /// An answer to a follower, whatever it tells, and the question for the next one: what 49
    /// further followers add to a commit, for each of their messages, without the commit in it.
    public var message = 15_250
    /// Each commit in an answer to a follower: of `XREAD` of 1,000 commits.
    public var entry = 350

    /// Makes the measured costs.
    public init() {}
}

/// A fleet, and what happens to it. Times are in nanoseconds.
public struct FleetModel: Sendable {
    /// What happens in addition to reads and changes.
    public enum Incident: Sendable {
        /// Nothing.
        case none
        /// Record 1 is changed `changes` times a second, and each host reads it `reads` times a
        /// second.
        case hotRecord(changes: Double, reads: Double)
        /// The first `count` records are changed at once.
        case storm(count: Int, at: Int)
        /// A server is gone for a time, and comes back without its memory.
        case serverLoss(at: Int, duration: Int)
        /// The first `hosts` hosts reach no server for a time.
        case cut(hosts: Int, at: Int, duration: Int)
    }

    /// The number of hosts.
    public var hosts = 1_000
    /// The number of servers.
    public var servers = 8
    /// The number of records.
    public var records = 1_000_000_000
    /// The exponent of the Zipf law of reads.
    public var readExponent = 1.0
    /// The exponent of the Zipf law of changes.
    public var changeExponent = 0.8
    /// The most records in a near cache.
    public var nearCapacity = 20_000
    /// Reads of each host in a second.
    public var readsPerSecond = 200.0
    /// Changes by each host in a second.
    public var changesPerSecond = 1.0
    /// How long a message is under way.
    public var latency = 250_000
    /// The bound on staleness: `FleetConfiguration.maximumStaleness`.
    public var maximumStaleness = 500_000_000
    /// `FleetConfiguration.staleLimit`.
    public var staleLimit = 30_000_000_000
    /// `FleetConfiguration.timeout`.
    public var timeout = 1_000_000_000
    /// The commits that a server keeps for hosts that were away.
    public var changeLimit = 100_000
    /// How long the origin takes for a record that no server has.
    public var originTime = 50_000_000
    /// How long the fleet runs.
    public var duration = 10_000_000_000
    /// Whether hosts are told of a record that no server had before. In `EspalierFleet` they are.
    public var announcesNewRecords = true
    /// `FleetConfiguration.followPause`.
    public var followPause = 1_000_000
    /// What happens.
    public var incident = Incident.none
    /// The work of servers.
    public var costs = ServerCosts()
    /// Chance.
    public var seed: UInt64 = 1

    /// Makes the model of a normal day.
    public init() {}

    /// The time between two heartbeats, as in the follower.
    var heartbeat: Int { max(5_000_000, min(100_000_000, maximumStaleness / 5)) }
}

/// What a fleet did.
public struct FleetOutcome: Sendable, Hashable {
    /// Reads in one second of the simulation, by what answered them.
    public struct Second: Sendable, Hashable {
        /// Reads.
        public var reads = 0
        /// Reads that near caches answered.
        public var nearHits = 0
        /// Reads that servers answered.
        public var sharedHits = 0
        /// Reads that near caches answered although the host could not know all changes.
        public var staleHits = 0
        /// Reads that nothing answered.
        public var misses = 0
        /// Records that were asked for.
        public var fetches = 0
    }

    /// All reads.
    public var total = Second()
    /// The reads of each second: of the hosts that are cut off, or of all hosts.
    public var seconds: [Second] = []
    /// Reads that waited for the same read of another caller.
    public var joinedReads = 0
    /// Commits of all servers.
    public var commits = 0
    /// Answers to followers.
    public var messages = 0
    /// Commits in these answers.
    public var entries = 0
    /// Heartbeats.
    public var heartbeats = 0
    /// Times that a near cache was emptied because changes were missed or a server lost its memory.
    public var resets = 0
    /// The share of the time that each server worked.
    public var work: [Double] = []
    /// How long after a commit hosts knew of it.
    public var delays = TimeCounts()
    /// How long after its begin a read was answered that near caches did not answer.
    public var waits = TimeCounts()
    /// How old the state was that near hits returned, where a commit had replaced it.
    public var staleness = TimeCounts()

    /// The share of reads that near caches answered.
    public var nearHitRate: Double { Double(total.nearHits) / Double(max(1, total.reads)) }

    /// The share of the other reads that servers answered.
    public var sharedHitRate: Double {
        Double(total.sharedHits) / Double(max(1, total.reads - total.nearHits))
    }
}

import Espalier
import EspalierFleet
import EspalierRedis
import EspalierSharedRecords
import FleetFixtures
import Foundation

// Measures what `docs/FLEET.md` promises: `swift run -c release fleet-bench`. All figures are
// medians, and compared within one run.

/// Returns the median time of `rounds` runs, in microseconds.
func median(_ rounds: Int, _ body: () async throws -> Void) async rethrows -> Double {
    var times: [Double] = []
    for _ in 0..<rounds {
        let start = ContinuousClock.now
        try await body()
        times.append(microseconds(start.duration(to: .now)))
    }
    return times.sorted()[rounds / 2]
}

func microseconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) * 1e6 + Double(attoseconds) / 1e12
}

func line(_ name: String, _ value: Double, _ unit: String = "us") {
    print(
        "\(name.padding(toLength: 52, withPad: " ", startingAt: 0)) \(String(format: "%10.2f", value)) \(unit)"
    )
}

let server = try TestServer()
enum RedisClientProbe { static let shared = RedisClient(server.address) }
defer { server.remove() }
func host(_ number: UInt64) throws -> SharedCache {
    var configuration = FleetConfiguration(servers: [server.address])
    configuration.host = number
    return try SharedCache(configuration)
}
let (a, b) = (try host(1), try host(2))
_ = await a.waitUntilCurrent()
_ = await b.waitUntilCurrent()
let feed = Feed.sample(posts: 100)
let identifier = feed.modelIdentifier ?? ""
try await a.set(feed)

if CommandLine.arguments.contains("profile") {
    // For a profiler: shared hits alone.
    // Nothing near counts as current.
    var configuration = FleetConfiguration(servers: [server.address])
    configuration.maximumStaleness = .zero
    let fresh = try SharedCache(configuration)
    for _ in 0..<5 {
        line(
            "shared hit",
            await median(200) { _ = await fresh.read(Feed.self, identifier) })
    }
    exit(0)
}

if CommandLine.arguments.contains("profile-changes") {
    b.close()
    let person = feed.posts[0].author.modelIdentifier ?? ""
    line(
        "MGET of two",
        try await median(2_000) {
            _ = try await RedisClientProbe.shared.send(RedisCommand("MGET", "a", "b"))
        })
    for round in 0..<5 {
        line(
            "change",
            try await median(500) {
                try await a.update(FeedPerson.self, person) { old in
                    var person = old
                    person.name = "\(round) \(Int.random(in: 0..<10_000))"
                    return person
                }
            })
    }
    server.remove()
    exit(0)
}

// A near hit.
_ = await b.read(Feed.self, identifier)
try await Task.sleep(for: .milliseconds(100))
let plain = try NormalizedCache(inMemory: Configuration())
try plain.set(feed).wait()
func near(_ title: String) async {
    var ratios: [Double] = []
    var (shared, alone) = ([Double](), [Double]())
    for _ in 0..<9 {
        let first = await median(200) { _ = await plain.read(Feed.self, identifier) }
        let second = await median(200) { _ = await b.read(Feed.self, identifier) }
        ratios.append(second / first)
        shared.append(second)
        alone.append(first)
    }
    line("near hit, \(title): NormalizedCache", alone.sorted()[4])
    line("near hit, \(title): SharedCache", shared.sorted()[4])
    line("near hit, \(title): ratio (1.1)", ratios.sorted()[4], "")
}
await near("in memory")
func nearCold(_ title: String) async {
    var ratios: [Double] = []
    for _ in 0..<9 {
        let first = await median(40) {
            plain.trimMemory()
            _ = await plain.read(Feed.self, identifier)
        }
        let second = await median(40) {
            b.near.trimMemory()
            _ = await b.read(Feed.self, identifier)
        }
        ratios.append(second / first)
    }
    line("near hit, \(title): ratio (1.1)", ratios.sorted()[4], "")
}
await nearCold("decoded")
try await a.update(FeedPerson.self, feed.posts[0].author.modelIdentifier ?? "") { $0 }
await near("in memory, after a change")
await nearCold("decoded, after a change")

// A shared hit: a host reads feeds that it has not read before.
let connection = try RedisConnection(server.address, timeout: .seconds(1))
let reader = try host(3)
_ = await reader.waitUntilCurrent()
var sharedTimes: [Double] = []
var mgetTimes: [Double] = []
var repeatedTimes: [Double] = []
var (recordBytes, recordCount, firstTrips, trips) = (0, 0, 0, 0)
for number in 2...41 {
    let feed = Feed.sample(posts: 100, number: number)
    try await a.set(feed)
    let identifiers = feed.identifiers
    var mget = RedisCommand("MGET", count: identifiers.count)
    for identifier in identifiers { mget.append("espalier:n:", identifier) }
    let replies = try connection.send([mget])[0].elements ?? []
    (recordBytes, recordCount) = (replies.reduce(0) { $0 + ($1.data?.count ?? 0) }, replies.count)
    // The copies of the feed before get into the near cache. Both questions come to a server, and
    // from a host, that have not had one for 30 ms.
    try await Task.sleep(for: .milliseconds(30))
    mgetTimes.append(try await median(1) { _ = try connection.send([mget]) })
    repeatedTimes.append(try await median(5) { _ = try connection.send([mget]) })
    try await Task.sleep(for: .milliseconds(30))
    firstTrips = reader.statistics.roundTrips
    // As a web server's handler does, on no actor.
    let (time, read) = await Task.detached {
        let start = ContinuousClock.now
        let read = await reader.read(Feed.self, "Feed:\(number)")
        return (microseconds(start.duration(to: .now)), read)
    }.value
    sharedTimes.append(time)
    guard read == feed else { fatalError("the feed differs") }
    trips = reader.statistics.roundTrips - firstTrips
}
let hits = reader.statistics
guard hits.nearHits == 0, hits.sharedHits == 40 else { fatalError("these were no shared hits") }
reader.close()
line("the feed's records: bytes", Double(recordBytes), "in \(recordCount) keys")
let (mgetTime, sharedTime) = (mgetTimes.sorted()[20], sharedTimes.sorted()[20])
line("MGET of the same bytes", mgetTime)
line("MGET of the same bytes, repeated at once", repeatedTimes.sorted()[20])
line("shared hit: round trips (5)", Double(trips), "")
line("shared hit", sharedTime)
line("shared hit: ratio (5)", sharedTime / mgetTime, "")
line("shared hit: ratio to the repeated MGET", sharedTime / repeatedTimes.sorted()[20], "")

// A change of a person, and the feed as one JSON value.
let person = feed.posts[0].author.modelIdentifier ?? ""
var number = 0
// The near caches still get the feeds of before.
try await Task.sleep(for: .milliseconds(500))
let change = try await median(2_000) {
    number += 1
    let name = "Ada \(number)"
    try await a.update(FeedPerson.self, person) { old in
        var person = old
        person.name = name
        return person
    }
}
let encoder = JSONEncoder()
_ = try connection.send([RedisCommand("SET", "json", Array(try encoder.encode(feed)))])
let decoder = JSONDecoder()
let json = try await median(50) {
    let reply = try connection.send([RedisCommand("GET", "json")])[0]
    var feed = try decoder.decode(Feed.self, from: Data(reply.data ?? []))
    feed.posts[0].author.name += "!"
    _ = try connection.send([RedisCommand("SET", "json", Array(try encoder.encode(feed)))])
}
line("change of a person", change)
line("the same in one JSON value", json)
line("change: ratio (30)", json / change, "")

// Staleness: 20 hosts, 200 changes per second.
let hosts = try (0..<20).map { try host(UInt64(100 + $0)) }
for host in hosts {
    _ = await host.waitUntilCurrent()
    _ = await host.read(Feed.self, identifier)
}
let end = ContinuousClock.now + .seconds(5)
await withTaskGroup(of: Void.self) { group in
    for writer in 0..<4 {
        group.addTask {
            var next = ContinuousClock.now
            var count = 0
            while ContinuousClock.now < end {
                next += .milliseconds(20)
                let post = feed.posts[(writer * 25 + count % 25) % 100]
                count += 1
                let name = "\(count)"
                _ = try? await hosts[writer].update(
                    FeedPerson.self, post.author.modelIdentifier ?? ""
                ) { old in
                    var person = old
                    person.name = name
                    return person
                }
                try? await Task.sleep(until: next, clock: .continuous)
            }
        }
    }
    for host in hosts {
        group.addTask {
            while ContinuousClock.now < end {
                _ = await host.read(Feed.self, identifier)
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
    }
}
let delays = hosts.flatMap(\.statistics.delays).sorted()
let statistics = hosts.map(\.statistics)
line("changes", Double(statistics.map(\.writes).reduce(0, +)), "in 5 s")
line("staleness, median (10)", Double(delays[delays.count / 2]), "ms")
line("staleness, p99 (50)", Double(delays[delays.count * 99 / 100]), "ms")
line("near hits", Double(statistics.map(\.nearHits).reduce(0, +)), "")
line("shared hits", Double(statistics.map(\.sharedHits).reduce(0, +)), "")
line("misses", Double(statistics.map(\.misses).reduce(0, +)), "")
for host in hosts + [a, b] { host.close() }

import Foundation

/// Simulates a fleet in virtual time.
///
/// ```swift
/// var model = FleetModel()
/// model.hosts = 100
/// let outcome = FleetSimulation(model).run()
/// ```
///
/// The model follows the design of `EspalierFleet`:
///
/// - A read of one record asks the near cache. Its answer counts if the host knew, at most
///   `maximumStaleness` ago, all commits of all servers. Otherwise, and for copies that the host
///   knows to be outdated, the host asks the record's server, once for all who read it.
/// - Each host follows each server. A server answers a waiting follower after each commit, and one
///   that was away with up to 1,000 commits.
/// - A server does one thing at a time, in the order in which requests come.
/// - A host whose servers can't be reached serves what it has for `staleLimit`, then misses.
/// - What no server has comes from an origin, and is then committed.
///
/// A delivery changes no near copies in the simulation. A read compares the commit of its copy with
/// those that the host knows, which gives the same answer for less work.
public struct FleetSimulation {
    enum Event {
        case read(Int32)
        case hotRead(Int32)
        case change(Int32)
        case hotChange
        /// A question for a record reaches its server.
        case fetch(Int32, UInt32)
        /// The answer reaches the host.
        case fetched(Int32, UInt32, clock: UInt32)
        /// The host learns that a server does not have a record, or does not answer.
        case absent(Int32, UInt32)
        case failed(Int32, UInt32)
        case commit(Int32, UInt32)
        /// The commit of a record that the server did not have.
        case fill(Int32, UInt32)
        /// A follower asks for commits, or begins to.
        case follow(Int32, Int32, connection: UInt32)
        case connect(Int32, Int32)
        case lose(Int32, Int32)
        case heartbeat(Int32, Int32)
        case storm
        case serverFails
        case serverReturns
        case cut
        case mend
    }

    /// What a host knows of a server.
    struct Link {
        var isConnected = true
        /// Counts the connections: what an earlier one asked for comes to nothing.
        var connection: UInt32 = 0
        var generation = 0
        /// The last commit that the host knows. Commit 1 is before the simulation.
        var processed: UInt32 = 1
        /// Commits on their way to the host.
        var arriving: UInt32 = 0
        var arrivesAt = Int.max
        /// When the host asked for the number of the last commit, the number, and when it came.
        var beatAsked = -1
        var beatClock: UInt32 = 0
        var beatAt = Int.max
        /// When the host last knew all commits.
        var confirmed = 0
    }

    struct Server {
        var isUp = true
        /// Counts the times that the memory was lost.
        var generation = 0
        var clock: UInt32 = 1
        var freeAt = 0
        var work = 0
        /// The time of each commit.
        var commitTimes: [Int] = [0, 0]
        var waiting: [Int32] = []
        /// The records that came back after the memory was lost.
        var restored: Set<UInt32> = []
    }

    let model: FleetModel
    let reads: ZipfLaw
    let changes: ZipfLaw
    var numbers: SeededNumbers
    var queue = EventQueue<Event>()
    var now = 0
    var servers: [Server]
    var links: [Link]
    var near: [NearCopies]
    /// When the reads began that wait for a record, by host.
    var flights: [[UInt32: [Int]]]
    /// The commits of each record, in order.
    var history: [UInt32: [UInt32]] = [:]
    var isCut: [Bool]
    var outcome = FleetOutcome()

    /// The most commits in one answer to a follower.
    private static let batch: UInt32 = 1_000

    /// Makes a fleet whose near caches are warm.
    ///
    /// - Parameter model: The fleet.
    public init(_ model: FleetModel) {
        self.model = model
        reads = ZipfLaw(count: model.records, exponent: model.readExponent)
        changes = ZipfLaw(count: model.records, exponent: model.changeExponent)
        numbers = SeededNumbers(seed: model.seed)
        servers = Array(repeating: Server(), count: model.servers)
        links = Array(repeating: Link(), count: model.hosts * model.servers)
        near = Array(
            repeating: NearCopies(capacity: model.nearCapacity), count: model.hosts)
        flights = Array(repeating: [:], count: model.hosts)
        isCut = Array(repeating: false, count: model.hosts)
        warmUp()
    }

    /// Fills the near caches with what a host has in the steady state. A few hosts read; all have
    /// copies of the same records.
    ///
    /// A copy that was last read some time ago has been replaced since then with the probability of
    /// a Poisson process, for each host by itself.
    private mutating func warmUp() {
        let count = model.nearCapacity * 4
        var templates: [NearCopies] = []
        for _ in 0..<min(model.hosts, 8) {
            var copies = NearCopies(capacity: model.nearCapacity)
            for step in 0..<count { copies.store(UInt32(reads.sample(&numbers)), UInt32(step)) }
            templates.append(copies)
        }
        let changesPerRead = model.changesPerSecond * Double(model.hosts) / model.readsPerSecond
        for host in near.indices {
            near[host] = templates[host % templates.count]
            near[host].setClocks { rank, step in
                let rate = changes.probability(of: Double(rank)) * changesPerRead
                let isOutdated = numbers.share() < -expm1(-rate * Double(count - Int(step)))
                return isOutdated ? 0 : 1
            }
        }
    }

    /// Runs the fleet, and then waits for the answers to all reads.
    ///
    /// - Returns: What the fleet did.
    public consuming func run() -> FleetOutcome {
        begin()
        while let (time, event) = queue.next() {
            now = time
            handle(event)
        }
        outcome.work = servers.map { Double($0.work) / Double(model.duration) }
        return outcome
    }

    private var isOver: Bool { now >= model.duration }

    private mutating func begin() {
        for host in 0..<Int32(model.hosts) {
            queue.add(.read(host), at: numbers.interval(perSecond: model.readsPerSecond))
            if model.changesPerSecond > 0 {
                queue.add(.change(host), at: numbers.interval(perSecond: model.changesPerSecond))
            }
            for server in 0..<Int32(model.servers) {
                queue.add(.follow(host, server, connection: 0), at: 0)
                let first = Int(numbers.share() * Double(model.heartbeat))
                queue.add(.heartbeat(host, server), at: first)
            }
        }
        switch model.incident {
        case .none: break
        case .hotRecord(let changes, let reads):
            queue.add(.hotChange, at: numbers.interval(perSecond: changes))
            for host in 0..<Int32(model.hosts) {
                queue.add(.hotRead(host), at: numbers.interval(perSecond: reads))
            }
        case .storm(_, let start): queue.add(.storm, at: start)
        case .serverLoss(let start, let duration):
            queue.add(.serverFails, at: start)
            queue.add(.serverReturns, at: start + duration)
        case .cut(_, let start, let duration):
            queue.add(.cut, at: start)
            queue.add(.mend, at: start + duration)
        }
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .read(let host):
            guard !isOver else { return }
            read(host, UInt32(reads.sample(&numbers)))
            queue.add(event, at: now + numbers.interval(perSecond: model.readsPerSecond))
        case .hotRead(let host):
            guard !isOver, case .hotRecord(_, let rate) = model.incident else { return }
            read(host, 1)
            queue.add(event, at: now + numbers.interval(perSecond: rate))
        case .change(let host):
            guard !isOver else { return }
            change(host, UInt32(changes.sample(&numbers)))
            queue.add(event, at: now + numbers.interval(perSecond: model.changesPerSecond))
        case .hotChange:
            guard !isOver, case .hotRecord(let rate, _) = model.incident else { return }
            change(0, 1)
            queue.add(event, at: now + numbers.interval(perSecond: rate))
        case .fetch(let host, let rank): fetch(host, rank)
        case .fetched(let host, let rank, let clock):
            near[Int(host)].store(rank, clock)
            endFlight(host, rank, \.sharedHits)
        case .absent(let host, let rank):
            endFlight(host, rank, \.misses)
            queue.add(.fill(host, rank), at: now + model.originTime + model.latency)
        case .failed(let host, let rank): endUnanswered(host, rank)
        case .commit(let host, let rank): commit(host, rank, isFill: false)
        case .fill(let host, let rank): commit(host, rank, isFill: true)
        case .follow(let host, let server, let connection): follow(host, server, connection)
        case .connect(let host, let server): connect(host, server)
        case .lose(let host, let server): lose(host, server)
        case .heartbeat(let host, let server): heartbeat(host, server)
        case .storm, .serverFails, .serverReturns, .cut, .mend: handleIncident(event)
        }
    }

    // MARK: Reads

    private mutating func read(_ host: Int32, _ rank: UInt32) {
        count(host, now) { $0.reads += 1 }
        if let clock = near[Int(host)].read(rank), age(host, rank) <= model.maximumStaleness,
            !isOutdated(host, rank, clock)
        {
            count(host, now) { $0.nearHits += 1 }
            countStaleness(rank, clock)
            return
        }
        if flights[Int(host)][rank] != nil {
            outcome.joinedReads += 1
            flights[Int(host)][rank]?.append(now)
            return
        }
        flights[Int(host)][rank] = [now]
        count(host, now) { $0.fetches += 1 }
        if links[link(host, server(of: rank))].isConnected {
            queue.add(.fetch(host, rank), at: now + model.latency)
        } else {
            endUnanswered(host, rank)
        }
    }

    /// Returns how long ago the host knew all commits of the server of a record.
    private mutating func age(_ host: Int32, _ rank: UInt32) -> Int {
        let index = link(host, server(of: rank))
        settle(index)
        return now - links[index].confirmed
    }

    /// Applies what has reached the host since the last time.
    private mutating func settle(_ index: Int) {
        if links[index].arrivesAt <= now {
            links[index].processed = links[index].arriving
            links[index].arrivesAt = .max
        }
        if links[index].beatAt <= now, links[index].processed >= links[index].beatClock {
            links[index].confirmed = links[index].beatAsked
            links[index].beatAt = .max
        }
    }

    /// Whether the host knows of a commit that has replaced its copy.
    private func isOutdated(_ host: Int32, _ rank: UInt32, _ clock: UInt32) -> Bool {
        guard clock > 0 else { return true }
        guard let commits = history[rank] else { return false }
        let processed = links[link(host, server(of: rank))].processed
        guard let next = Self.first(commits, after: clock) else { return false }
        return next <= processed
    }

    private mutating func countStaleness(_ rank: UInt32, _ clock: UInt32) {
        guard let commits = history[rank], let next = Self.first(commits, after: clock) else {
            return
        }
        let replaced = servers[server(of: rank)].commitTimes[Int(next)]
        if replaced <= now { outcome.staleness.add(now - replaced) }
    }

    /// Returns the first of some commits in ascending order that is later than `clock`.
    static func first(_ commits: [UInt32], after clock: UInt32) -> UInt32? {
        var (low, high) = (0, commits.count)
        while low < high {
            let middle = (low + high) / 2
            if commits[middle] > clock { high = middle } else { low = middle + 1 }
        }
        return low < commits.count ? commits[low] : nil
    }

    private mutating func endFlight(
        _ host: Int32, _ rank: UInt32, _ counter: WritableKeyPath<FleetOutcome.Second, Int>
    ) {
        for start in flights[Int(host)].removeValue(forKey: rank) ?? [] {
            count(host, start) { $0[keyPath: counter] += 1 }
            outcome.waits.add(now - start)
        }
    }

    /// Ends reads that no server answers: with a copy that may be stale, or with a miss.
    private mutating func endUnanswered(_ host: Int32, _ rank: UInt32) {
        let mayBeStale =
            age(host, rank) <= model.maximumStaleness + model.staleLimit
            && near[Int(host)].read(rank) != nil
        endFlight(host, rank, mayBeStale ? \.staleHits : \.misses)
    }

    /// Counts in all reads and, for a host that is watched, in those of a second.
    private mutating func count(
        _ host: Int32, _ time: Int, _ body: (inout FleetOutcome.Second) -> Void
    ) {
        body(&outcome.total)
        if case .cut(let hosts, _, _) = model.incident, host >= hosts { return }
        let second = time / 1_000_000_000
        while outcome.seconds.count <= second { outcome.seconds.append(.init()) }
        body(&outcome.seconds[second])
    }

    // MARK: Servers

    func server(of rank: UInt32) -> Int {
        Int(SeededNumbers.mix(UInt64(rank)) % UInt64(model.servers))
    }

    func link(_ host: Int32, _ server: Int) -> Int { Int(host) * model.servers + server }

    /// Lets a server work, after what it has to do already. Returns when it is done.
    private mutating func work(_ server: Int, _ cost: Int) -> Int {
        let start = max(now, servers[server].freeAt)
        servers[server].freeAt = start + cost
        servers[server].work += max(0, min(start + cost, model.duration) - start)
        return start + cost
    }

    private mutating func fetch(_ host: Int32, _ rank: UInt32) {
        let index = server(of: rank)
        guard !isCut[Int(host)] else {
            queue.add(.failed(host, rank), at: now + model.timeout)
            return
        }
        guard servers[index].isUp else {
            queue.add(.failed(host, rank), at: now + model.latency)
            return
        }
        let end = work(index, model.costs.fetch + model.costs.fetchedRecord) + model.latency
        guard end - now <= model.timeout else {
            queue.add(.failed(host, rank), at: now + model.timeout)
            return
        }
        let hasRecord = servers[index].generation == 0 || servers[index].restored.contains(rank)
        queue.add(
            hasRecord
                ? .fetched(host, rank, clock: servers[index].clock) : .absent(host, rank), at: end)
    }

    /// Sends a change: a fetch of what it is merged with, and a commit, one after the other.
    private mutating func change(_ host: Int32, _ rank: UInt32) {
        queue.add(.commit(host, rank), at: now + 3 * model.latency)
    }

    private mutating func commit(_ host: Int32, _ rank: UInt32, isFill: Bool) {
        let index = server(of: rank)
        guard servers[index].isUp, !isCut[Int(host)] else { return }
        let costs = model.costs
        let end = work(index, costs.fetch + costs.fetchedRecord + costs.commit)
        if servers[index].generation > 0 { servers[index].restored.insert(rank) }
        guard model.announcesNewRecords || !isFill else {
            near[Int(host)].store(rank, servers[index].clock)
            return
        }
        servers[index].clock += 1
        servers[index].commitTimes.append(end)
        history[rank, default: []].append(servers[index].clock)
        outcome.commits += 1
        near[Int(host)].store(rank, servers[index].clock)
        let waiting = servers[index].waiting
        servers[index].waiting.removeAll(keepingCapacity: true)
        for follower in waiting { answer(follower, index) }
    }

    // MARK: Followers

    /// Handles a follower's question: answers it, or lets it wait for a commit.
    private mutating func follow(_ host: Int32, _ server: Int32, _ connection: UInt32) {
        let index = link(host, Int(server))
        settle(index)
        guard links[index].isConnected, links[index].connection == connection,
            servers[Int(server)].isUp,
            !isCut[Int(host)]
        else { return }
        if links[index].processed < servers[Int(server)].clock {
            answer(host, Int(server))
        } else if !isOver {
            servers[Int(server)].waiting.append(host)
        }
    }

    private mutating func answer(_ host: Int32, _ server: Int) {
        guard !isCut[Int(host)] else { return }
        let index = link(host, server)
        let first = links[index].processed
        let last = min(servers[server].clock, first + Self.batch)
        let end = work(server, model.costs.message + Int(last - first) * model.costs.entry)
        let arrival = end + model.latency
        links[index].arriving = last
        links[index].arrivesAt = arrival
        outcome.messages += 1
        outcome.entries += Int(last - first)
        for clock in (first + 1)...last {
            outcome.delays.add(arrival - servers[server].commitTimes[Int(clock)])
        }
        queue.add(
            .follow(host, Int32(server), connection: links[index].connection),
            at: arrival + model.followPause + model.latency)
    }

    private mutating func heartbeat(_ host: Int32, _ server: Int32) {
        guard !isOver else { return }
        let index = link(host, Int(server))
        settle(index)
        defer { queue.add(.heartbeat(host, server), at: now + model.heartbeat) }
        let isWaiting = links[index].beatAt < .max && now - links[index].beatAsked < 300_000_000
        guard !isWaiting, links[index].isConnected, servers[Int(server)].isUp, !isCut[Int(host)]
        else { return }
        // The host asked when the message left, and the server counts its commits so far.
        links[index].beatAsked = now - model.latency
        links[index].beatClock = servers[Int(server)].clock
        links[index].beatAt = work(Int(server), model.costs.heartbeat) + model.latency
        outcome.heartbeats += 1
    }

    /// Ends a connection; a new one is tried until the server answers.
    private mutating func lose(_ host: Int32, _ server: Int32) {
        let index = link(host, Int(server))
        guard links[index].isConnected else { return }
        links[index].isConnected = false
        links[index].arrivesAt = .max
        links[index].beatAt = .max
        queue.add(.connect(host, server), at: now + retryInterval())
    }

    /// Connections are tried again after at most 2 s.
    private mutating func retryInterval() -> Int { Int(numbers.share() * 2e9) + 1 }

    private mutating func connect(_ host: Int32, _ server: Int32) {
        guard !isOver else { return }
        let index = link(host, Int(server))
        guard servers[Int(server)].isUp, !isCut[Int(host)] else {
            queue.add(.connect(host, server), at: now + retryInterval())
            return
        }
        let clock = servers[Int(server)].clock
        let isTrimmed = Int(clock) - Int(links[index].processed) > model.changeLimit
        if links[index].generation != servers[Int(server)].generation || isTrimmed {
            giveUpCopies(host, server)
            links[index].processed = clock
            links[index].generation = servers[Int(server)].generation
        }
        links[index].isConnected = true
        links[index].connection += 1
        queue.add(
            .follow(host, server, connection: links[index].connection), at: now + model.latency)
    }

    /// Gives up the copies whose changes can't be followed up.
    private mutating func giveUpCopies(_ host: Int32, _ server: Int32) {
        outcome.resets += 1
        let servers = UInt64(model.servers)
        near[Int(host)].setClocks { rank, clock in
            SeededNumbers.mix(UInt64(rank)) % servers == UInt64(server) ? 0 : clock
        }
    }

    // MARK: Incidents

    private mutating func handleIncident(_ event: Event) {
        switch (event, model.incident) {
        case (.storm, .storm(let count, _)):
            for rank in 1...count {
                commit(Int32(rank % model.hosts), UInt32(rank), isFill: false)
            }
        case (.serverFails, _):
            servers[0].isUp = false
            servers[0].waiting = []
            for host in 0..<Int32(model.hosts) { lose(host, 0) }
        case (.serverReturns, _):
            servers[0].isUp = true
            servers[0].generation += 1
            servers[0].freeAt = now
        case (.cut, .cut(let hosts, _, _)):
            for host in 0..<hosts {
                isCut[host] = true
                for server in 0..<model.servers {
                    servers[server].waiting.removeAll { $0 == host }
                    // A request that was sent ends with its timeout.
                    queue.add(.lose(Int32(host), Int32(server)), at: now + model.timeout)
                }
            }
        case (.mend, .cut(let hosts, _, _)):
            for host in 0..<hosts { isCut[host] = false }
        default: break
        }
    }
}

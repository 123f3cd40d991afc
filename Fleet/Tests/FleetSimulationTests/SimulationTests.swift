import Testing

@testable import FleetSimulation

@Suite("Simulated fleets")
struct SimulationTests {
    /// A fleet that a debug build simulates in a second.
    private static func small(_ incident: FleetModel.Incident = .none) -> FleetModel {
        var model = FleetModel()
        model.hosts = 20
        model.servers = 3
        model.records = 100_000
        model.nearCapacity = 500
        model.changesPerSecond = 5
        model.duration = 4_000_000_000
        model.incident = incident
        return model
    }

    static let incidents: [FleetModel.Incident] = [
        .none, .hotRecord(changes: 100, reads: 10), .storm(count: 2_000, at: 1_000_000_000),
        .serverLoss(at: 1_000_000_000, duration: 800_000_000),
        .cut(hosts: 5, at: 1_000_000_000, duration: 1_500_000_000),
    ]

    @Test("Each read is counted once", arguments: incidents)
    func readsAddUp(incident: FleetModel.Incident) {
        let outcome = FleetSimulation(Self.small(incident)).run()
        func sum(_ reads: FleetOutcome.Second) -> Int {
            reads.nearHits + reads.sharedHits + reads.staleHits + reads.misses
        }
        #expect(outcome.total.reads > 15_000)
        #expect(sum(outcome.total) == outcome.total.reads)
        for second in outcome.seconds { #expect(sum(second) == second.reads) }
        #expect(outcome.waits.count == outcome.total.reads - outcome.total.nearHits)
    }

    @Test("No near hit is older than the bound, whatever happens", arguments: incidents)
    func bound(incident: FleetModel.Incident) {
        var model = Self.small(incident)
        model.maximumStaleness = 200_000_000
        model.changesPerSecond = 30
        model.changeExponent = 1
        let outcome = FleetSimulation(model).run()
        #expect(outcome.staleness.longest <= model.maximumStaleness)
        #expect(outcome.staleness.count > 0)
    }

    @Test("A fleet without a bound serves older states")
    func canary() {
        var model = Self.small(.cut(hosts: 5, at: 1_000_000_000, duration: 2_000_000_000))
        model.maximumStaleness = 10_000_000_000
        #expect(FleetSimulation(model).run().staleness.longest > 500_000_000)
    }

    @Test("The same seed gives the same outcome, and another one another")
    func seeds() {
        var model = Self.small(.serverLoss(at: 1_000_000_000, duration: 500_000_000))
        let outcome = FleetSimulation(model).run()
        #expect(FleetSimulation(model).run() == outcome)
        model.seed = 2
        #expect(FleetSimulation(model).run() != outcome)
    }

    @Test("Each host learns each commit once")
    func deliveries() {
        let model = Self.small()
        let outcome = FleetSimulation(model).run()
        #expect(outcome.commits > 300)
        #expect(outcome.entries == outcome.commits * model.hosts)
        #expect(outcome.messages <= outcome.entries)
        #expect(outcome.delays.count == outcome.entries)
    }

    @Test("Followers that wait get more commits in fewer messages")
    func pause() {
        var model = Self.small()
        let outcome = FleetSimulation(model).run()
        model.followPause = 50_000_000
        let paused = FleetSimulation(model).run()
        #expect(paused.messages < outcome.messages * 2 / 3)
        #expect(paused.entries == paused.commits * model.hosts)
        #expect(paused.delays.longest > 45_000_000 && paused.delays.longest < 60_000_000)
    }

    @Test("Without load, hosts learn of a commit after the latency and the server's work")
    func delay() {
        var model = Self.small()
        model.hosts = 2
        model.changesPerSecond = 1
        let outcome = FleetSimulation(model).run()
        let least = model.latency + model.costs.message + model.costs.entry
        let median = outcome.delays.time(at: 0.5)
        #expect(median >= least * 97 / 100 && median < least * 2)
    }

    @Test(
        "Near caches hit as often as the formula says, from the first second on",
        arguments: [0.0, 5, 50])
    func hitRate(changesPerSecond: Double) {
        var model = Self.small()
        model.changesPerSecond = changesPerSecond
        model.duration = 6_000_000_000
        let outcome = FleetSimulation(model).run()
        let reads = ZipfLaw(count: model.records, exponent: model.readExponent)
        let changes = ZipfLaw(count: model.records, exponent: model.changeExponent)
        let perRead = changesPerSecond * Double(model.hosts) / model.readsPerSecond
        let expected = reads.hitRate(
            ofCapacity: model.nearCapacity, changes: (changes, perRead))
        #expect(abs(outcome.nearHitRate - expected) < 0.02)
        #expect(outcome.sharedHitRate == 1)
        let (first, last) = (outcome.seconds[0], outcome.seconds[5])
        let difference =
            Double(first.nearHits) / Double(first.reads) - Double(last.nearHits)
            / Double(last.reads)
        #expect(abs(difference) < 0.03)
    }

    @Test("A server that is lost leaves the copies of other servers' records current")
    func isolation() {
        var model = Self.small(.serverLoss(at: 1_000_000_000, duration: 2_000_000_000))
        let outcome = FleetSimulation(model).run()
        #expect(outcome.seconds[2].nearHits > outcome.seconds[0].nearHits / 3)
        #expect(outcome.seconds[2].nearHits < outcome.seconds[0].nearHits)
        // Only changes are announced.
        model.announcesNewRecords = false
        #expect(FleetSimulation(model).run().commits < outcome.commits)
    }

    @Test("Hosts without servers serve stale copies, then miss, then catch up")
    func cut() {
        var model = Self.small(.cut(hosts: 5, at: 1_000_000_000, duration: 5_000_000_000))
        model.staleLimit = 2_000_000_000
        model.duration = 10_000_000_000
        let outcome = FleetSimulation(model).run()
        let seconds = outcome.seconds
        #expect(seconds[0].staleHits == 0 && seconds[0].misses == 0)
        #expect(seconds[2].staleHits > 0 && seconds[2].nearHits == 0)
        #expect(seconds[4].misses == seconds[4].reads)
        #expect(seconds[9].nearHits > 0 && seconds[9].misses == 0)
        #expect(outcome.resets == 0)
        model.changeLimit = 10
        // Each host fetches all copies anew.
        #expect(FleetSimulation(model).run().resets >= 5)
    }

    @Test("What a server has lost comes back from the origin")
    func loss() {
        let model = Self.small(.serverLoss(at: 1_000_000_000, duration: 500_000_000))
        let outcome = FleetSimulation(model).run()
        #expect(outcome.resets == model.hosts)
        #expect(outcome.total.staleHits > 0)
        #expect(outcome.seconds[3].misses > 0)
        #expect(outcome.seconds[3].misses < outcome.seconds[3].reads / 2)
        #expect(outcome.seconds[0].misses == 0)
    }

    @Test("Charts name the same fleets below each other")
    func chart() {
        var model = Self.small()
        var points: [GrowthChart.Point] = []
        for hosts in [5, 10, 20] {
            model.hosts = hosts
            points.append(GrowthChart.Point(model, FleetSimulation(model).run()))
        }
        #expect(points[0].messages < points[1].messages && points[1].messages < points[2].messages)
        let svg = GrowthChart(points).svg
        #expect(svg.ranges(of: "<svg ").count == 3)
        #expect(svg.ranges(of: "</svg>").count == 3)
        #expect(svg.contains("near hits") && svg.contains("one for each commit"))
    }
}

/// What `espalier bench` measures: each is run in a folder of its own, for the time it is given.
enum BenchSuite: String, CaseIterable, Sendable {
    case reading, writing, latency, eviction, opening, compression

    /// What is done, for the title of its result.
    var about: String {
        switch self {
        case .reading: "a feed of 601 nodes assembled, and one node read"
        case .writing: "writes until they are committed"
        case .latency:
            "one node read on schedule, 10,000 times a second, while a writer commits 100 times a second"
        case .eviction:
            "feeds into a small cache, recent ones read more often, those not found fetched again"
        case .opening: "a closed cache opened, by the records in it"
        case .compression: "the same feeds with and without compression"
        }
    }

    func run(in folder: String, for time: Allotment) throws -> SuiteResult {
        switch self {
        case .reading: try ReadingSuite(folder: folder, time: time).run()
        case .writing: try WritingSuite(folder: folder, time: time).run()
        case .latency: try LatencySuite(folder: folder, time: time).run()
        case .eviction: try EvictionSuite(folder: folder, time: time).run()
        case .opening: try OpeningSuite(folder: folder, time: time).run()
        case .compression: try CompressionSuite(folder: folder, time: time).run()
        }
    }
}

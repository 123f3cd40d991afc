/// Does several things turn by turn, so that what else the machine does falls on all of them, until
/// the time is over.
///
///     let timings = try Rounds(seconds: 3).run([
///         Way("raw") { try check(raw.read(Feed.self, "Feed:1")) },
///         Way("compressed") { try check(compressed.read(Feed.self, "Feed:1")) },
///     ])
struct Rounds {
    let seconds: Double
    var least = 5
    /// Rounds that warm caches and are not counted.
    var warmUps = 3
    /// Whether the order is drawn anew for each round, so that nobody always finds the processor's
    /// caches as the same one left them: for things that do not need what the one before did.
    var isShuffled = false

    /// One of the things.
    struct Way {
        let name: String
        let prepare: () throws -> Void
        let body: () throws -> Void

        /// - Parameter prepare: done before each time, and not timed.
        init(
            _ name: String, prepare: @escaping () throws -> Void = {},
            body: @escaping () throws -> Void
        ) {
            self.name = name
            self.prepare = prepare
            self.body = body
        }
    }

    func run(_ ways: [Way]) throws -> [Timing] {
        var timings = ways.map { Timing(name: $0.name) }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        var round = 0
        var order = Array(ways.indices)
        var random = SplitMix64(state: 1)
        while round < warmUps + least || clock.now < end {
            if isShuffled { order.shuffle(using: &random) }
            for index in order {
                let way = ways[index]
                try way.prepare()
                let time = try clock.measure { try way.body() }
                if round >= warmUps { timings[index].latencies.record(time) }
            }
            round += 1
        }
        return timings
    }
}

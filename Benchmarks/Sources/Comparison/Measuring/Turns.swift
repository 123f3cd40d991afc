import Feeds

/// Lets contenders do the same in turns, so that other work of the machine slows down all of them
/// alike.
///
/// A turn is a few operations of one contender, because an app would not change its cache with each
/// operation. Each round has an order of its own, so that no contender always finds the processor's
/// caches as the same other one left them.
struct Turns {
    var warmUp: Int
    var rounds: Int
    /// The number of operations of a turn.
    var batch: Int

    /// Returns the microseconds of each operation, by stand. `number` counts the operations of a
    /// stand, including those that warm up.
    func measure(
        _ stands: [Stand], prepare: (_ stand: Stand, _ number: Int) throws -> Void = { _, _ in },
        _ body: (_ stand: Stand, _ number: Int) throws -> Void
    ) throws -> [[Double]] {
        var times = stands.map { _ in [Double]() }
        let clock = ContinuousClock()
        var random = SplitMix64(state: 1)
        for round in 0..<warmUp + rounds {
            for index in stands.indices.shuffled(using: &random) {
                let stand = stands[index]
                for operation in 0..<batch {
                    let number = round * batch + operation
                    try prepare(stand, number)
                    let start = clock.now
                    try body(stand, number)
                    let time = clock.now - start
                    if round >= warmUp { times[index].append(time.microseconds) }
                }
            }
        }
        return times
    }

    func figures(
        _ stands: [Stand], prepare: (_ stand: Stand, _ number: Int) throws -> Void = { _, _ in },
        _ body: (_ stand: Stand, _ number: Int) throws -> Void
    ) throws -> [Figure] {
        let times = try measure(stands, prepare: prepare, body)
        return zip(stands, times).map { Figure($0.contestant, unit: .microseconds, values: $1) }
    }

    var operations: Int { (warmUp + rounds) * batch }
}

extension Duration {
    var microseconds: Double {
        Double(components.attoseconds) / 1e12 + Double(components.seconds) * 1e6
    }
}

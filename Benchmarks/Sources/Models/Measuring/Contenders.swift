/// Several ways to do one thing, measured in turns, so that all of them meet the same machine.
struct Contenders {
    private(set) var names: [String] = []
    private var bodies: [(Int) throws -> Void] = []
    /// The only one that runs, for a profiler; the others take no time.
    var only: String?

    mutating func add(_ name: String, _ body: @escaping (_ round: Int) throws -> Void) {
        names.append(name)
        bodies.append(only ?? name == name ? body : { _ in })
    }

    /// Median microseconds of each, after `warmUp` rounds that don't count.
    func run(rounds: Int, warmUp: Int) throws -> [Double] {
        var times = bodies.map { _ in [Double]() }
        let clock = ContinuousClock()
        for round in 0..<rounds + warmUp {
            for index in bodies.indices {
                let time = try clock.measure { try bodies[index](round) }
                guard round >= warmUp else { continue }
                times[index].append(
                    Double(time.components.attoseconds) / 1e12 + Double(time.components.seconds)
                        * 1e6)
            }
        }
        return times.map { $0.sorted()[$0.count / 2] }
    }
}

enum BenchmarkError: Error {
    case miss(String)
    case differs(String)
    case lacksRecord(String)
}

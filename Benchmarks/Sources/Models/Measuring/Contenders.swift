/// Several ways to do one thing, measured in turns, so that other work of the machine slows down
/// all of them alike.
struct Contenders {
    private(set) var names: [String] = []
    private var bodies: [(Int) throws -> Void] = []
    /// The only way that runs, for a profiler. The others do nothing.
    var only: String?

    mutating func add(_ name: String, _ body: @escaping (_ round: Int) throws -> Void) {
        names.append(name)
        bodies.append(only ?? name == name ? body : { _ in })
    }

    /// Returns the median microseconds of each, after `warmUp` rounds that do not count.
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
}

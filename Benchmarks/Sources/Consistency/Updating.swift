import ArgumentParser
import Espalier

/// Changes one person, whom 10 of 1,000 screens show.
struct Updating: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "updating",
        abstract: "An update of one node, against mapping the whole tree of each listener.")

    @Option(help: "Updates of each kind.") var rounds = 300
    @Option(help: "Screens.") var screens = 1_000
    @Option(help: "Screens that show what changes.") var showing = 10
    @Flag(help: "Only the way that is measured, for a profiler.") var pathsOnly = false

    @MainActor
    func run() async throws {
        let feeds = (0..<screens).map {
            Screen(
                Feed(
                    number: $0 + 1,
                    showing: $0 % (screens / showing) == 0 ? Person(id: 1, name: "Ada") : nil))
        }
        try await compare("feeds of 499 nodes", feeds) { Person(id: 1, name: "Ada \($0)") }
        let trees = (0..<screens / 10).map { number -> Screen in
            var id = number * 10_000
            return Screen(
                Branch.tree(&id, levels: 4, fanOut: 8) { leaf in
                    // Shows the person in one leaf of every tenth tree.
                    leaf == number * 10_000 + 3_000 && number % (screens / 10 / showing) == 0
                        ? 0 : leaf
                })
        }
        try await compare("trees of fan-out 8, 4,681 nodes", trees) {
            Branch(id: 0, value: $0, branches: [])
        }
    }

    @MainActor
    private func compare(
        _ title: String, _ screens: [Screen], _ model: (Int) -> any ConsistencyManagerModel
    ) async throws {
        let manager = ConsistencyManager()
        let baseline = WholeTrees()
        let others = screens.map { Screen($0.model!) }  // Each has been given one.
        for screen in screens { manager.addListener(screen) }
        for other in others { await baseline.add(other) }
        await manager.flush()
        var ours: [Double] = []
        var theirs: [Double] = []
        let clock = ContinuousClock()
        // Takes turns of ten: a tree that the other contender has just walked would be in the
        // processor's caches.
        for turn in 0..<rounds / 10 {
            for round in 1...10 {
                let model = model(turn * 10 + round)
                ours.append(
                    await clock.measure {
                        manager.updateModel(model)
                        await manager.flush()
                    }.microseconds)
            }
            if pathsOnly { continue }
            for round in 1...10 {
                let model = model(turn * 10 + round)
                theirs.append(await clock.measure { await baseline.update(model) }.microseconds)
            }
        }
        let done = rounds / 10 * 10
        let reached = screens.filter { $0.updates == done }.count
        if pathsOnly { return print("\(title): \(ours.median.rounded()) us an update") }
        guard reached == others.filter({ $0.updates == done }).count else {
            throw BenchmarkError.differs
        }
        let (our, their) = (ours.median, theirs.median)
        print(title)
        print("  \(screens.count) screens, \(reached) show what changes")
        print("  by paths        \(our.rounded()) us an update")
        print(
            "  whole trees     \(their.rounded()) us, \((their / our * 10).rounded() / 10) times as long"
        )
    }
}

enum BenchmarkError: Error {
    /// The contenders had different results.
    case differs
}

extension Duration {
    var microseconds: Double {
        Double(components.attoseconds) / 1e12 + Double(components.seconds) * 1e6
    }
}

extension Array where Element == Double {
    var median: Double { sorted()[count / 2] }
}

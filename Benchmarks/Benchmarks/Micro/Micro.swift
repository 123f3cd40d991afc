import Benchmark
import Counting
import Foundation
import Operations

/// What the tool's plugin would write is a type like this: without that plugin no other build of
/// the package needs the tool.
@main
struct Micro {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == InstructionsCommand.name {
            return InstructionsCommand.main(Array(arguments.dropFirst()))
        }
        Task {
            await BenchmarkRunner.setupBenchmarkRunner(registerBenchmarks: registerBenchmarks)
            exit(EXIT_SUCCESS)
        }
        RunLoop.main.run()
    }

    private static func registerBenchmarks() {
        for operation in Operation.foundation + Operation.all {
            let repetition = Repetition(operation)
            Benchmark(operation.name, configuration: configuration) { benchmark in
                try await repetition.run(benchmark)
            }
        }
    }

    /// Times and counts of instructions are shown. What thresholds are kept for means the same on
    /// every machine.
    private static var configuration: Benchmark.Configuration {
        Benchmark.Configuration(
            metrics: [.wallClock, .instructions, .relativeTime, .allocations], warmupIterations: 5,
            maxDuration: .seconds(20), maxIterations: 120,
            // In per cent.
            thresholds: [
                .relativeTime: BenchmarkThresholds(relative: [.p90: 100]),
                .allocations: BenchmarkThresholds(relative: [.p90: 3]),
            ])
    }
}

extension BenchmarkMetric {
    /// A thousandth is a thousandth of the time that JSONDecoder takes for a feed.
    static let relativeTime = BenchmarkMetric.custom("JSON-thousandths")
    /// By all threads. Nothing where they can't be counted.
    static let allocations = BenchmarkMetric.custom("Allocations")
}

import Benchmark
import Counting
import Foundation
import Operations

/// The type that the benchmark tool's plugin would generate. Without the plugin, no other build of
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

    /// Shows times and counts of instructions. Thresholds are only for metrics that mean the same
    /// on every machine.
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
    /// A thousandth of the time that `JSONDecoder` takes for a feed.
    static let relativeTime = BenchmarkMetric.custom("JSON-thousandths")
    /// The allocations of all threads, where they can be counted.
    static let allocations = BenchmarkMetric.custom("Allocations")
}

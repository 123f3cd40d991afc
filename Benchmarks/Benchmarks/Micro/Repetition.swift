import Benchmark
import CAllocations
import Operations

/// Repeats an operation, with the unit of time in between, so that other work of the machine slows
/// down both alike.
final class Repetition {
    private static let turn = 10
    /// The number of turns before the best times are known.
    private static let leastTurns = 6

    private let operation: Operation
    private var next: (@Sendable (Int) throws -> Operation.Measured)?
    private var unit: Operation.Measured?
    private var count = 0
    // Uses the shortest times: other work of the machine makes times longer, never shorter.
    private var best = Duration.seconds(60)
    private var bestUnit = Duration.seconds(60)

    init(_ operation: Operation) { self.operation = operation }

    func run(_ benchmark: Benchmark) async throws {
        if next == nil {
            next = try await operation.start()
            unit = try await Operation.unit.start()(0)
        }
        guard let next, let unit else { return }
        let measured = try next(benchmark.currentIteration)
        let clock = ContinuousClock()
        benchmark.startMeasurement()
        let allocations = process_allocation_count()
        let time = try await clock.measure { try await measured() }
        let allocated = process_allocation_count() - allocations
        benchmark.stopMeasurement()
        if allocated > 0 { benchmark.measurement(.allocations, Int(allocated)) }

        best = min(best, time)
        count += 1
        guard count.isMultiple(of: Self.turn) else { return }
        for _ in 0..<3 { bestUnit = min(bestUnit, try await clock.measure { try await unit() }) }
        guard count >= Self.leastTurns * Self.turn else { return }
        benchmark.measurement(.relativeTime, Int((1_000 * (best / bestUnit)).rounded()))
    }
}

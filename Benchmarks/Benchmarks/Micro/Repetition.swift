import Benchmark
import CAllocations
import Operations

/// Does an operation again and again, with the unit of time in between, so that both meet the same machine.
final class Repetition {
    private static let turn = 10

    private let operation: Operation
    private var next: (@Sendable (Int) throws -> Operation.Measured)?
    private var unit: Operation.Measured?
    private var times: [Duration] = []

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
        let start = clock.now
        try await measured()
        times.append(clock.now - start)
        let allocated = process_allocation_count() - allocations
        benchmark.stopMeasurement()
        if allocated > 0 { benchmark.measurement(.allocations, Int(allocated)) }
        if times.count == Self.turn {
            benchmark.measurement(.relativeTime, Int((1_000 * (times.best / (try await best(of: unit)))).rounded()))
            times = []
        }
    }

    private func best(of unit: Operation.Measured) async throws -> Duration {
        let clock = ContinuousClock()
        var times: [Duration] = []
        for _ in 0..<3 { times.append(try await clock.measure { try await unit() }) }
        return times.best
    }
}

extension [Duration] {
    /// Whatever else a machine does makes it longer, never shorter.
    fileprivate var best: Duration { self.min() ?? .zero }
}

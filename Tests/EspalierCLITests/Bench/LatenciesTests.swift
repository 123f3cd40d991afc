#if CommandLine
import EspalierFixtures
import Testing

@Suite("Latencies")
struct LatenciesTests {
    @Test("Percentiles are within a thousandth of the recorded times, and the largest is exact")
    func percentiles() throws {
        var latencies = Latencies()
        for number in 1...10_000 { latencies.record(.microseconds(number)) }
        #expect(latencies.count == 10_000)
        for percentile in [50, 90, 99, 99.9] {
            let value = try #require(latencies.microseconds(at: percentile))
            #expect(abs(value / (percentile * 100) - 1) < 0.002, "\(percentile): \(value)")
        }
        #expect(latencies.microseconds(at: 100) == 10_000)
    }

    @Test("Latencies without times have no percentiles, and of one time all are equal")
    func few() {
        var latencies = Latencies()
        #expect(latencies.microseconds(at: 50) == nil && latencies.microseconds(at: 100) == nil)
        #expect(latencies.curve.isEmpty)
        latencies.record(.microseconds(7))
        #expect([0, 50, 99.9, 100].map { latencies.microseconds(at: $0) } == [7, 7, 7, 7])
        #expect(latencies.curve.map(\.percentile) == [100])
    }

    @Test("Latencies count times of any length")
    func extremes() {
        var latencies = Latencies()
        for time in [Duration.zero, .nanoseconds(-1), .seconds(86_400 * 365), .seconds(Int64.max)] {
            latencies.record(time)
        }
        #expect(latencies.count == 4)
    }

    @Test("Latencies add up, and a curve ends where the count supports no further percentile")
    func adding() {
        var first = Latencies()
        var second = Latencies()
        for number in 1...500 {
            first.record(.microseconds(number))
            second.record(.microseconds(number + 500))
        }
        first.add(second)
        #expect(first.count == 1_000 && first.microseconds(at: 100) == 1_000)
        #expect(first.curve.map(\.percentile) == [50, 75, 90, 95, 99, 99.5, 99.9, 100])
    }
}
#endif

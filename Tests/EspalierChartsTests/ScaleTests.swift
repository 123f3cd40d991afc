import Testing

@testable import EspalierCharts

@Suite("Scales of charts")
struct ScaleTests {
    @Test("A linear scale has equal steps from zero to beyond the largest value")
    func linear() {
        #expect(
            Scale.lines([3, 16_000], on: .linear, maxTicks: 5)?.ticks == [
                0, 5_000, 10_000, 15_000, 20_000,
            ])
        #expect(Scale.lines([-3, 4], on: .linear, maxTicks: 5)?.ticks == [-4, -2, 0, 2, 4])
        #expect(Scale.lines([0], on: .linear, maxTicks: 3)?.ticks.first == 0)
    }

    @Test(
        "A logarithmic scale has ticks at 1, 2 and 5 if there is room, else at decades, else fewer")
    func logarithmic() {
        #expect(Scale.lines([1, 10], on: .logarithmic, maxTicks: 8)?.ticks == [1, 2, 5, 10])
        #expect(
            Scale.lines([1, 10_000], on: .logarithmic, maxTicks: 8)?.ticks == [
                1, 10, 100, 1_000, 10_000,
            ])
        #expect(
            Scale.lines([1, 1e8], on: .logarithmic, maxTicks: 5)?.ticks == [1, 100, 1e4, 1e6, 1e8])
    }

    @Test("Positions go from the lower end to the upper, and factors of ten are equally far apart")
    func positions() throws {
        let scale = try #require(Scale.lines([1, 100], on: .logarithmic, maxTicks: 8))
        #expect(scale.position(of: 1) == 0 && scale.position(of: 100) == 1)
        #expect(abs(try #require(scale.position(of: 10)) - 0.5) < 1e-12)
        #expect(
            scale.position(of: 0) == nil && scale.position(of: -1) == nil
                && scale.position(of: .nan) == nil)
        #expect(scale.position(of: 1e9) == 1)
    }

    @Test("The longest bar ends at the end, and the shortest one of a logarithmic scale is visible")
    func bars() throws {
        #expect(try #require(Scale.bars([3, 7], on: .linear, maxTicks: 5)).position(of: 7) == 1)
        let scale = try #require(Scale.bars([10, 2_000], on: .logarithmic, maxTicks: 5))
        #expect(try #require(scale.position(of: 10)) > 0.05)
        #expect(scale.position(of: 2_000) == 1)
    }

    @Test(
        "Any range has ascending ticks, at most as many as asked for",
        arguments: 2...9)
    func counts(count: Int) throws {
        for upper in [1e-90, 0.003, 0.9, 1, 1.1, 7, 99, 101, 12_345, 1e7, 1e90] {
            for kind in [ChartScale.linear, .logarithmic] {
                let scale = try #require(
                    Scale.lines([upper / 37, upper], on: kind, maxTicks: count))
                #expect(scale.ticks.count <= max(count, 3), "\(upper) \(kind): \(scale.ticks)")
                #expect(
                    scale.ticks == scale.ticks.sorted()
                        && scale.ticks.allSatisfy { $0 >= scale.lower * 0.999 })
            }
        }
    }

    @Test("Nines of percentiles are equally far apart, and the maximum has a place of its own")
    func percentiles() throws {
        let scale = PercentileScale([50, 90, 99, 99.9, 100])
        let places = try [90, 99, 99.9, 100].map { try #require(scale.position(of: $0)) }
        #expect(abs((places[1] - places[0]) - (places[2] - places[1])) < 1e-9)
        #expect(places[3] == 1 && places[2] < 1)
        #expect(scale.ticks.map(\.label) == ["p50", "p90", "p99", "p99.9", "max"])
        #expect(PercentileScale([50, 99]).ticks.map(\.label) == ["p50", "p90", "p99"])
        #expect(scale.position(of: 101) == nil && scale.position(of: -1) == nil)
    }
}

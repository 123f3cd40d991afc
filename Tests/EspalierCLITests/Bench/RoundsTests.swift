#if CommandLine
import EspalierFixtures
import Testing

@testable import EspalierBench

@Suite("Rounds of a suite")
struct RoundsTests {
    @Test("Rounds prepare each way before its turn, and count no warm-ups")
    func turns() throws {
        var order = ""
        let timings = try Rounds(seconds: 0, least: 2, warmUps: 1).run([
            Rounds.Way("a") {
                order += "("
            } body: {
                order += "a"
            }, Rounds.Way("b") { order += "b" },
        ])
        #expect(order == "(ab(ab(ab")
        #expect(
            timings.map(\.name) == ["a", "b"] && timings.allSatisfy { $0.latencies.count == 2 })
    }

    @Test("Rounds go on until the time is over")
    func time() throws {
        let clock = ContinuousClock()
        let start = clock.now
        let timings = try Rounds(seconds: 0.05).run([Rounds.Way("a") {}])
        #expect(clock.now - start >= .seconds(0.05))
        #expect(timings[0].latencies.count > 5)
    }

    @Test("Rounds end when a way throws")
    func failure() {
        #expect(throws: BenchError.self) {
            try Rounds(seconds: 1).run([Rounds.Way("a") { throw BenchError.miss("") }])
        }
    }

    @Test("Paced calls that are due during a slow call count their wait")
    func omission() throws {
        var latencies = Latencies()
        var calls = 0
        PacedCalls(interval: .milliseconds(1)).run(for: .milliseconds(40), into: &latencies) {
            calls += 1
            guard calls == 10 else { return }
            let clock = ContinuousClock()
            let end = clock.now + .milliseconds(20)
            while clock.now < end {}
        }
        #expect(latencies.count == 40)
        // 20 calls were due while one took 20 ms: half of all waited, the first of them longest.
        #expect(try #require(latencies.microseconds(at: 75)) > 5_000)
        #expect(try #require(latencies.microseconds(at: 100)) >= 20_000)
    }

    @Test("The ratio of timings is that of medians, and nil without a baseline")
    func ratio() {
        var (slow, fast) = (Timing(name: "slow"), Timing(name: "fast"))
        slow.latencies.record(.microseconds(30))
        fast.latencies.record(.microseconds(10))
        #expect(slow.ratio(to: fast) == 3 && fast.ratio(to: fast) == 1)
        #expect(slow.ratio(to: nil) == nil && slow.ratio(to: Timing(name: "none")) == nil)
    }
}
#endif

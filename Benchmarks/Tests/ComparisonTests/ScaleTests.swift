import Testing

@testable import Comparison

@Suite("How far caches grow")
struct ScaleTests {
    private func sizes(_ largest: Int) -> [[Int]] {
        let scale = Scale.full.growing(to: largest)
        return [scale.growth, scale.farGrowth]
    }

    @Test("a million records when nothing is asked for")
    func full() {
        #expect([Scale.full.growth, Scale.full.farGrowth] == sizes(1_000_000))
        #expect(sizes(1_000_000) == [[1_000, 10_000, 100_000, 1_000_000], []])
    }

    @Test("by factors of ten to what is asked for, beyond a million in a run of its own")
    func asked() {
        #expect(sizes(1_000) == [[1_000], []])
        #expect(sizes(50_000) == [[1_000, 10_000, 50_000], []])
        #expect(sizes(10_000_000) == [[1_000, 10_000, 100_000, 1_000_000], [10_000_000]])
        #expect(
            sizes(15_000_000) == [[1_000, 10_000, 100_000, 1_000_000], [10_000_000, 15_000_000]])
    }

    @Test(
        "what can't be measured, or is not asked for, is refused",
        arguments: [
            ["--largest", "999"], ["--largest", "20000001"], ["--largest", "many"],
            ["--smoke", "--largest", "5000"],
            ["--only", "feeds", "--largest", "5000"],
        ])
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { try CompareRun.parse(arguments) }
    }

    @Test(
        "what can be measured is not",
        arguments: [
            ["--largest", "1000"], ["--largest", "20000000"],
            ["--only", "growth", "--largest", "5000"],
        ])
    func accepted(arguments: [String]) throws {
        _ = try CompareRun.parse(arguments)
    }
}

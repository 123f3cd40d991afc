import Testing

@testable import Comparison

@Suite("How far caches grow")
struct ScaleTests {
    private func sizes(_ largest: Int) -> [[Int]] {
        let scale = Scale.full.growing(to: largest)
        return [scale.growth, scale.farGrowth]
    }

    @Test("Caches grow to a million records by default")
    func full() {
        #expect([Scale.full.growth, Scale.full.farGrowth] == sizes(1_000_000))
        #expect(sizes(1_000_000) == [[1_000, 10_000, 100_000, 1_000_000], []])
    }

    @Test(
        "Caches grow by factors of ten to the size asked for, beyond a million in a run of its own")
    func asked() {
        #expect(sizes(1_000) == [[1_000], []])
        #expect(sizes(50_000) == [[1_000, 10_000, 50_000], []])
        #expect(sizes(10_000_000) == [[1_000, 10_000, 100_000, 1_000_000], [10_000_000]])
        #expect(
            sizes(15_000_000) == [[1_000, 10_000, 100_000, 1_000_000], [10_000_000, 15_000_000]])
    }

    @Test(
        "The command refuses sizes that cannot be measured or do not belong to the chosen parts",
        arguments: [
            ["--largest", "999"], ["--largest", "20000001"], ["--largest", "many"],
            ["--smoke", "--largest", "5000"], ["--quick", "--largest", "5000"],
            ["--smoke", "--quick"],
            ["--only", "feeds", "--largest", "5000"],
        ])
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { try CompareRun.parse(arguments) }
    }

    @Test(
        "The command accepts sizes that can be measured",
        arguments: [
            ["--largest", "1000"], ["--largest", "20000000"], ["--quick", "--only", "budgets"],
            ["--only", "growth", "--largest", "5000"],
        ])
    func accepted(arguments: [String]) throws {
        _ = try CompareRun.parse(arguments)
    }
}

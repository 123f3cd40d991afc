#if CommandLine
import EspalierRecords
import Testing

@testable import EspalierCLI

@Suite("Rankings")
struct RankingTests {
    @Test(
        "A ranking orders by score, and equal scores by age",
        arguments: [1, 2, 3, 7, 50, 1_000, .max])
    func ranks(limit: Int) {
        var random = SystemRandomNumberGenerator()
        for count in [0, 1, 2, 10, 500] {
            let scores = (0..<count).map { _ in Int.random(in: 0..<20, using: &random) }
            var ranking = Ranking(limit: limit)
            for index in (0..<count).shuffled() {
                ranking.add(Handle(UInt64(index)), score: scores[index])
            }
            let expected = scores.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }
            #expect(ranking.handles.map { Int($0.rawValue) } == Array(expected.prefix(limit)))
        }
    }
}
#endif

#if CommandLine
import EspalierTestSupport
import Testing

@testable import EspalierCLI

@Suite("Comparison of arrays")
struct ArrayComparisonTests {
    private func runs(_ a: String, _ b: String) -> [String] {
        let (a, b) = (Array(a), Array(b))
        return ArrayComparison(a, b).runs.map {
            "\($0.a.lowerBound):\(String(a[$0.a]))>\(String(b[$0.b]))"
        }
    }

    @Test("Inserted, removed, replaced and moved elements are reported as runs")
    func runs() {
        #expect(runs("abc", "abc") == [])
        #expect(runs("", "abc") == ["0:>abc"])
        #expect(runs("abc", "") == ["0:abc>"])
        #expect(runs("abcd", "xabcd") == ["0:>x"])
        #expect(runs("abcd", "abcdyz") == ["4:>yz"])
        #expect(runs("abcdef", "abef") == ["2:cd>"])
        #expect(runs("abcdef", "abXYef") == ["2:cd>XY"])
        #expect(runs("abcdefgh", "aXcdefh") == ["1:b>X", "6:g>"])
        #expect(runs("abcdef", "bcdefa") == ["0:a>", "6:>a"])
        #expect(runs("aaaa", "aaa") == ["3:a>"])
        #expect(runs("aabaa", "aacaa") == ["2:b>c"])
    }

    @Test("Replacing the runs of one array with those of another makes the other array")
    func everyArray() {
        let count = withEveryChoice { choices in
            let a = (0..<choices.choose(5)).map { _ in choices.choose(3) }
            let b = (0..<choices.choose(5)).map { _ in choices.choose(3) }
            var patched = a
            for run in ArrayComparison(a, b).runs.reversed() {
                patched.replaceSubrange(run.a, with: b[run.b])
            }
            #expect(patched == b)
            #expect(ArrayComparison(a, b).runs.isEmpty == (a == b))
        }
        #expect(count == 14_641)
    }

    @Test("A change at either end of 200,000 elements is two runs, found quickly")
    func long() {
        let a = Array(0..<200_000)
        let b = [-1] + a + [-2]
        #expect(ArrayComparison(a, b).runs.map(\.b) == [0..<1, 200_001..<200_002])
        #expect(ArrayComparison(a, a.reversed()).runs.isEmpty == false)
    }
}
#endif

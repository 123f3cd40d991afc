#if CommandLine
import EspalierCharts
import Testing

@testable import EspalierBench
@testable import EspalierCLI
@testable import EspalierFixtures

@Suite("Reports of suites")
struct BenchReportTests {
    private let result: SuiteResult

    init() {
        var base = Timing(name: "base")
        var other = Timing(name: "other, twice")
        for _ in 0..<10 {
            base.latencies.record(.microseconds(5))
            other.latencies.record(.microseconds(10))
        }
        result = SuiteResult(
            suite: .writing, timings: [base, other, Timing(name: "never done")], baseline: "base",
            figures: [.init("recordBytes.raw", "bytes", .count(7))],
            chart: .medians(
                "t", "s", sections: [(nil, [base, other])], baseline: base, emphasised: "base"))
    }

    @Test("A timing without times has no percentiles and no ratio in a suite's table")
    func table() {
        #expect(
            SuiteReport(result: result).report.table.text()
                == """
                name          unit  count   p50   p90   p99  p99.9   max  ratio
                base          us       10  5.00  5.00  5.00   5.00  5.00   1.00
                other, twice  us       10  10.0  10.0  10.0   10.0  10.0   2.00
                never done    us        0
                """)
    }

    @Test(
        "The results of suites are one JSON document, and one CSV table with the suite in each row")
    func documents() throws {
        let document = BenchDocument(
            environment: BenchEnvironment(of: "/"), seconds: 3,
            results: [(result: result, chart: "a/writing.svg")])
        guard case .array(let suites)? = document.json["suites"],
            case .array(let timings)? = suites[0]["timings"]
        else {
            Issue.record("no suites")
            return
        }
        #expect(timings[1]["ratio"] == .number(.double(2)) && timings[2]["p50"] == .null)
        #expect(suites[0]["figures"]?["recordBytes"]?["raw"] == 7)
        #expect(suites[0]["chart"] == "a/writing.svg")
        let lines = document.csv.split(whereSeparator: \.isNewline)
        #expect(lines[0] == "suite,name,unit,count,p50,p90,p99,p999,max,ratio,value")
        #expect(lines[2].hasPrefix(#"writing,"other, twice",us,10,10.0,"#))
        #expect(lines[4] == "writing,recordBytes.raw,,,,,,,,,7")
    }

    @Test("The chart of a suite has the medians, their ratios and the machine")
    func chart() {
        let svg = result.chart.svg(note: "on a machine")
        for text in ["5 µs", "10 µs", ">2×<", "on a machine"] {
            #expect(svg.contains(text), "\(text)")
        }
    }
}
#endif

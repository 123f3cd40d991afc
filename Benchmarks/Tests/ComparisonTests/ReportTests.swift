import Testing

@testable import Comparison

@Suite("Reports of the comparison")
struct ReportTests {
    @Test("A figure has the median and the 10th and 90th percentiles of values in any order")
    func figures() throws {
        let contestant = try #require(Contestant.all.first)
        let figure = Figure(
            contestant, unit: .microseconds, values: (1...101).map(Double.init).shuffled())
        #expect((figure.count, figure.low, figure.median, figure.high) == (101, 11, 51, 91))
        let ten = Figure(contestant, unit: .microseconds, values: (1...10).map(Double.init))
        #expect(
            (ten.low, ten.median, ten.high) == (1, 5, 10),
            "of few values the least and the greatest")
        let twenty = Figure(contestant, unit: .microseconds, values: (1...20).map(Double.init))
        #expect((twenty.low, twenty.median, twenty.high) == (2, 10, 18))
        #expect(Figure(contestant, unit: .microseconds, values: [7]).median == 7)
    }

    @Test("The report writes numbers with three significant figures and commas between thousands")
    func format() {
        #expect(Format.microseconds(0.1234) == "0.12")
        #expect(Format.microseconds(12.34) == "12.3")
        #expect(Format.microseconds(999.4) == "999")
        #expect(Format.microseconds(1_234_567) == "1,234,567")
        #expect(Format.microseconds(.nan) == "–")
        #expect(Format.bytes(2_500_000_000) == "2.50 GB")
        #expect(Format.percent(0.5) == "50.0 %")
    }

    @Test("Updating a document replaces the tables between its markers and nothing else")
    func documents() throws {
        let document = "a\n<!-- table one -->\nold\nolder\n<!-- end -->\nb\n"
        let updated = try MarkedDocument.replaced(document, with: ["one": "| new |\n"])
        #expect(updated == "a\n<!-- table one -->\n| new |\n<!-- end -->\nb\n")
        #expect(try MarkedDocument.replaced(updated, with: ["one": "| new |\n"]) == updated)
        #expect(throws: ComparisonError.self) { try MarkedDocument.replaced(document, with: [:]) }
        #expect(throws: ComparisonError.self) {
            try MarkedDocument.replaced("<!-- table one -->\nno end", with: ["one": ""])
        }
    }

    @Test("The report shows what budgets hold as a table for each content, and as a chart")
    func budgets() throws {
        var report = Report(scale: .smoke, directory: "/dev/null/none")
        #expect(!MarkdownReport(report: report).sections.contains { $0.name == "budget-prose" })
        report.budgets = [
            BudgetContents.Result(
                contender: .compressedFiles, content: .prose, budget: 1 << 20, feedsWritten: 150,
                feedsHeld: 64, recordsHeld: 8_192, mostBytes: 1_000_000, hitRate: 0.25,
                writesRefused: 3)
        ]
        let tables = MarkdownReport(report: report).sections.filter {
            $0.name.hasPrefix("budget-")
        }
        #expect(tables.map(\.name) == ["budget-prose"])
        let row =
            "| zstd JSON files | 1.00 MiB | 0.95 MiB | 64 | 8,192 | 128 | 25.0 % | 3 |"
        #expect(tables[0].text.contains(row))
        let chart = try #require(
            ReportCharts(report: report).all.first { $0.name == "budget.svg" })
        #expect(chart.svg.contains("zstd JSON files") && chart.svg.contains("1.00 MiB"))
    }
}

#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("A report is a table for a person, JSON and CSV for a program")
struct ReportTests {
    private var list: Report {
        var report = Report(
            .list,
            columns: [.left("identifier"), .right("bytes", "size"), .left("tags"), .left("hot")])
        report.append([.text("a,\"b\"\nc"), .size(2_048), .texts(["x", "y"]), .flag(true)])
        report.append([.text("z"), .size(5), .texts([]), .nothing])
        return report
    }

    @Test("A report prints as a table") func table() {
        #expect(
            list.table.text() == """
                identifier     size  tags  hot
                a,"b"␊c     2.0 KiB  x, y  yes
                z               5 B
                """)
    }

    @Test("A report prints as JSON") func json() {
        #expect(
            list.json == [
                ["identifier": "a,\"b\"\nc", "bytes": 2048, "tags": ["x", "y"], "hot": true],
                ["identifier": "z", "bytes": 5, "tags": [], "hot": nil],
            ])
    }

    @Test("A field with a comma, a quotation mark or a newline is quoted in CSV")
    func csv() {
        #expect(list.csv == "identifier,bytes,tags,hot\n\"a,\"\"b\"\"\nc\",2048,x y,true\nz,5,,")
    }

    @Test("Facts are lines in a table, members in JSON and columns in CSV")
    func facts() {
        let report = Report(facts: [
            ("fill", "fill", .share(0.256)), ("misses.lost", "misses, lost", .count(2)),
            ("misses.expired", "misses, expired", .count(0)),
        ])
        #expect(
            report.table.text() == """
                what              value
                fill             25.6 %
                misses, lost          2
                misses, expired       0
                """)
        #expect(report.json == ["fill": 0.256, "misses": ["lost": 2, "expired": 0]])
        #expect(report.csv == "fill,misses.lost,misses.expired\n0.256,2,0")
    }

    @Test(
        "Numbers print with units for a person and plain for a program",
        arguments: [
            (Cell.real(0, decimals: 0), "0"), (.real(0.005, decimals: 2), "0.01"),
            (.real(-0.001, decimals: 2), "0.00"),
            (.real(-1.5, decimals: 1), "-1.5"), (.real(999.999, decimals: 2), "1000.00"),
            (.share(1), "100.0 %"),
            (.real(.infinity, decimals: 1), "inf"), (.real(12.05, decimals: 2), "12.05"),
        ])
    func numbers(cell: Cell, shown: String) {
        #expect(cell.shown == shown)
    }
}

@Suite("Color is a choice")
struct ColorChoiceTests {
    @Test("`auto` colors on a terminal without NO_COLOR; `always` and `never` are unconditional")
    func choices() {
        #expect(ColorChoice.auto.palette(isTerminal: true, environment: [:]).isColored)
        #expect(!ColorChoice.auto.palette(isTerminal: false, environment: [:]).isColored)
        #expect(
            !ColorChoice.auto.palette(isTerminal: true, environment: ["NO_COLOR": "1"]).isColored)
        #expect(ColorChoice.auto.palette(isTerminal: true, environment: ["NO_COLOR": ""]).isColored)
        #expect(
            !ColorChoice.auto.palette(isTerminal: true, environment: ["TERM": "dumb"]).isColored)
        #expect(
            ColorChoice.always.palette(isTerminal: false, environment: ["NO_COLOR": "1"]).isColored)
        #expect(!ColorChoice.never.palette(isTerminal: true, environment: [:]).isColored)
    }
}
#endif

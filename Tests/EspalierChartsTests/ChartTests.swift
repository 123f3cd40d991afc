import Testing

@testable import EspalierCharts

@Suite("Charts")
struct ChartTests {
    static let bars = BarChart(
        title: "Reading", subtitle: "a feed", unit: .microseconds,
        sections: [
            .init(
                "raw",
                bars: [
                    .init("espalier", 214, detail: "1×", isEmphasised: true), .init("JSON", 2_050),
                ])
        ], note: "release")

    static let lines = LineChart(
        title: "Opening", x: .init("records", unit: .count, scale: .logarithmic),
        y: .init("time", unit: .microseconds, scale: .logarithmic),
        series: [
            .init(
                "opening", points: [.init(1_000, 310), .init(100_000, 2_900)], isEmphasised: true)
        ])

    static let percentiles = PercentileChart(
        title: "Latency",
        series: [.init("snapshot", points: [.init(50, 1.2), .init(99.9, 21), .init(100, 230)])])

    static let all = [bars.svg, lines.svg, percentiles.svg]

    @Test("A chart is one XML document with a role, a title and a description of every value")
    func document() throws {
        let expected = [
            ["Reading", "espalier: 214 µs (1×)", "JSON: 2.05 ms"],
            ["Opening", "310 µs at 1 k", "2.90 ms at 100 k"],
            ["Latency", "1.20 µs at p50", "21 µs at p99.9", "230 µs at max"],
        ]
        for (svg, texts) in zip(Self.all, expected) {
            let chart = try ParsedChart(svg)
            #expect(chart.attributes["role"] == "img")
            #expect(chart.attributes["viewBox"]?.hasPrefix("0 0 780 ") == true)
            #expect(chart.title == texts[0])
            for text in texts.dropFirst() {
                #expect(chart.summary.contains(text), "\(chart.summary)")
            }
            #expect(
                svg.contains("prefers-color-scheme:dark") && !svg.contains("<script")
                    && !svg.contains("url("))
        }
    }

    @Test("The same chart is the same bytes")
    func determinism() {
        #expect(
            Self.bars.svg
                == BarChart(
                    title: "Reading", subtitle: "a feed", unit: .microseconds,
                    sections: [
                        .init(
                            "raw",
                            bars: [
                                .init("espalier", 214, detail: "1×", isEmphasised: true),
                                .init("JSON", 2_050),
                            ])
                    ], note: "release"
                ).svg)
        for _ in 0..<3 {
            #expect(Self.all == [Self.bars.svg, Self.lines.svg, Self.percentiles.svg])
        }
    }

    @Test("Names in a chart are text, whatever characters they contain")
    func escaping() throws {
        let name = "<a href=\"x\">&amp; ' ]]> \u{0}\u{1B}[2J\u{FFFE}"
        let bar = BarChart(
            title: name, subtitle: name, unit: .named(name),
            sections: [.init(name, bars: [.init(name, 1, detail: name)])],
            note: name)
        let line = LineChart(
            title: name, x: .init(name, unit: .count), y: .init(name, unit: .named(name)),
            series: [.init(name, points: [.init(1, 1)])])
        let percentile = PercentileChart(title: name, series: [.init(name, points: [.init(50, 1)])])
        for svg in [bar.svg, line.svg, percentile.svg] {
            let chart = try ParsedChart(svg)
            #expect(chart.title == "<a href=\"x\">&amp; ' ]]> \u{FFFD}\u{FFFD}[2J\u{FFFD}")
            #expect(!chart.elements.contains("a"))
        }
    }

    @Test("A chart without values says that nothing was measured")
    func empty() throws {
        let lone = LineChart.Series("a", points: [])
        for svg in [
            BarChart(title: "t", unit: .count, sections: []).svg,
            BarChart(title: "t", unit: .count, sections: [.init("s", bars: [])]).svg,
            LineChart(
                title: "t", x: .init("x", unit: .count), y: .init("y", unit: .count), series: [lone]
            ).svg,
            PercentileChart(title: "t", series: []).svg,
            PercentileChart(
                title: "t", series: [.init("a", points: [.init(50, .nan), .init(101, 3)])]
            ).svg,
        ] {
            let chart = try ParsedChart(svg)
            #expect(chart.texts.contains("Nothing was measured."))
            #expect(chart.summary.contains("Nothing was measured."))
        }
    }

    static let odd: [Double] = [
        0, -0.0, 1, -1, .nan, .infinity, -.infinity, .greatestFiniteMagnitude,
        -.greatestFiniteMagnitude,
        .leastNonzeroMagnitude, .leastNormalMagnitude, 1e100, 1e-100, 5, 1e15,
    ]

    @Test(
        "A chart draws any two values on either scale",
        arguments: [ChartScale.linear, .logarithmic])
    func oddValues(scale: ChartScale) throws {
        for first in Self.odd {
            for second in Self.odd {
                let bar = BarChart(
                    title: "t", unit: .bytes, scale: scale,
                    sections: [.init(bars: [.init("a", first), .init("b", second)])])
                let line = LineChart(
                    title: "t", x: .init("x", unit: .count, scale: scale),
                    y: .init("y", unit: .ratio, scale: scale),
                    series: [.init("s", points: [.init(first, second), .init(second, first)])])
                let percentile = PercentileChart(
                    title: "t",
                    series: [.init("s", points: [.init(first, second), .init(second, first)])])
                for svg in [bar.svg, line.svg, percentile.svg] {
                    let chart = try ParsedChart(svg)
                    #expect(ParsedChart.hasOnlyNumbers(svg), "\(first) and \(second)")
                    #expect(!chart.texts.isEmpty)
                }
            }
        }
    }

    @Test("A bar without a value says so beside its name")
    func noValue() throws {
        let chart = BarChart(
            title: "t", unit: .microseconds,
            sections: [.init(bars: [.init("a", .nan), .init("b", 0)])])
        let texts = try ParsedChart(chart.svg).texts
        #expect(texts.contains("no value") && texts.contains("0 µs"))
    }

    @Test("A line breaks at a value without a place and goes on behind it")
    func gap() {
        let chart = LineChart(
            title: "t", x: .init("x", unit: .count),
            y: .init("y", unit: .count, scale: .logarithmic),
            series: [.init("s", points: [.init(1, 1), .init(2, 0), .init(3, 2), .init(4, 3)])])
        let path = chart.svg.split(separator: "\n").first { $0.hasPrefix("<path") }
        #expect(path?.filter { $0 == "M" }.count == 2)
        #expect(path?.filter { $0 == "L" }.count == 1)
    }
}

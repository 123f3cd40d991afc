import Testing

@testable import EspalierCharts

@Suite("Texts of charts")
struct TextTests {
    @Test(
        "Figures of charts have three significant digits",
        arguments: [
            (0, "0 µs"), (1, "1 µs"), (1.234, "1.23 µs"), (21.456, "21.5 µs"), (99.97, "100 µs"),
            (999.7, "1.00 ms"),
            (2_050, "2.05 ms"), (20, "20 µs"), (0.55, "550 ns"), (12_000_000, "12 s"),
            (-12.5, "−12.5 µs"),
            (Double.nan, "no value"), (.infinity, "no value"), (1e30, "1.0e30 µs"),
        ])
    func times(value: Double, text: String) {
        #expect(ChartUnit.microseconds.text(value) == text)
    }

    @Test("Each unit of a chart has its own prefixes") func units() {
        #expect(ChartUnit.bytes.text(119_000) == "119 kB")
        #expect(ChartUnit.share.text(0.612) == "61.2 %")
        #expect(ChartUnit.ratio.text(9.58) == "9.58×")
        #expect(ChartUnit.count.text(1_000_000) == "1 M")
        #expect(ChartUnit.named("commits/s").text(12_500) == "12.5 k commits/s")
        #expect(ChartUnit.named("").text(7) == "7")
    }

    @Test("Ticks of a linear axis share a prefix and decimals; those of a logarithmic one do not")
    func labels() {
        #expect(
            ChartUnit.microseconds.labels(of: [0, 500, 1_000], on: .linear) == [
                "0", "0.5 ms", "1.0 ms",
            ])
        #expect(
            ChartUnit.microseconds.labels(of: [100, 1_000], on: .logarithmic) == ["100 µs", "1 ms"])
    }

    @Test("A text that is too wide is shortened until it fits")
    func shortening() {
        let text = "a label that is far too long to be shown in whole"
        for width in [20.0, 80, 200] {
            let shown = text.shortened(to: width, at: 13)
            #expect(shown.hasSuffix("…") && shown.width(at: 13) <= width)
        }
        #expect(text.shortened(to: 1_000, at: 13) == text)
        #expect(text.lines(to: 100, at: 13).joined(separator: " ") == text)
        #expect("".lines(to: 100, at: 13).isEmpty)
    }

    @Test("Rows that would overlap are moved apart in their order, as long as there is room")
    func spreading() {
        #expect(SpreadRows.spread([10, 100], apart: 20, within: 0...200) == [10, 100])
        #expect(SpreadRows.spread([50, 50, 50], apart: 20, within: 0...200) == [30, 50, 70])
        #expect(
            SpreadRows.spread([0, 1, 199, 200], apart: 20, within: 0...200) == [0, 20, 180, 200])
        let crowded = SpreadRows.spread(
            (0..<11).map { 100 + Double($0) }, apart: 20, within: 0...200)
        #expect(crowded == (0..<11).map { Double($0) * 20 })
    }

    @Test("An axis leaves out labels that would overlap the one before")
    func apart() {
        let labels = [
            (position: 0.0, label: "100 µs"), (position: 0.05, label: "200 µs"),
            (position: 1, label: "1 ms"),
        ]
        #expect(AxisTicks.apart(labels, length: 300).map(\.1) == ["100 µs", "1 ms"])
        #expect(AxisTicks.apart(labels, length: 3_000).count == 3)
    }

    @Test("Coordinates have one decimal, unless it is zero")
    func pixels() {
        #expect(
            [12.5, 12.04, -0.04, -3.25, .nan].map(\.pixels) == ["12.5", "12", "0", "-3.3", "0"])
    }
}

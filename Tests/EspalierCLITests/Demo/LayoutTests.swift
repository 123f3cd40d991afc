#if CommandLine
import EspalierCharts
import Testing

@testable import EspalierCLI

@Suite("Drawings of the demo")
struct LayoutTests {
    @Test("A drawn tree has its values in one column at any depth")
    func outline() {
        let tree = Outline(
            line: StyledLine("Message:1"),
            branches: [
                Outline(label: "text", line: StyledLine("\"Meow\"")),
                Outline(
                    label: "sender", line: StyledLine("Person:1"),
                    branches: [Outline(label: "name", line: StyledLine("\"Ada\""))]),
                Outline(
                    label: "likes", line: StyledLine(),
                    branches: [Outline(line: StyledLine("Person:2"))]),
            ])
        #expect(
            tree.lines.map(\.text).joined(separator: "\n") == """
                Message:1
                ├ text    "Meow"
                ├ sender  Person:1
                │ └ name  "Ada"
                └ likes
                  └ Person:2
                """)
        #expect(Outline(line: StyledLine("alone")).lines == [StyledLine("alone")])
    }

    private let wide = ["日本語日本語日本語日本語", "abc", "", "ليلى حداد", "🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊"].map { StyledLine($0) }

    @Test("Two texts side by side have their separator in one column and keep to the width")
    func sideBySide() throws {
        for width in [24, 25, 40, 77] {
            let lines = SideBySide(
                left: ("left", wide), right: ("right", wide.reversed() + [StyledLine("one more")])
            )
            .lines(width: width)
            #expect(lines.count == 7)
            var places: Set<Int> = []
            for line in lines.map(\.text) {
                let separator = try #require(line.firstIndex(of: "│"))
                places.insert(String(line[..<separator]).terminalColumns)
                #expect(line.terminalColumns <= width)
                #expect(line.last != " ")
            }
            #expect(places.count == 1)
        }
    }

    @Test("A line that is too wide ends in an ellipsis and keeps its styles")
    func cut() {
        let line = StyledLine("├ ", .faint) + StyledLine("日本語", .name)
        #expect(line.columns == 8)
        #expect(line.cut(to: 8) == line)
        #expect(line.cut(to: 7).text == "├ 日本…")
        #expect(line.cut(to: 6).text == "├ 日…")
        #expect(line.fitted(to: 6).text == "├ 日… ")
        #expect(line.fitted(to: 10).text == "├ 日本語  ")
        #expect(line.cut(to: 1).text == "…")
        #expect(
            line.painted(Palette(isColored: true)) == "\u{1B}[2m├ \u{1B}[0m\u{1B}[36m日本語\u{1B}[0m")
        #expect(line.painted(.plain) == "├ 日本語")
    }

    @Test("The demo shows control characters from a cache without sending them to the terminal")
    func controls() {
        #expect(StyledLine("a\u{1B}[2J\r").text == "a␛[2J␍")
    }

    @Test("A progress bar keeps its width and is full only when everything is done")
    func progress() {
        let bar = ProgressBar(total: 1_200, unit: "messages")
        #expect(
            bar.text(done: 300)
                == "████████░░░░░░░░░░░░░░░░░░░░░░░░   25 %    300 of 1,200 messages")
        let texts = [-1, 0, 1, 600, 1_199, 1_200, 5_000].map { bar.text(done: $0) }
        #expect(Set(texts.map(\.terminalColumns)).count == 1)
        #expect(texts.map { $0.contains("░") } == [true, true, true, true, true, false, false])
        #expect(
            texts.map { $0.contains("100 %") } == [false, false, false, false, false, true, true])
        #expect(bar.text(done: 600, width: 50).terminalColumns == 50)
        #expect(bar.text(done: 1, width: 10).hasPrefix("░░░░ "))
        #expect(ProgressBar(total: 0, unit: "messages").text(done: 0).contains("100 %"))
    }

    @Test(
        "Numbers have commas between thousands",
        arguments: [
            (0, "0"), (999, "999"), (1_000, "1,000"), (-12_345, "-12,345"),
            (1_234_567, "1,234,567"),
        ])
    func grouped(number: Int, text: String) {
        #expect(number.grouped == text)
    }

    @Test("The demo writes durations in milliseconds") func milliseconds() {
        #expect(Duration.microseconds(300).milliseconds == "0.3 ms")
        #expect(Duration.microseconds(84_499).milliseconds == "84 ms")
        #expect(Duration.milliseconds(1_250).milliseconds == "1,250 ms")
    }

    @Test("Commands to copy are words for a shell, with their purposes if these fit")
    func nextSteps() {
        #expect("/tmp/a-b_c.1".shellWord == "/tmp/a-b_c.1")
        #expect("it's here".shellWord == #"'it'\''s here'"#)
        #expect("日本".shellWord == "日本")
        #expect("".shellWord == "''")
        let kept = NextSteps(cache: "my cache").lines(width: 77).map(\.text)
        #expect(kept.first?.hasPrefix("espalier ls 'my cache' ") == true)
        let narrow = NextSteps(cache: "c").lines(width: 20).map(\.text)
        #expect(narrow.first == "espalier ls c")
    }
}
#endif

#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("Tables are aligned in terminal columns")
struct TableTests {
    @Test("Columns are aligned two spaces apart") func alignment() {
        var table = Table(columns: [.left("shape"), .right("records"), .left("note")])
        table.append(["Status", "1,204", "hot"])
        table.append(["U", "7", ""])
        #expect(
            table.text() == """
                shape   records  note
                Status    1,204  hot
                U             7
                """)
    }

    @Test("Wide and combining characters keep the columns aligned")
    func width() {
        var table = Table(columns: [.left("name"), .right("n")])
        for name in ["日本", "e\u{301}te\u{301}", "😀", "👩‍👩‍👧‍👦", "🇩🇪", "abcd"] {
            table.append([StyledLine(name), "1"])
        }
        let lines = table.text().split(separator: "\n").map(String.init)
        #expect(lines.map(\.terminalColumns) == Array(repeating: 7, count: 7))
    }

    @Test(
        "A character has its width in a terminal",
        arguments: [
            ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本語", 6), ("한글", 4), ("ｱ", 1),
            ("Ａ", 2),
            ("😀", 2),
            ("❤️", 2), ("❤", 1), ("👍🏽", 2), ("👩‍💻", 2), ("🇩🇪", 2), ("1️⃣", 2), ("\u{200B}", 0),
            ("\u{301}", 0),
            ("→", 1),
        ])
    func terminalColumns(text: String, columns: Int) {
        #expect(text.terminalColumns == columns)
    }

    @Test("A table shows control characters from a cache without sending them to the terminal")
    func controls() {
        var table = Table(columns: [.left("identifier")])
        table.append(["a\nb\u{1B}[2J\u{7F}\u{9B}"])
        #expect(table.text() == "identifier\na␊b␛[2J␡\u{FFFD}")
    }

    @Test("A table without rows is its titles")
    func empty() {
        #expect(Table(columns: [.left("a"), .right("b")]).text() == "a  b")
    }

    @Test(
        "On a narrow terminal the widest text is cut, and no line wraps",
        arguments: [10, 20, 30, 80, 200])
    func fits(width: Int) {
        var table = Table(columns: [.left("identifier"), .right("bytes"), .left("value")])
        for text in [
            "User:1",
            "用户:一二三四五六七八九十一二三四五六七八九十",
            "مستخدم:١٢٣٤٥٦٧٨٩٠١٢٣٤٥٦٧٨٩٠",
            "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦",
        ] {
            table.append([StyledLine(text), "131", StyledLine(text)])
        }
        let lines = table.text(width: width).split(separator: "\n").map(String.init)
        // Numbers are never cut, and text not below eight columns: 8 + 2 + 5 + 2 + 8.
        #expect(lines.allSatisfy { $0.terminalColumns <= max(width, 25) })
        #expect(lines[1].contains("131"))
        let whole = table.text()
        #expect(table.text(width: 200) == whole)
        #expect(
            table.text(width: width).contains("…")
                == (whole.split(separator: "\n").contains { String($0).terminalColumns > width }))
    }

    @Test("Characters that change the direction of text are made visible")
    func directions() {
        var table = Table(columns: [.left("identifier")])
        table.append(["a\u{202E}b\u{2066}c\u{2028}d"])
        #expect(table.text() == "identifier\na\u{FFFD}b\u{FFFD}c\u{FFFD}d")
        var marks = Table(columns: [.left("identifier")])
        marks.append(["a\u{200F}b\u{200E}c\u{61C}d\u{2069}e"])
        #expect(marks.text() == "identifier\na\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}e")
    }

    @Test("Colors surround the text without its padding, and only when asked for")
    func colors() {
        var table = Table(columns: [.left("name"), .right("n")])
        table.append([StyledLine("a", .name), "1"])
        #expect(
            table.text(palette: Palette(isColored: true))
                == "\u{1B}[1mname\u{1B}[0m  \u{1B}[1mn\u{1B}[0m\n\u{1B}[36ma\u{1B}[0m     1")
        #expect(!table.text().contains("\u{1B}"))
    }

    @Test("Names are cut only when no other column can be")
    func namesLast() {
        var table = Table(columns: [.left("identifier"), .left("value")])
        table.append([
            StyledLine("Status:505874888817532928", .name), "some text that is rather long",
        ])
        #expect(table.text(width: 40).contains("Status:505874888817532928  some text th…"))
        #expect(table.text(width: 30).contains("Status:505874888817…  some te…"))
    }
}
#endif

import Testing

@testable import EspalierCLI

@Suite("Tables are aligned in terminal columns")
struct TableTests {
    @Test func alignment() {
        var table = Table(columns: [.left("shape"), .right("records"), .left("note")])
        table.append(["Status", "1,204", "hot"])
        table.append(["U", "7", ""])
        #expect(
            table.text == """
                shape   records  note
                Status    1,204  hot
                U             7
                """)
    }

    @Test("wide and combining characters keep the columns in line")
    func width() {
        var table = Table(columns: [.left("name"), .right("n")])
        for name in ["日本", "e\u{301}te\u{301}", "😀", "👩‍👩‍👧‍👦", "🇩🇪", "abcd"] { table.append([name, "1"]) }
        let lines = table.text.split(separator: "\n").map(String.init)
        #expect(lines.map(\.terminalColumns) == Array(repeating: 7, count: 7))
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本語", 6), ("한글", 4), ("ｱ", 1), ("Ａ", 2), ("😀", 2),
        ("❤️", 2), ("❤", 1), ("👍🏽", 2), ("👩‍💻", 2), ("🇩🇪", 2), ("1️⃣", 2), ("\u{200B}", 0), ("\u{301}", 0), ("→", 1),
    ])
    func terminalColumns(text: String, columns: Int) {
        #expect(text.terminalColumns == columns)
    }

    @Test("control characters from a cache never reach the terminal")
    func controls() {
        var table = Table(columns: [.left("identifier")])
        table.append(["a\nb\u{1B}[2J\u{7F}\u{9B}"])
        #expect(table.text == "identifier\na␊b␛[2J␡\u{FFFD}")
    }

    @Test("a table without rows is its titles")
    func empty() {
        #expect(Table(columns: [.left("a"), .right("b")]).text == "a  b")
    }
}

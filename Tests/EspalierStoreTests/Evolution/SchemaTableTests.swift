import Foundation
import Testing

@Suite("The tables of docs/SCHEMA.md")
struct SchemaTableTests {
    @Test("Each row of the table in docs/SCHEMA.md is what happens", arguments: Change.all)
    func row(change: Change) throws {
        let rows = try SchemaDocument.current().rows(below: "change")
        let row = try change.row()
        #expect(rows.contains(row), "\(row)")
    }

    @Test("The document SCHEMA.md lists all tested changes and no others")
    func complete() throws {
        let rows = try SchemaDocument.current().rows(below: "change")
        #expect(rows.map(SchemaDocument.firstCell) == Change.all.map(\.name))
    }

    @Test("The document SCHEMA.md lists each detail that misses report and no others")
    func details() throws {
        let rows = try SchemaDocument.current().rows(below: "detail")
        let templates = rows.map { DetailTemplate(SchemaDocument.firstCell(of: $0)) }
        #expect(!templates.isEmpty)
        var unused = Set(templates)
        for change in Change.all {
            let (codable, handWritten) = try change.observe()
            for detail in codable.details + (handWritten?.details ?? []) {
                let matching = templates.filter { $0.matches(detail) }
                #expect(matching.count == 1, "\(detail)")
                unused.subtract(matching)
            }
        }
        #expect(unused.isEmpty)
    }

    @Test("An ellipsis in a detail of docs/SCHEMA.md stands for some text")
    func templates() {
        let template = DetailTemplate("`expected \u{2026}, found \u{2026}`")
        #expect(template.matches("expected a String, found integer"))
        #expect(!template.matches("expected , found integer"))
        #expect(!template.matches("expected a String"))
        #expect(!template.matches("not expected a String, found integer"))
        #expect(DetailTemplate("`a UUID of \u{2026} bytes`").matches("a UUID of 2 bytes"))
        #expect(!DetailTemplate("`a UUID of \u{2026} bytes`").matches("a UUID of 2 bytes and more"))
        #expect(!DetailTemplate("`text`").matches("texts"))
    }

    @Test("The rows of a table in docs/SCHEMA.md are found by its header")
    func reading() {
        let document = SchemaDocument(
            text: """
                | change | new |
                |---|---|
                | a | reads `1` |
                | b | c |

                | other | new |
                |---|---|
                | d | e |
                Text.
                | change | new |
                |---|---|
                | f | g |
                """)
        #expect(document.rows(below: "change") == ["| a | reads `1` |", "| b | c |", "| f | g |"])
        #expect(document.rows(below: "other").map(SchemaDocument.firstCell) == ["d"])
        #expect(document.rows(below: "nothing") == [])
    }

    @Test("A row of observed changes reports what was read, even if it differs from the write")
    func canary() throws {
        let row = try Change(
            "x", OfInt.Message(value: 7), OfString.Message(value: "8"), byHand: 7, "8"
        ).row()
        let miss = "misses at `Message:34.value`"
        #expect(row == "| x | `7` \(miss) | `\"8\"` \(miss) | the same | the same |")
        let twoKinds = try Change(
            "y", OfInt.Message(value: 7), OfInt.Message(value: 8),
            handWritten: HandWritten.Message(value: 7), HandWritten.Message(value: "8")
        ).row()
        #expect(
            twoKinds
                == "| y | `Codable`: `7` reads `7`; by hand: `7` \(miss) | `Codable`: `8` reads "
                + "`8`; by hand: `\"8\"` \(miss)"
                + " | the same | the same |")
    }
}

#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("JSON is written as it was read")
struct JSONWriterTests {
    private let value: JSONValue = ["b": [1, [:], []], "a": ["x": nil, "é": 1.0]]

    @Test("Compact text has no white space") func compact() {
        #expect(JSONWriter().string(from: value) == #"{"b":[1,{},[]],"a":{"x":null,"é":1.0}}"#)
    }

    @Test("Pretty text is indented by two spaces") func pretty() {
        let expected = """
            {
              "b": [
                1,
                {},
                []
              ],
              "a": {
                "x": null,
                "é": 1.0
              }
            }
            """
        #expect(JSONWriter(style: .pretty).string(from: value) == expected)
    }

    @Test("Members are sorted by the bytes of their names, at every level")
    func sorted() {
        let value: JSONValue = ["é": 1, "z": ["b": 1, "a": 2], "Z": 3]
        let text = JSONWriter(memberOrder: .sorted).string(from: value)
        #expect(text == #"{"Z":3,"z":{"a":2,"b":1},"é":1}"#)
    }

    @Test("Only characters that need it are escaped")
    func escapes() throws {
        let text = "\"\\/\u{8}\u{C}\n\r\t\0\u{1F}\u{7F}é😀\u{2028}"
        let written = JSONWriter().string(from: .string(text))
        #expect(written == #""\"\\/\b\f\n\r\t\u0000\u001f"# + "\u{7F}é😀\u{2028}\"")
        #expect(try JSONParser.parse(Array(written.utf8)) == .string(text))
    }

    @Test("For a terminal everything unprintable is escaped, and reads back as the same text")
    func printable() throws {
        let text = "\"\n\u{1B}\u{7F}\u{9B}é😀👩‍💻\u{202E}\u{2066}\u{200F}\u{61C}\u{E0041}"
        let written = JSONWriter(escapesUnprintable: true).string(from: .string(text))
        let escaped =
            #""\"\n\u001b\u007f\u009bé😀👩‍💻\u202e\u2066\u200f\u061c\udb40\udc41""#
        #expect(written == escaped)
        #expect(try JSONParser.parse(Array(written.utf8)) == .string(text))
    }

    @Test(
        "Numbers without a JSON text become null", arguments: [Double.infinity, -.infinity, .nan])
    func nonFinite(_ number: Double) {
        #expect(JSONWriter().string(from: [.number(.double(number))]) == "[null]")
    }

    @Test(
        "Written text parses to the same value",
        arguments: [JSONWriter.Style.compact, .pretty])
    func roundTrip(style: JSONWriter.Style) throws {
        let text =
            #"{"n":[0,-0,1.0,1e2,1e400,0.1,18446744073709551615,1234567890123456789012],"#
            + #""s":"\u0000é\\"}"#
        let parsed = try JSONParser.parse(Array(text.utf8))
        #expect(try JSONParser.parse(JSONWriter(style: style).bytes(from: parsed)) == parsed)
    }
}
#endif

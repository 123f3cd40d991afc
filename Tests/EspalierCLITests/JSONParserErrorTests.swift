#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("Errors of the JSON parser")
struct JSONParserErrorTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        var text: String
        var line = 1
        var column: Int
        var problem: JSONParseError.Problem

        var testDescription: String { text }
    }

    @Test(
        "A malformed document is refused at its position",
        arguments: [
            Sample(text: "", column: 1, problem: .endsBefore("a value")),
            Sample(text: " \n ", line: 2, column: 2, problem: .endsBefore("a value")),
            Sample(text: "1 2", column: 3, problem: .expected("the end of the input")),
            Sample(text: "{}}", column: 3, problem: .expected("the end of the input")),
            Sample(text: "nul", column: 1, problem: .expected("a value")),
            Sample(text: "True", column: 1, problem: .expected("a value")),
            Sample(text: "NaN", column: 1, problem: .expected("a value")),
            Sample(text: "'a'", column: 1, problem: .expected("a value")),
            Sample(text: "// a\n1", column: 1, problem: .expected("a value")),
            Sample(text: "[1,]", column: 4, problem: .expected("a value")),
            Sample(text: "[1 2]", column: 4, problem: .expected("',' or ']'")),
            Sample(text: "[1", column: 3, problem: .endsBefore("',' or ']'")),
            Sample(
                text: "{\n  \"a\": 1,\n}", line: 3, column: 1,
                problem: .expected("a member name in quotes")),
            Sample(text: "{a:1}", column: 2, problem: .expected("a member name in quotes")),
            Sample(text: #"{"é" 1}"#, column: 6, problem: .expected("':'")),
            Sample(text: #"{"a":1"#, column: 7, problem: .endsBefore("',' or '}'")),
            Sample(text: #"{"a":1 "b":2}"#, column: 8, problem: .expected("',' or '}'")),
        ])
    func structure(_ sample: Sample) {
        expectFailure(sample)
    }

    @Test(
        "A malformed number is refused at its position",
        arguments: [
            Sample(text: "01", column: 2, problem: .expected("the end of the input")),
            Sample(text: "+1", column: 1, problem: .expected("a value")),
            Sample(text: ".5", column: 1, problem: .expected("a value")),
            Sample(text: "-", column: 2, problem: .endsBefore("a digit")),
            Sample(text: "-x", column: 2, problem: .expected("a digit")),
            Sample(text: "1.", column: 3, problem: .endsBefore("a digit")),
            Sample(text: "[1.]", column: 4, problem: .expected("a digit")),
            Sample(text: "1e", column: 3, problem: .endsBefore("a digit")),
            Sample(text: "1e+-1", column: 4, problem: .expected("a digit")),
            Sample(text: "0x1F", column: 2, problem: .expected("the end of the input")),
        ])
    func numbers(_ sample: Sample) {
        expectFailure(sample)
    }

    @Test(
        "A malformed string is refused at its position",
        arguments: [
            Sample(text: #""a"#, column: 3, problem: .endsBefore("the closing quote of a string")),
            Sample(
                text: #""a\n"#, column: 5, problem: .endsBefore("the closing quote of a string")),
            Sample(text: "\"a\nb\"", column: 3, problem: .unescapedControlCharacter),
            Sample(text: "\"a\tb\"", column: 3, problem: .unescapedControlCharacter),
            Sample(
                text: #""\"#, column: 3,
                problem: .endsBefore("one of \" \\ / b f n r t u after a backslash")),
            Sample(
                text: #""\x""#, column: 3,
                problem: .expected("one of \" \\ / b f n r t u after a backslash")),
            Sample(
                text: #""\u12g4""#, column: 6,
                problem: .expected("four hexadecimal digits after \\u")),
            Sample(
                text: #""\u12"#, column: 6,
                problem: .endsBefore("four hexadecimal digits after \\u")),
            Sample(text: #""ab\ud83d""#, column: 4, problem: .unpairedSurrogate),
            Sample(text: #""\ud83d\n""#, column: 2, problem: .unpairedSurrogate),
            Sample(text: #""\ud83d\u0041""#, column: 2, problem: .unpairedSurrogate),
            Sample(text: #""\ude00\ud83d""#, column: 2, problem: .unpairedSurrogate),
        ])
    func strings(_ sample: Sample) {
        expectFailure(sample)
    }

    @Test(
        "Invalid UTF-8 is refused where it starts",
        arguments: [
            [0x80], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80],
            [0xE2, 0x82],
        ] as [[UInt8]])
    func invalidUTF8(_ broken: [UInt8]) {
        let expected = JSONParseError(line: 1, column: 4, problem: .invalidUTF8)
        let plain = Array(#"["é"#.utf8) + broken + Array(#""]"#.utf8)
        #expect(throws: expected) { try JSONParser.parse(plain) }
        let escaped = Array(#"["é"#.utf8) + broken + Array(#"\n"]"#.utf8)
        #expect(throws: expected) { try JSONParser.parse(escaped) }
    }

    @Test("A message names the position and the expectation, and repeats none of the input")
    func message() throws {
        let error = #expect(throws: JSONParseError.self) {
            try JSONParser.parse(Array("[\n  secret".utf8))
        }
        #expect(error?.description == "line 2, column 3: expected a value")
        let end = #expect(throws: JSONParseError.self) { try JSONParser.parse([]) }
        #expect(
            end?.description == "line 1, column 1: expected a value, found the end of the input")
    }

    private func expectFailure(_ sample: Sample) {
        let expected = JSONParseError(
            line: sample.line, column: sample.column, problem: sample.problem)
        #expect(throws: expected) { try JSONParser.parse(Array(sample.text.utf8)) }
    }
}
#endif

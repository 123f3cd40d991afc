#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("JSON is parsed strictly and keeps what was written")
struct JSONParserTests {
    private func parse(_ text: String) throws(JSONParseError) -> JSONValue {
        try JSONParser.parse(Array(text.utf8))
    }

    @Test("Every kind of value is parsed")
    func everyKind() throws {
        let text = #" { "a" : [ null , true,false, 1, 1.5, "x" ], "b":{} , "c":[]}"# + "\r\n\t"
        #expect(try parse(text) == ["a": [nil, true, false, 1, 1.5, "x"], "b": [:], "c": []])
        for (text, value) in [("null", nil), ("7", 7), (#""""#, ""), ("[]", [])]
            as [(String, JSONValue)]
        {
            #expect(try parse(text) == value)
        }
    }

    @Test("Members keep their order")
    func order() throws {
        let names = ["z", "a", "m", "B", ""]
        let text = "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        guard case .object(let members) = try parse(text) else {
            Issue.record("not an object")
            return
        }
        #expect(members.map(\.name) == names)
    }

    @Test(
        "The last of several members with one name replaces the value of the first",
        arguments: [0, 11, 12, 13, 40])
    func duplicates(others: Int) throws {
        let rest = (0..<others).map { "\"n\($0)\":\($0)," }.joined()
        let parsed = try parse("{\"a\":1,\(rest)\"b\":2,\"a\":3}")
        var expected = [JSONMember(name: "a", value: 3)]
        expected += (0..<others).map { JSONMember(name: "n\($0)", value: .number(JSONNumber($0))) }
        expected.append(JSONMember(name: "b", value: 2))
        #expect(parsed == .object(expected))
    }

    @Test("Names equivalent in Unicode but not in bytes are two names", arguments: [0, 40])
    func equivalentNames(others: Int) throws {
        let rest = (0..<others).map { "\"n\($0)\":\($0)," }.joined()
        let parsed = try parse("{\(rest)\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(parsed["\u{E9}"] == 1)
        #expect(parsed["e\u{301}"] == 2)
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
    }

    @Test("Escapes and text of every width are parsed")
    func strings() throws {
        #expect(try parse(#""\"\\\/\b\f\n\r\t""#) == "\"\\/\u{8}\u{C}\n\r\t")
        #expect(try parse(#""\u0041\u00e9\u00E9\u65e5\ud83d\ude00\u0000""#) == "Aéé日😀\0")
        #expect(try parse(#""é日😀 a\tb é""#) == "é日😀 a\tb é")
    }

    @Test("A byte order mark is skipped")
    func byteOrderMark() throws {
        #expect(try JSONParser.parse([0xEF, 0xBB, 0xBF] + Array("[1]".utf8)) == [1])
        let error = #expect(throws: JSONParseError.self) {
            try JSONParser.parse([0xEF, 0xBB, 0xBF] + Array("x".utf8))
        }
        #expect(error == JSONParseError(line: 1, column: 1, problem: .expected("a value")))
    }

    @Test("Nesting is bounded for every kind of container")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try parse(nested(512))
        let expected = JSONParseError(line: 1, column: 513, problem: .tooDeep(limit: 512))
        #expect(throws: expected) { try parse(nested(513)) }
        #expect(throws: expected) { try parse(String(repeating: "[", count: 100_000)) }
        #expect(throws: JSONParseError.self) {
            try parse(String(repeating: #"{"a":"#, count: 100_000))
        }
        #expect(expected.description.contains("512"))
        #expect(throws: JSONParseError.self) {
            try JSONParser.parse(Array("[[]]".utf8), maximumDepth: 1)
        }
        #expect(
            try parse("[" + Array(repeating: "[]", count: 1000).joined(separator: ",") + "]") != nil
        )
    }
}
#endif

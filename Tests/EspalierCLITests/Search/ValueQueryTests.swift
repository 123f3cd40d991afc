#if CommandLine
import EspalierRecords
import Testing

@testable import EspalierCLI

@Suite("A text is found in others")
struct TextSearchTests {
    @Test(
        "A text is found byte by byte, or regardless of case",
        arguments: [
            ("b", "abc", true, true), ("B", "abc", false, true), ("abc", "ab", false, false),
            ("é", "CAFÉ", false, true),
            ("é", "cafe\u{301}", false, false), ("straße", "STRASSE 1", false, true),
            ("STRASSE", "straße", false, true),
            ("ΟΔΟΣ", "οδος", false, true), ("日本", "大日本帝国", true, true), ("", "a", true, true),
            ("", "", true, true),
            ("ı", "I", false, true), ("😀", "a😀b", true, true), ("aab", "aaab", true, true),
            ("мир", "МИР", false, true),
            ("\n", "a\nb", true, true), ("lazy", "dog", false, false),
        ])
    func found(text: String, other: String, isFound: Bool, isFoundInAnyCase: Bool) {
        #expect(TextSearch(text).matches(other) == isFound)
        #expect(TextSearch(text, ignoresCase: true).matches(other) == isFoundInAnyCase)
        #expect(TextSearch(text).mayStand(in: [0xA3] + other.utf8 + [0xC0]) == isFound)
    }

    @Test("An exact search finds whole texts only")
    func exact() {
        #expect(TextSearch("a", isExact: true).matches("a"))
        #expect(!TextSearch("a", isExact: true).matches("ab"))
        #expect(!TextSearch("a", isExact: true).matches("A"))
        #expect(TextSearch("a", ignoresCase: true, isExact: true).matches("A"))
        #expect(TextSearch("", isExact: true).matches(""))
        #expect(!TextSearch("", isExact: true).matches("a"))
    }

    @Test(
        "A match has the range of the text",
        arguments: [
            ("b", "aBcB", "B"), ("ss", "grüße SS", "ß"), ("é", "aÉ", "É"), ("i", "İi", "İ"),
            ("日", "a日b", "日"),
            ("", "a", ""),
        ])
    func place(text: String, other: String, part: String) throws {
        let range = try #require(TextSearch(text, ignoresCase: true).range(in: other))
        #expect(other[range] == part)
        let exact = TextSearch(text).range(in: other).map { String(other[$0]) }
        #expect(exact == (TextSearch(text).matches(other) ? text : nil))
    }

    @Test("An excerpt shows the match with a little context and marks its cuts")
    func excerpt() {
        let long = String(repeating: "a", count: 50) + "日本" + String(repeating: "b", count: 100)
        let found = TextSearch("日本").range(in: long)
        #expect(
            Excerpt.text(of: long, around: found) == "…aaaaaaaaaaaa日本"
                + String(repeating: "b", count: 58) + "…")
        #expect(
            Excerpt.text(of: long, around: nil) == String(repeating: "a", count: 50) + "日本"
                + String(repeating: "b", count: 20) + "…")
        #expect(Excerpt.text(of: "short", around: TextSearch("t").range(in: "short")) == "short")
        #expect(Excerpt.text(of: "", around: nil) == "")
        let families = String(repeating: "👩‍👩‍👧‍👦", count: 20)
        #expect(
            Excerpt.text(of: families + "x", around: TextSearch("x").range(in: families + "x"))
                == "…"
                + families.prefix(12) + "x")
    }
}

@Suite("A value is looked for as JSON writes it")
struct ValueQueryTests {
    private func matches(_ text: String, _ value: RecordValue) -> Bool {
        ValueQuery(TextSearch(text)).matches(value)
    }

    @Test(
        "A value is found by its JSON text",
        arguments: [
            (.integer(5), ["5", "5.0", "5e0", "50e-1"], ["50", "-5", "0.5", "five", ""]),
            (.integer(0), ["0", "-0", "0.0"], ["1", "false", "null"]),
            (.integer(.min), ["-9223372036854775808"], ["9223372036854775808"]),
            (.unsigned(.max), ["18446744073709551615"], ["18446744073709551616"]),
            (.double(1.5), ["1.5", "15e-1"], ["1", "1.50000000000000001"]),
            (.double(1e300), ["1e300", "1E+300"], ["1e301"]),
            (.float(0.1), ["0.1", "0.10000000149011612"], ["0.10000000149"]),
            (.double(.infinity), [], ["inf", "1e999", "0"]),
            (.double(.nan), [], ["nan", "0", "null"]),
            (
                .decimal("12345678901234567890123"),
                ["12345678901234567890123", "1.2345678901234567890123e22"],
                ["12345678901234567890124"]
            ),
            (.decimal("NaN"), [], ["NaN", "0"]), (.decimal(""), [], ["0", ""]),
            (.wide(high: 1, low: 0, signed: false), ["18446744073709551616"], ["1"]),
            (
                .wide(high: .max, low: .max - 1, signed: true), ["-2"],
                ["2", "340282366920938463463374607431768211454"]
            ),
            (.bool(true), ["true"], ["false", "1", "TRUE", " true"]),
            (.null, ["null"], ["", "nil", "0"]),
            (.absent, [], ["null", ""]), (.string("15"), ["15", "1", "5"], ["15.0", "2"]),
            (.string("null"), ["null"], ["nil"]),
            (.string(" 5 "), [" 5 ", "5"], ["6"]),
            (.integer(5), [], [" 5", "5 ", "\t5", "+5", "05", "5e", "e", "-", "."]),
            (.bytes([53]), [], ["5", "NQ=="]), (.array([.integer(5)]), [], ["5", "[5]"]),
        ] as [(RecordValue, [String], [String])])
    func values(value: RecordValue, matching: [String], others: [String]) {
        for text in matching { #expect(matches(text, value), "\(text)") }
        for text in others { #expect(!matches(text, value), "\(text)") }
    }

    @Test("A text that is no number, boolean or null matches strings only")
    func textOnly() {
        for text in ["5", "-1e9", "true", "false", "null"] {
            #expect(!ValueQuery(TextSearch(text)).isTextOnly)
        }
        for text in ["5 ", "True", "[1]", "\"a\"", "{}", "", "a", "e", "--1"] {
            #expect(ValueQuery(TextSearch(text)).isTextOnly)
        }
    }

    @Test("A stored value is printed as get prints it")
    func shown() {
        let value: RecordValue = .map([
            .init(
                key: .string("a"),
                value: .array([
                    .null, .absent, .bool(true), .integer(-1), .unsigned(.max), .double(1),
                ])),
            .init(key: .integer(7), value: .bytes([1, 2, 3])),
            .init(key: .string("d"), value: .decimal("1e400")),
            .init(key: .string("n"), value: .decimal("NaN")),
            .init(key: .string("w"), value: .wide(high: 1, low: 2, signed: false)),
            .init(key: .string("r"), value: .child(3)),
        ])
        let json = JSONValue(value) { .string("child \($0)") }
        #expect(
            JSONWriter().string(from: json)
                == #"{"a":[null,null,true,-1,18446744073709551615,1.0],"7":"AQID","d":1e400,"#
                + #""n":"NaN","w":18446744073709551618,"r":"child 3"}"#
        )
    }
}
#endif

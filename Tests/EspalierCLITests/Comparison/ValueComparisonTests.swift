#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("Comparison of values")
struct ValueComparisonTests {
    private func differences(_ a: String, _ b: String) throws -> [String] {
        var comparison = ValueComparison()
        comparison.compare(try JSONParser.parse(Array(a.utf8)), try JSONParser.parse(Array(b.utf8)))
        return comparison.differences.map { "\($0.path): \($0.a.cell.shown) > \($0.b.cell.shown)" }
    }

    @Test("Differences have paths, and the order of members is no difference")
    func paths() throws {
        #expect(try differences(#"{"a":1,"b":{"c":[1,2]}}"#, #"{"b":{"c":[1,2]},"a":1}"#) == [])
        #expect(try differences("1", "1.0") == [": 1 > 1.0"])
        #expect(try differences("0.0", "-0.0") == [": 0.0 > -0.0"])
        #expect(try differences(#""é""#, "\"e\u{301}\"").count == 1)
        #expect(
            try differences(#"{"a":1,"b":{"c":null},"d":2}"#, #"{"a":2,"b":{},"e":"x"}"#)
                == ["a: 1 > 2", "b.c: null > ", "d: 2 > ", #"e:  > "x""#])
        #expect(
            try differences(#"{"m":[{"u":"x","a.b":1},2]}"#, #"{"m":[{"u":"y","a.b":2},2]}"#)
                == [#"m[0].u: "x" > "y""#, #"m[0]["a.b"]: 1 > 2"#])
        #expect(try differences("{}", "[]") == [": {} > []"])
    }

    @Test("Marked values are compared as a whole, and maps by key")
    func marks() throws {
        #expect(
            try differences(#"{"$ref":"a"}"#, #"{"$ref":"b"}"#) == [
                #": {"$ref":"a"} > {"$ref":"b"}"#
            ])
        #expect(try differences(#"{"$ref":"a"}"#, #"{"ref":"a"}"#).count == 1)
        #expect(
            try differences(
                #"{"$map":[[1,"a"],[2,"b"],["$x",0]]}"#, #"{"$map":[[2,"c"],["$x",1],[1,"a"]]}"#)
                == [#"[2]: "b" > "c""#, "$x: 0 > 1"])
        #expect(
            try differences(#"{"$map":[[1.5,1],[1.5,2]]}"#, #"{"$map":[[1.5,1],[1.5,3]]}"#).count
                == 1)
        #expect(try differences(#"{"$map":[["$a",1]]}"#, #"{"b":1}"#) == ["$a: 1 > ", "b:  > 1"])
    }

    @Test("Inserted and removed elements are runs, and many runs end in a combined one")
    func arrays() throws {
        func numbers(_ numbers: some Sequence<Int>) -> String {
            "[\(numbers.map { "\($0)" }.joined(separator: ","))]"
        }
        #expect(try differences(numbers(0..<100), numbers(3..<100)) == ["[0-2]: 0, 1, 2 > "])
        #expect(
            try differences(numbers(0..<90), numbers(0..<100)) == [
                "[90-99]:  > 90, 91, 92 and 7 more"
            ])
        #expect(try differences(numbers([1, 2, 3]), numbers([1, 5, 3])) == ["[1]: 2 > 5"])
        let many = try differences(
            numbers(0..<100), numbers((0..<100).map { $0 % 3 == 0 ? -$0 - 1 : $0 }))
        #expect(many.count == 10)
        #expect(many.last == "[27-99]: 27, 28, 29 and 70 more > -28, 28, 29 and 70 more")
        let moved = try differences(numbers(0..<1_000), numbers((1..<1_000).map { $0 } + [0]))
        #expect(moved == ["[0]: 0 > ", "[999]:  > 0"])
    }
}
#endif

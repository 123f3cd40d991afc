#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("Paths that select parts of JSON")
struct JSONPathTests {
    private static let document: JSONValue = [
        "id": 1,
        "media": [["url": "a", "size": 1], ["url": "b"], 7],
        "a.b": ["it's": true, "]": ["url": "c"]],
        "none": [],
    ]

    @Test(
        "A path selects the values that RFC 9535 says",
        arguments: [
            ("$", nil as [JSONValue]?), ("", nil), ("id", [1]), ("$.id", [1]), (".id", [1]),
            ("media[0].url", ["a"]), ("$.media[-2]['url']", ["b"]), ("media[3]", []),
            ("media[-4]", []), ("media[*].url", ["a", "b"]), ("..url", ["a", "b", "c"]),
            ("['a.b'][\"it's\"]", [true]), ("['a.b']['it\\'s']", [true]),
            ("$['a.b'][']'].url", ["c"]), ("none[*]", []), ("id.x", []), ("id[0]", []),
            ("media.*.size", [1]), ("media..size", [1]), ("$..[0].url", ["a"]), ("missing", []),
        ])
    func values(path: String, expected: [JSONValue]?) throws {
        let path = try JSONPath(parsing: path)
        #expect(path.values(in: Self.document) == expected ?? [Self.document])
    }

    @Test(
        "A mistake in a path is named with its place",
        arguments: [
            ("a b.", 4), ("a[", 2), ("a[x]", 2), ("a['b", 4), ("a['b'", 5), ("a..", 3), ("a]", 1),
            ("[0]b", 3), ("a['\\n']", 4), ("$a", 1), ("a[1", 3), ("a[99999999999999999999]", 22),
        ])
    func mistakes(path: String, position: Int) {
        #expect { try JSONPath(parsing: path) } throws: {
            ($0 as? JSONPath.Mistake)?.position == position
        }
    }

    @Test("`get --json-path` prints a part of a tree, and nothing there is a miss")
    func command() throws {
        let tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", "-", "--id-key", "id",
            input: #"{"id":1,"user":{"id":2,"name":"Ada"},"media":[{"url":"x"},{"url":"y"}]}"#)
        func get(_ path: String) throws -> String {
            try tool.succeed("get", "c", "root:1", "--compact", "--json-path", path).text
        }
        #expect(try get("user.name") == "\"Ada\"\n")
        #expect(try get("media[*].url") == "[\"x\",\"y\"]\n")
        #expect(try get("$.nothing[*]") == "[]\n")
        #expect(try tool("get", "c", "root:1", "--json-path", "nothing").code == 2)
        #expect(try tool("get", "c", "root:1", "--json-path", "a[").code == 64)
        #expect(try tool("get", "c", "root:1", "--json-path", "a", "--raw").code == 64)
    }
}
#endif

#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("A path leads to the models")
struct ModelPathTests {
    @Test(
        "A path leads to the models of a document",
        arguments: [
            (nil, [1, [2]], [1, [2]]), (nil, ["a": 1], [["a": 1]]), (nil, 7, [7]), (nil, [], []),
            ("a", ["a": [1]], [1]), ("a.b", ["a": ["b": [1, 2]]], [1, 2]),
            ("a.b", ["a": ["b": ["c": 1]]], [["c": 1]]), ("$", [1, 2], [1, 2]), ("", [1], [1]),
            ("['a.b']", ["a.b": [1]], [1]), ("a[1]", ["a": [1, [2, 3]]], [2, 3]),
            ("e[*].node", ["e": [["node": 1], ["node": [2, 3]], ["x": 4]]], [1, 2, 3]),
            ("e[*].node", ["e": []], []), ("data.e[*]", ["data": ["e": []]], []),
            ("..items", ["a": ["items": [1]], "b": ["items": [2]]], [1, 2]),
        ] as [(String?, JSONValue, [JSONValue])])
    func models(path: String?, document: JSONValue, models: [JSONValue]) throws {
        let path = try path.map { try JSONPath(parsing: $0) } ?? .document
        #expect(try path.models(in: document) == models)
    }

    @Test(
        "A path without a value in the document is refused",
        arguments: [
            ("b", "b"), ("a.x", "a.x"), ("a.x.y", "a.x"), ("l.0", "l.0"),
            ("$.a['x.y'].z", "a['x.y']"),
            ("l[*].n", "l[*].n"), ("a.b[*].n", "a.b[*]"), ("..x.y", "..x"), ("['']", "['']"),
            ("['it\\'s']", "['it\\'s']"),
        ])
    func missing(path: String, named: String) throws {
        let path = try JSONPath(parsing: path)
        let error = #expect(throws: CommandFailure.self) {
            try path.models(in: ["a": ["b": 1], "l": [1]])
        }
        #expect(error?.message.contains("no \(named).") == true)
    }

    @Test(
        "A malformed path to models is refused",
        arguments: [".", "a.", "a[", "a['b"])
    func malformed(text: String) {
        #expect(throws: JSONPath.Mistake.self) { try JSONPath(parsing: text) }
    }

    @Test(
        "The last name of a path is the type of its models",
        arguments: [
            ("search.statuses", "statuses"), ("data[*]", "data"), ("edges[*].node", "node"),
            ("['a.b']", "a.b"), ("$", nil), ("[0][*]", nil),
        ] as [(String, String?)])
    func lastName(path: String, name: String?) throws {
        #expect(try JSONPath(parsing: path).lastName == name)
    }

    @Test("A name behind an array is told how to go through it")
    func arrays() throws {
        let error = #expect(throws: CommandFailure.self) {
            try JSONPath(parsing: "d.edges.node").models(in: ["d": ["edges": [["node": 1]]]])
        }
        #expect(
            error?.message
                == "the document has no d.edges.node. d.edges is an array: write d.edges[*].node.")
    }

    @Test("A mapping gives the type of a property") func typeMappings() throws {
        #expect(
            try TypeMapping(parsing: "user=User") == TypeMapping(property: "user", type: "User"))
        #expect(try TypeMapping(parsing: "=T") == TypeMapping(property: "", type: "T"))
        #expect(try TypeMapping(parsing: "a=b=c") == TypeMapping(property: "a", type: "b=c"))
        for text in ["", "user", "user="] {
            #expect(throws: ArgumentProblem.self) { try TypeMapping(parsing: text) }
        }
    }
}
#endif

#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("A path leads to the models")
struct RootPathTests {
    @Test(
        "A path leads to the models of a document",
        arguments: [
            (nil, [1, [2]], [1, [2]]), (nil, ["a": 1], [["a": 1]]), (nil, 7, [7]), (nil, [], []),
            ("a", ["a": [1]], [1]), ("a.b", ["a": ["b": [1, 2]]], [1, 2]),
            ("a.b", ["a": ["b": ["c": 1]]], [["c": 1]]),
        ] as [(String?, JSONValue, [JSONValue])])
    func models(path: String?, document: JSONValue, models: [JSONValue]) throws {
        let path = try path.map(RootPath.init(parsing:)) ?? .document
        #expect(try path.models(in: document) == models)
    }

    @Test(
        "A path without a value in the document is refused",
        arguments: [("b", "b"), ("a.x", "a.x"), ("a.x.y", "a.x"), ("l.0", "l.0")])
    func missing(path: String, named: String) throws {
        let path = try RootPath(parsing: path)
        let error = #expect(throws: CommandFailure.self) {
            try path.models(in: ["a": ["b": 1], "l": [1]])
        }
        #expect(error?.message.contains("no \(named).") == true)
    }

    @Test(
        "A malformed path to models is refused",
        arguments: ["", ".", "a.", ".a", "a..b"])
    func malformed(text: String) {
        #expect(throws: ArgumentProblem.self) { try RootPath(parsing: text) }
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

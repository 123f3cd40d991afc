#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("It is known which description of a node counts")
struct ImportRuleTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    private func get(_ identifier: String) throws -> String {
        try printed(by: ["get", "c", identifier, "--compact"])
    }

    private func printed(by arguments: [String]) throws -> String {
        let output = try tool.run(arguments).output
        return String(decoding: output, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Imports a document, and returns its nodes, those that were written, and contradictions.
    private func run(_ document: String, _ options: String...) throws -> [Int] {
        let outcome = try tool.run(
            ["import", "c", "-", "--id-key", "id", "--format", "json"] + options, input: document)
        #expect(outcome.code == 0)
        return try ["nodes", "nodesWritten", "contradictions"].map { try outcome.count($0) ?? -1 }
    }

    /// More models than one write takes.
    private func document(_ first: String, _ last: String, filler: String = "") -> String {
        let models = (1...2_100).map { "{\"id\":\($0)\(filler)}" }
        return "[\(([first] + models + [last]).joined(separator: ","))]"
    }

    @Test("A node of a later part of a document replaces that of an earlier one")
    func parts() throws {
        let text = document(#"{"id":0,"n":"first"}"#, #"{"id":0,"n":"last","x":{"id":5}}"#)
        #expect(try run(text) == [2_102, 2_102, 1])
        #expect(try get("root:0") == #"{"id":0,"n":"last","x":{"id":5}}"#)
        try tool.succeed(
            "import", "d", "-", "--id-key", "id", input: text,
            note: "the document was stored in parts, and a later part has replaced 1 object of an "
                + "earlier one that said something else: root:0. --merge keeps the members of all.")
        // A later part that has all that the earlier one said loses nothing.
        let richer = document(#"{"id":0,"n":"same"}"#, #"{"id":0,"n":"same","x":1}"#)
        try tool.succeed("import", "e", "-", "--id-key", "id", input: richer)
        // What another document says is newer.
        let again = try tool.folder.write(#"{"id":0,"n":"new"}"#, to: "new.json").path
        let first = try tool.folder.write(#"{"id":0,"n":"old","m":1}"#, to: "old.json").path
        try tool.succeed("import", "f", first, again, "--id-key", "id")
    }

    @Test("A type key that no object has does nothing, and a note says so")
    func typeKey() throws {
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--type-key", "__typname",
            input: #"{"id":1,"__typename":"User"}"#,
            note: "--type-key __typname had no effect: no object has a member of that name.")
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--type-key", "__typename",
            input: #"{"id":1,"u":{"id":2,"__typename":"User"}}"#)
    }

    @Test("A file of JSON Lines has a model in each line, or at a path in each")
    func lines() throws {
        let text = "{\"id\":1,\"u\":{\"id\":5}}\n\n{\"id\":2,\n\"u\":{\"id\":6}} {\"id\":3}\r\n"
        #expect(try run(text, "--lines") == [5, 5, 0])
        #expect(try get("root:2") == #"{"id":2,"u":{"id":6}}"#)
        #expect(try run("", "--lines") == [0, 0, 0])
        let nested = #"{"d":[{"id":7}]}\#n{"d":[{"id":8},{"id":9}]}"#
        #expect(try run(nested, "--lines", "--path", "d") == [3, 3, 0])
        let outcome = try tool.run(
            ["import", "c", "-", "--id-key", "id", "--lines"], input: "{\"id\":1}\n{\"id\":}")
        #expect(outcome.code == 1 && outcome.errors.contains("line 2, column 7"))
        let without = try tool.run(["import", "c", "-", "--id-key", "id"], input: text)
        #expect(without.code == 1 && without.errors.contains("--lines"))
        let both = try tool.run(["import", "c", "-", "--records", "--lines"], input: text)
        #expect(both.code == 64)
    }

    @Test("Records that do not fit are evicted, and a note says so")
    func records() throws {
        let text = String(repeating: "abcdefgh ", count: 100)
        let models = (1...3_000).map { "{\"id\":\($0),\"t\":\"\(text)\($0 * 7_919)\"}" }
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--compression", "none", "--budget", "16MiB",
            input: "[\(models.joined(separator: ","))]")
        let export = try tool.succeed("export", "c").text
        let outcome = try tool.run(
            ["import", "d", "-", "--records", "--budget", "1MiB", "--compression", "none"],
            input: export)
        #expect(outcome.code == 0)
        #expect(outcome.errors.contains("records were evicted to make room"))
    }

    @Test("Objects with thousands of members are compared in a moment", .timeLimit(.minutes(1)))
    func wide() throws {
        func object(_ last: Int) -> String {
            let members = (0..<20_000).map { "\"m\($0)\":\($0)" }
            return "{\"id\":1,\(members.joined(separator: ",")),\"z\":\(last)}"
        }
        let text = "[\(object(1)),\(object(2))]"
        #expect(try run(text) == [1, 1, 1])
        #expect(try run(text, "--merge") == [1, 0, 1])
    }

    @Test("A merge adds the members of all parts, and keeps the first value of each")
    func merge() throws {
        let text = document(
            #"{"id":0,"n":"first","x":{"id":5,"a":1}}"#,
            #"{"id":0,"m":1,"n":"last","x":{"id":5,"a":2,"b":3}}"#)
        #expect(try run(text, "--merge") == [2_102, 2_102, 2])
        #expect(try get("root:0") == #"{"id":0,"n":"first","x":{"a":1,"id":5,"b":3},"m":1}"#)
        #expect(try run(text, "--merge") == [2_102, 0, 2])
        // A node in a member that is left out comes before those of later models.
        let nested = document(
            #"{"id":0,"a":1}"#,
            #"{"id":0,"a":{"id":7,"v":"first"}},{"id":9000,"a":{"id":7,"v":"second"}}"#)
        #expect(try run(nested, "--merge") == [2_103, 3, 2])
        #expect(try get("a:7") == #"{"id":7,"v":"first"}"#)
    }

    @Test("A large collection replaces nodes inside of elements that are no nodes")
    func largeCollection() throws {
        let filler = ",\"t\":\"\(String(repeating: "abcdefgh ", count: 20))\""
        func text(_ user: String) -> String {
            document(
                #"{"id":0}"#, "{\"note\":\"inline\",\"user\":\(user)}", filler: filler)
        }
        let options = ["--collection", "k", "--budget", "1MiB"]
        let first = try tool.run(
            ["import", "c", "-", "--id-key", "id", "--format", "json"] + options,
            input: text(#"{"id":1,"name":"A","old":1}"#))
        #expect(try first.code == 0 && first.count("nodes") == 2_102)
        #expect(try first.count("nodesWritten") == 2_102)
        #expect(try run(text(#"{"id":1,"name":"A"}"#), "--collection", "k") == [2_102, 1, 0])
        #expect(try get("user:1") == #"{"id":1,"name":"A"}"#)
        let list = try printed(by: ["get", "c", "--collection", "k", "--compact"])
        #expect(list.contains(#"{"note":"inline","user":{"id":1,"name":"A"}}"#))
    }

    @Test("A contradiction in an object that is left out counts")
    func nested() throws {
        let text = #"""
            [{"id":1,"x":{"id":5,"v":{"id":7,"n":"A"}}},{"id":2,"x":{"id":5,"v":{"id":7,"n":"B"}}}]
            """#
        #expect(try run(text, "--collection", "k") == [4, 4, 1])
        #expect(try get("v:7") == #"{"id":7,"n":"A"}"#)
        let counts = try tool.succeed("stats", "c", "--format", "json")
        #expect(try counts.count("contradictions") == 1)
    }

    @Test("Nodes of a later file replace those of an earlier one", arguments: [true, false])
    func files(isCollection: Bool) throws {
        let a = try tool.folder.write(#"{"id":1,"name":"A","x":1}"#, to: "a.json").path
        let second =
            isCollection ? #"[{"id":1,"name":"B"},{"note":{"id":2}}]"# : #"{"id":1,"name":"B"}"#
        let b = try tool.folder.write(second, to: "b.json").path
        let options = isCollection ? ["--collection", "k"] : []
        let outcome = try tool.run(["import", "c", a, b, "--id-key", "id"] + options)
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(try get("root:1") == #"{"id":1,"name":"B"}"#)
        guard isCollection else { return }
        #expect(
            try printed(by: ["get", "c", "--collection", "k", "--compact"])
                == #"[{"id":1,"name":"B"},{"id":1,"name":"B"},{"note":{"id":2}}]"#)
    }

    @Test("A note says that objects were left out")
    func note() throws {
        let text = #"[{"id":1,"p":{"id":9}},{"id":2,"p":{"id":9,"name":"Ada"}}]"#
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", input: text,
            note: "1 object was left out, because the first one with the same identity says "
                + "something else: p:9. --merge keeps the members of all.")
        try tool.succeed("import", "c", "-", "--id-key", "id", "--merge", input: text)
        #expect(try get("p:9") == #"{"id":9,"name":"Ada"}"#)
    }
}
#endif

#if CommandLine
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Commands that write and read")
struct WriteCommandTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    /// Every kind of value at every place where a value can be nested.
    private static let everything = #"""
        {"id":1,"null":null,"yes":true,"no":false,"i":-9223372036854775808,"u":18446744073709551615,
         "big":-12345678901234567890123,"d":1.0,"e":1e400,"z":-0,"f":0.12345678901234567890123,\#
        "g":0.1,"h":1.5e-300,
         "s":"","t":"\u0000\"\\ é e\u0301 😀","":{"":[]},"é":1,"e\u0301":2,"日本":{"語":[{},[],[[]],\#
        {"a":[]}]},
         "l":[[{"id":2,"x":null},[{"id":"3"}]],null,[[],[null]]],"o":{"p":{"q":{"id":4,\#
        "r":[{"s":{"id":5}}]}}}}
        """#

    @Test("A node reads back as it was written: numbers, null members, empty containers")
    func roundTrip() throws {
        let document = Self.everything
        try tool.succeed("import", "c", "-", "--id-key", "id", input: document)
        let expected = try JSONParser.parse(Array(document.utf8))
        #expect(try tool.succeed("get", "c", "root:1").json().sorted == expected.sorted)
        let compact = try tool.succeed("get", "c", "root:1", "--compact")
        #expect(compact.text == expected.sorted + "\n")
        #expect(try tool.succeed("get", "c", "l:3", "--compact").text == "{\"id\":\"3\"}\n")
        let stats = try tool.succeed("stats", "c", "--format", "json")
        #expect(try stats.count("nodes") == 5)
        try tool.succeed("verify", "c")
    }

    @Test("Any value may be an element of a collection, in order and repeatedly")
    func inlineElements() throws {
        let document = #"[{"id":1},{"id":null},3,null,[[],[{"id":2}]],"x",{"id":1},1.50,{}]"#
        try tool.succeed("import", "c", "-", "--id-key", "id", "--collection", "k", input: document)
        let read = try tool.succeed("get", "c", "--collection", "k").json()
        #expect(try read == JSONParser.parse(Array(document.utf8)))
        try tool.succeed("import", "c", "-", "--id-key", "id", "--collection", "k", input: "[]")
        #expect(try tool.succeed("get", "c", "--collection", "k").text == "[]\n")
    }

    @Test("A collection larger than a write is stored, and storing it again writes nothing")
    func largeCollection() throws {
        let text = String(repeating: "x", count: 1_000)
        let elements = (0..<240).map {
            $0 % 40 == 7 ? "\($0)" : #"{"id":\#($0),"by":{"id":\#($0 % 9)},"text":"\#(text)"}"#
        }
        let document = "[\(elements.joined(separator: ","))]"
        for round in 0..<2 {
            let summary = try tool.succeed(
                "import", "c", "-", "--id-key", "id", "--collection", "k", "--budget", "1MiB",
                "--format", "json",
                input: document)
            #expect(try summary.count("nodesWritten") == (round == 0 ? 243 : 0))
        }
        #expect(
            try tool.succeed("get", "c", "--collection", "k").json().sorted
                == JSONParser.parse(Array(document.utf8)).sorted)
        try tool.succeed("verify", "c")
    }

    @Test("`import` replaces a node; --merge keeps the members that the new object lacks")
    func merge() throws {
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "User",
            input: #"{"id":1,"name":"Ada","friend":{"id":2}}"#)
        try tool.succeed(
            "import", "c", "-", "--merge", "--id-key", "id", "--root-type", "User",
            input: #"{"id":1,"age":36}"#)
        let merged = try tool.succeed("get", "c", "User:1").json().sorted
        #expect(merged == #"{"age":36,"friend":{"id":2},"id":1,"name":"Ada"}"#)
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--root-type", "User", input: #"{"id":1}"#)
        #expect(try tool.succeed("get", "c", "User:1", "--compact").text == #"{"id":1}"# + "\n")
        try tool.succeed("verify", "c")
    }

    @Test("With --merge a null overwrites the stored member; with --null-keeps it does not")
    func mergedNull() throws {
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", input: #"{"id":1,"a":1,"b":{"x":null},"c":[2]}"#)
        let nulls = #"{"id":1,"a":null,"b":{"x":null},"d":null}"#
        try tool.succeed(
            "import", "c", "-", "--merge", "--null-keeps", "--id-key", "id", input: nulls)
        #expect(
            try tool.succeed("get", "c", "root:1", "--compact").text
                == #"{"a":1,"b":{"x":null},"c":[2],"id":1,"d":null}"# + "\n")
        try tool.succeed("import", "c", "-", "--merge", "--id-key", "id", input: nulls)
        #expect(
            try tool.succeed("get", "c", "root:1", "--compact").text
                == #"{"a":null,"b":{"x":null},"c":[2],"id":1,"d":null}"# + "\n")
        try tool.succeed("verify", "c")
        try tool.fail(64, "import", "c", "-", "--id-key", "id", "--null-keeps")
    }

    @Test("With --merge an object that occurs twice gets the members of both")
    func mergedOccurrences() throws {
        try tool.succeed(
            "import", "c", "-", "--merge", "--id-key", "id", "--type", "actor=User", "--type",
            "user=User",
            input: #"{"id":1,"actor":{"id":2,"login":"ada"},"user":{"id":2,"name":"Ada"}}"#)
        #expect(
            try tool.succeed("get", "c", "User:2", "--compact").text
                == #"{"id":2,"login":"ada","name":"Ada"}"# + "\n")
    }

    @Test("A deleted record is null as a member at any depth, and left out as an element")
    func deletion() throws {
        let document =
            #"{"id":1,"a":{"id":2},"o":{"p":[{"a":{"id":2}},[{"id":3},4]]},"l":[{"id":4},"#
            + #"{"id":5}],"p":[[{"id":3}]]}"#
        try tool.succeed("import", "c", "-", "--id-key", "id", input: document)
        for identifier in ["a:2", "p:3", "l:4"] {
            #expect(try tool.succeed("delete", "c", identifier).text == "")
        }
        let read = try tool.succeed("get", "c", "root:1", "--compact")
        #expect(
            read.text == #"{"a":null,"id":1,"l":[{"id":5}],"o":{"p":[{"a":null},[4]]},"p":[[]]}"#
                + "\n")
        try tool.succeed("verify", "c")
        try tool.fail(2, "get", "c", "a:2")
        try tool.fail(2, "delete", "c", "a:2")
        // A node stored again is a new record: old parents still refer to the deleted one.
        try tool.succeed("set", "c", "-", "--id-key", "id", "--root-type", "a", input: #"{"id":2}"#)
        #expect(try tool.succeed("get", "c", "root:1").json()["a"] == .null)
        try tool.succeed("verify", "c")
    }

    @Test("A key holds an object without identity, and refers to one with it")
    func keys() throws {
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--key", "settings",
            input: #"{"dark":true,"by":{"id":7}}"#)
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--key", "me", "--root-type", "by",
            input: #"{"id":7,"n":1}"#)
        #expect(
            try tool.succeed("get", "c", "--key", "settings", "--compact").text
                == #"{"by":{"id":7,"n":1},"dark":true}"# + "\n")
        #expect(
            try tool.succeed("get", "c", "--key", "me", "--compact").text == #"{"id":7,"n":1}"#
                + "\n")
        #expect(
            try tool.succeed("get", "c", "--key", "by:7", "--compact").text == #"{"id":7,"n":1}"#
                + "\n")
        try tool.succeed("delete", "c", "--key", "me")
        try tool.fail(2, "get", "c", "--key", "me")
        try tool.fail(2, "get", "c", "me")
        try tool.succeed("get", "c", "by:7")
        try tool.succeed("verify", "c")
    }

    @Test("Deleting a collection keeps its nodes")
    func collections() throws {
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "k",
            input: #"[{"id":1},{"id":2}]"#)
        try tool.succeed("delete", "c", "--collection", "k")
        try tool.fail(2, "get", "c", "--collection", "k")
        try tool.fail(2, "delete", "c", "--collection", "k")
        try tool.succeed("get", "c", "root:2")
        try tool.succeed("verify", "c")
    }

    @Test("An object inside itself is stored once, and its reference back reads as null")
    func cycles() throws {
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--type", "p=root",
            input: #"{"id":1,"l":[{"p":{"id":1}}],"p":{"id":1}}"#)
        let read = try tool("get", "c", "root:1", "--compact")
        #expect(read.code == 0)
        #expect(read.text == #"{"id":1,"l":[{"p":null}],"p":null}"# + "\n")
        #expect(read.errors.contains("note:"))
        try tool.succeed("verify", "c")
    }

    @Test(
        "Names and identifiers may be any text",
        arguments: ["é", "e\u{301}", "日本", "😀", "a b", "a:b", "a/b", "%", "-x", "\u{1F}"])
    func names(text: String) throws {
        let quoted = JSONWriter().string(from: .string(text))
        let document = #"{"id":\#(quoted),\#(quoted):{"id":\#(quoted)}}"#
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection=\(text)", input: document)
        let expected = try JSONParser.parse(Array("[\(document)]".utf8)).sorted
        #expect(try tool.succeed("get", "c", "--collection=\(text)").json().sorted == expected)
        let child = IdentityRule.identifier(type: text, id: text)
        #expect(
            try tool.succeed("get", "c", "--compact", "--", child).text == "{\"id\":\(quoted)}\n")
    }

    @Test("The order of members affects neither the record nor the shape")
    func memberOrder() throws {
        let summary = { (document: String) in
            try tool.succeed(
                "import", "c", "-", "--id-key", "id", "--format", "json", input: document)
        }
        #expect(
            try summary(#"[{"id":1,"a":{"x":1,"y":2},"b":2},{"b":3,"id":2,"a":null}]"#).count(
                "nodesWritten") == 2)
        #expect(
            try summary(#"[{"b":2,"a":{"y":2,"x":1},"id":1},{"a":null,"b":3,"id":2}]"#).count(
                "nodesWritten") == 0)
        #expect(try tool.succeed("stats", "c", "--format", "json").count("shapes") == 1)
    }

    @Test("A cache keeps the budget with which it was created")
    func budget() throws {
        let input = #"{"id":1}"#
        try tool.succeed("import", "c", "-", "--id-key", "id", "--budget", "2MiB", input: input)
        #expect(try tool.succeed("stats", "c", "--format", "json").count("budget") == 2 << 20)
        try tool.succeed("import", "c", "-", "--id-key", "id", input: input)
        try tool.succeed("set", "c", "-", "--id-key", "id", "--budget", "2MiB", input: input)
        let other = try tool("import", "c", "-", "--id-key", "id", "--budget", "3MiB", input: input)
        #expect(other.code == 0)
        #expect(
            other.errors
                == "espalier: note: the cache keeps its budget of 2.0 MiB; espalier budget "
                + "changes it.\n"
        )
        #expect(try tool.succeed("stats", "c", "--format", "json").count("budget") == 2 << 20)
    }

    @Test("`stats` and `verify` print for persons and for programs")
    func formats() throws {
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "k", input: #"[{"id":1}]"#)
        #expect(try tool.succeed("stats", "c").text.contains("\nnodes "))
        guard case .object(let members) = try tool.succeed("stats", "c", "--format", "json").json()
        else { return }
        #expect(
            Set(members.map(\.name)) == [
                "nodes", "roots", "keys", "collections", "segments", "tombstones", "pins", "shapes",
                "types",
                "recordBytes", "rawBytes", "ratio", "pageSize", "pagesUsed", "pageCapacity", "fill",
                "fileBytes",
                "directoryBytes", "budget", "oldestReader", "hits", "misses", "hitRate",
                "readLatency", "writes",
                "deletes", "recordsWritten", "recordsUnchanged", "contradictions", "commits",
                "memory",
                "droppedWrites", "rejectedWrites",
                "mapFullRecoveries",
                "generationsReplaced", "commitLatency", "evictions",
            ])
        #expect(try tool.succeed("verify", "c").text.hasSuffix("problems     0\n"))
        let verify = try tool.succeed("verify", "c", "--format", "json").json()
        #expect(verify["isClean"] == true)
        #expect(verify["problems"] == [])
    }

    @Test("Objects that name their type are nodes of that type, wherever they stand")
    func typeKey() throws {
        let tool = try CommandLineTool()
        let document = """
            {"id": "q", "issues": [{"node": {"__typename": "Issue", "id": 1, "title": "i"}}],
             "pulls": [{"node": {"__typename": "Pull", "id": 1, "title": "p"}}]}
            """
        let outcome = try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--type-key", "__typename", input: document)
        #expect(outcome.errors.isEmpty)
        #expect(try tool.succeed("get", "c", "Issue:1", "--compact").text.contains("\"i\""))
        #expect(try tool.succeed("get", "c", "Pull:1", "--compact").text.contains("\"p\""))
    }

    @Test("A type for a member that no object has is noted")
    func unusedType() throws {
        let tool = try CommandLineTool()
        let types = ["posts=Post", "author=User", "autor=User"].flatMap { ["--type", $0] }
        let outcome = try tool.run(
            ["import", "c", "-", "--id-key", "id", "--path", "posts"] + types,
            input: #"{"posts":[{"id":1,"author":{"id":2}}]}"#)
        #expect(outcome.code == 0)
        #expect(
            outcome.errors == """
                espalier: note: --type autor=User had no effect: no object has a member of that \
                name.

                """)
        #expect(try tool("get", "c", "Post:1").code == 0)
        #expect(try tool("get", "c", "User:2").code == 0)
    }

    @Test("A write to a damaged cache tells that what it held is gone")
    func damaged() throws {
        let tool = try CommandLineTool()
        try tool.succeed("import", "c", "-", "--id-key", "id", input: #"{"id":1}"#)
        let files = try FileManager.default.subpathsOfDirectory(
            atPath: tool.folder.url.path + "/c")
        let data = try #require(files.first { $0.hasSuffix("data.mdb") })
        let file = tool.folder.url.appending(path: "c/\(data)")
        try Data(repeating: 0xA5, count: 40_000).write(to: file)
        let outcome = try tool.run(
            ["import", "c", "-", "--id-key", "id"], input: #"{"id":2}"#)
        #expect(outcome.code == 0)
        #expect(outcome.errors.contains("the cache began anew, and what it held is gone"))
    }

    @Test("A deletion below an optimistic change succeeds, though readers see no difference")
    func belowChange() throws {
        let tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "all", input: #"[{"id":1}]"#)
        let cache = try NormalizedCache(directory: tool.folder.url.appending(path: "c").path)
        try cache.optimistically { $0.setCollection([Shown(id: 2)], forKey: "all") }.applied.wait()
        cache.close()
        try tool.succeed("delete", "c", "--collection", "all")
        let again = try NormalizedCache(directory: tool.folder.url.appending(path: "c").path)
        #expect(again.collection(of: Shown.self, forKey: "all") == [Shown(id: 2)])
        #expect(again.confirmed.collection(of: Shown.self, forKey: "all") == nil)
        again.close()
    }

    private struct Shown: NormalizedModel, Codable, Equatable {
        var id: Int
        var modelIdentifier: String? { "Shown:\(id)" }
    }

    @Test("A deletion of a name that is there in another name space says so")
    func otherNameSpace() throws {
        let tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "all", input: #"[{"id":1}]"#)
        let outcome = try tool("delete", "c", "all")
        #expect(outcome.code == 2)
        #expect(outcome.errors.contains("nothing was deleted; a collection has that name"))
        // A key of a deletion does not stand for the node, as that of a read does.
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--root-type", "User", input: #"{"id":8}"#)
        let key = try tool("delete", "c", "--key", "User:8")
        #expect(key.code == 2 && key.errors.contains("nothing was deleted; a node has that name"))
    }
}
#endif

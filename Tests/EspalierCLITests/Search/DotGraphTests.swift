#if CommandLine
import EspalierRecords
import Foundation
import Testing

@testable import EspalierCLI

@Suite("A digraph is one that Graphviz reads")
struct DotGraphTests {
    static let nastyTexts = [
        "User:1", "", "\"", "\\", "\\\"", "a\\N", "&amp;", "&#65;", "<b>x</b>",
        "a\nb\r\u{0}\u{1B}[2J", "日本語", "مستخدم",
        "👩‍👩‍👧‍👦",
        "{a|b}", "digraph", "n1 -> n2;", "//", "/* */", "#", "\u{202E}abc",
        String(repeating: "x", count: 20_000),
        String(repeating: "\"\\", count: 500), "ends in \\",
    ]

    private static func graph(_ texts: [String]) -> DotGraph {
        var names: [Handle: RecordName] = [:]
        for (index, text) in texts.enumerated() {
            names[Handle(UInt64(index))] = RecordName(kind: .node, identifier: text)
        }
        let graph = ReferenceGraph(around: Handle(0), depth: 1) { direction, _ in
            guard direction == .to else { return [] }
            return texts.enumerated().map { index, text in
                ReferenceEdge(
                    source: Handle(0), path: FieldPath(steps: [.name(text), .index(index)]),
                    target: Handle(UInt64(index)))
            }
        }
        return DotGraph(graph: graph, names: names)
    }

    @Test("A graph names records by handle and labels them by kind")
    func text() {
        let graph = ReferenceGraph(around: Handle(7), depth: 1) { direction, _ in
            let step = FieldPath(steps: [.name("to \"2\"")])
            return direction == .to
                ? [ReferenceEdge(source: Handle(7), path: step, target: Handle(9))]
                : [ReferenceEdge(source: Handle(12), path: FieldPath(), target: Handle(7))]
        }
        let names = [
            Handle(7): RecordName(kind: .node, identifier: #"a"b\c"#),
            Handle(9): RecordName(kind: .deleted, identifier: ""),
            Handle(12): RecordName(kind: .key, identifier: "k"),
        ]
        #expect(
            DotGraph(graph: graph, names: names).text == #"""
                digraph espalier {
                  rankdir=LR;
                  node [shape=box];
                  n7 [label="a\"b\\c", penwidth=2];
                  n9 [label="(deleted)", style=dashed];
                  n12 [label="key k", shape=note];
                  n7 -> n9 [label="to \"2\""];
                  n12 -> n7;
                }
                """#)
    }

    @Test("A record without references is a graph of one vertex")
    func alone() {
        let graph = ReferenceGraph(around: Handle(1), depth: 3) { _, _ in [] }
        let text = DotGraph(
            graph: graph, names: [Handle(1): RecordName(kind: .node, identifier: "x")]
        ).text
        #expect(text.contains(#"n1 [label="x", penwidth=2];"#))
    }

    @Test("Every string in a graph ends at its closing quote", arguments: nastyTexts)
    func quoting(text: String) {
        let quoted = DotGraph.quoted(text)
        #expect(quoted.hasPrefix("\"") && quoted.hasSuffix("\""))
        // Without its escape sequences, the text has neither quotation marks nor backslashes.
        var rest = quoted.dropFirst().dropLast()
        var plain = ""
        while let character = rest.popFirst() {
            if character == "\\" { _ = rest.popFirst() } else { plain.append(character) }
        }
        #expect(!plain.contains("\"") && quoted.utf8.count < 1_000)
        #expect(!quoted.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" })
    }

    @Test(
        "Graphviz accepts any name and prints it unchanged", .enabled(if: Graphviz.path != nil))
    func graphviz() throws {
        let texts = Self.nastyTexts
        let svg = try Graphviz.svg(of: Self.graph(texts).text)
        #expect(svg.components(separatedBy: "class=\"node\"").count - 1 == texts.count)
        #expect(svg.components(separatedBy: "class=\"edge\"").count - 1 == texts.count)
        for shown in [
            "User:1", "&quot;", "a\\N", "&amp;amp;", "&amp;#65;", "&lt;b&gt;x&lt;/b&gt;",
            "a␊b␍␀␛[2J", "日本語",
            "n1 &#45;&gt; n2;",
        ] {
            #expect(svg.contains(">\(shown)</text>"), "\(shown)")
        }
    }
}

/// The program `dot` of Graphviz, if it is installed.
private enum Graphviz {
    static let path = ["/usr/bin/dot", "/opt/homebrew/bin/dot", "/usr/local/bin/dot"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    static func svg(of text: String) throws -> String {
        let folder = try ScratchFolder()
        let input = try folder.write(text, to: "in.dot")
        let output = try folder.write("", to: "out.svg")
        let errors = try folder.write("", to: "errors")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(path))
        process.arguments = ["-Tsvg", input.path]
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try String(contentsOf: errors, encoding: .utf8) == "")
        return try String(contentsOf: output, encoding: .utf8)
    }
}
#endif

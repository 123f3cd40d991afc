#if Macros
import Foundation
import Testing

@testable import EspalierGeneration

/// A committed file of the folder `Generated`, with the arguments that make it.
///
/// The file is what `espalier generate` prints, inside of `#if Macros`, because these tests are
/// compiled without the macro, too. To write all files anew, run these tests with
/// `ESPALIER_WRITE_GENERATED=1` and review the changes.
enum GeneratedFile: String, CaseIterable, CustomTestStringConvertible {
    /// A schema that uses every feature.
    case catalog = "Catalog"
    /// A page of Twitter's search.
    case search = "Search"
    /// A page of GitHub's events.
    case event = "Event"

    var testDescription: String { rawValue }

    static let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent()

    var url: URL { Self.folder.appending(path: "Generated/\(rawValue).swift") }

    /// The document that was read. Those of public services stand beside the checkout; most
    /// checkouts have none.
    var input: URL {
        switch self {
        case .catalog: Self.folder.appending(path: "Fixtures/catalog.schema.json")
        case .search: Self.realDocument("twitter.json")
        case .event: Self.realDocument("github_events.json")
        }
    }

    /// A document that the types have to read.
    var document: URL {
        self == .catalog ? Self.folder.appending(path: "Fixtures/catalog.json") : input
    }

    private static func realDocument(_ name: String) -> URL {
        folder.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "../shared/data/\(name)").standardized
    }

    var isPresent: Bool { FileManager.default.fileExists(atPath: input.path) }

    static var present: [GeneratedFile] { allCases.filter(\.isPresent) }

    /// Generates the content of the file.
    func generated() throws -> String {
        let data = try Data(contentsOf: input)
        let source: String
        switch self {
        case .catalog:
            source = try Generator(GenerationOptions()).source(
                fromSchema: data, named: input.lastPathComponent)
        case .search, .event:
            var options = GenerationOptions()
            options.rootType = rawValue
            options.records =
                self == .search
                ? ["retweeted_status": "Status"]
                : Dictionary(
                    uniqueKeysWithValues: ["actor", "assignee", "org", "owner", "user"].map {
                        ($0, "Account")
                    })
            source = try Generator(options).source(
                fromSamples: [(input.lastPathComponent, data)])
        }
        return "#if Macros\n\(source)#endif\n"
    }

    /// Whether the files are to be written instead of compared.
    static let isWriting = ProcessInfo.processInfo.environment["ESPALIER_WRITE_GENERATED"] == "1"
}

@Suite("Generated files are what the generator writes")
struct GeneratedFileTests {
    @Test(
        "Generating again gives the same bytes as the committed file",
        arguments: GeneratedFile.present)
    func same(file: GeneratedFile) throws {
        let generated = try file.generated()
        if GeneratedFile.isWriting { try Data(generated.utf8).write(to: file.url) }
        let committed = try String(contentsOf: file.url, encoding: .utf8)
        guard committed != generated else { return }
        let difference = zip(
            committed.split(separator: "\n", omittingEmptySubsequences: false),
            generated.split(separator: "\n", omittingEmptySubsequences: false)
        ).first { $0 != $1 }
        Testing.Issue.record("\(file.rawValue): \(difference.map { "\($0)" } ?? "another length")")
    }

    @Test("Generating twice gives the same bytes", arguments: GeneratedFile.present)
    func stable(file: GeneratedFile) throws {
        let first = try file.generated()
        for _ in 0..<5 { #expect(try file.generated() == first) }
    }
}

@Suite("The guide shows what the generator writes")
struct GuideTests {
    @Test("The types in the guide are those of the schema in the guide")
    func types() throws {
        let root = GeneratedFile.folder.deletingLastPathComponent().deletingLastPathComponent()
        func text(_ path: String) throws -> String {
            try String(contentsOf: root.appending(path: path), encoding: .utf8)
        }
        let article = try text("Sources/Espalier/Espalier.docc/GeneratingModels.md")
        let snippet = try text("Snippets/GeneratedModels.swift")
        let schema = try #require(article.split(separator: "```json\n").dropFirst().first)
            .split(separator: "```")[0]
        let source = try Generator(GenerationOptions()).source(
            fromSchema: Data(schema.utf8), named: "order.schema.json")
        let types = try #require(source.firstRange(of: "import Foundation\n\n")).upperBound
        #expect(snippet.contains("// snippet.types\n\(source[types...])// snippet.end\n"))
    }
}
#endif

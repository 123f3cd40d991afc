#if CommandLine
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation
import Testing

@testable import EspalierCLI

/// Compares the examples of exports in `docs/FORMAT.md` with the export of a cache.
@Suite("The examples of the format of exports are true")
struct FormatExampleTests {
    private struct Person: Codable, NormalizedModel {
        let id: String
        let name: String
        var modelIdentifier: String? { "Person:\(id)" }
    }

    private struct Note: Codable, NormalizedModel {
        let id: String
        let author: Person?
        var modelIdentifier: String? { "Note:\(id)" }
    }

    /// A person with a picture.
    private struct Profile: Codable, NormalizedModel {
        let id: String
        let picture: Data
        let height: Float
        var modelIdentifier: String? { "Person:\(id)" }
    }

    @Test("The examples in the documentation of the format are true, line by line")
    func examples() throws {
        let tool = try CommandLineTool()
        let cache = try NormalizedCache(directory: tool.folder.url.appendingPathComponent("c").path)
        cache.set(Note(id: "9", author: Person(id: "1", name: "Ada")))
        cache.set(Profile(id: "1", picture: Data([0, 1, 2]), height: 1.7))
        cache.set(Note(id: "10", author: Person(id: "2", name: "Ben")))
        cache.setModel(Note(id: "9", author: Person(id: "1", name: "Ada")), forKey: "pinned")
        cache.setCollection(
            ["9", "10"].map { Note(id: $0, author: nil) }, forKey: "all", policy: .merge)
        try cache.delete("Person:2").wait()
        cache.close()
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent(
                "../../../docs/FORMAT.md")
        let document = try String(contentsOf: file, encoding: .utf8)
        let lines = try tool.expectCopies(of: "c", to: "d").map {
            $0.replacing(/"written":"[^"]*"/, with: #""written":"2026-11-29T12:00:00Z""#)
        }
        #expect(
            document.contains("\n\(lines.joined(separator: "\n"))\n"),
            "\(lines.joined(separator: "\n"))")
    }
}
#endif

#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

/// Documents of public services beside the checkout. Most checkouts have none.
enum RealDocument: String, CaseIterable {
    case twitter
    case githubEvents = "github_events"

    var url: URL {
        URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent()  // EspalierCLITests
            .deletingLastPathComponent()  // Tests
            .deletingLastPathComponent()
            .appending(path: "../shared/data/\(rawValue).json").standardized
    }

    func bytes() throws -> [UInt8] { Array(try Data(contentsOf: url)) }

    static var areAllPresent: Bool {
        allCases.allSatisfy { FileManager.default.fileExists(atPath: $0.url.path) }
    }
}

@Suite("Real documents survive", .enabled(if: RealDocument.areAllPresent))
struct JSONRealDocumentTests {
    @Test(
        "Parsing, writing and parsing a document again changes nothing",
        arguments: RealDocument.allCases)
    func roundTrip(_ document: RealDocument) throws {
        let parsed = try JSONParser.parse(document.bytes())
        for style in [JSONWriter.Style.compact, .pretty] {
            let written = JSONWriter(style: style).bytes(from: parsed)
            #expect(try JSONParser.parse(written) == parsed)
        }
    }

    @Test("Every prefix of a document is an error, never a value or a crash")
    func prefixes() throws {
        let bytes = try RealDocument.githubEvents.bytes().prefix(2_000)
        for end in bytes.indices {
            #expect(throws: JSONParseError.self) { try JSONParser.parse(Array(bytes[..<end])) }
        }
    }
}
#endif

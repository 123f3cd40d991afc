#if CommandLine
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation
import Testing

@testable import EspalierCLI

/// A type with values of kinds that JSON lacks.
@Suite("A cache of Swift types is exported and imported whole")
struct CodableCacheTests {
    private enum Mood: String, Codable { case good, bad }

    private enum Part: Codable, Equatable {
        case text(String)
        case picture(width: Int, data: Data)
        case nothing
    }

    private struct Tag: Codable, NormalizedModel, Equatable, Hashable {
        var name: String
        var modelIdentifier: String? { "Tag:\(name)" }
    }

    private struct Entry: Codable, NormalizedModel, Equatable {
        var id: Int
        var at = Date(timeIntervalSinceReferenceDate: 712_345_678.125)
        var whole = Date(timeIntervalSinceReferenceDate: 700_000_000)
        var data = Data([0, 255, 16])
        var uuid = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")
        var link = URL(string: "b?c", relativeTo: URL(string: "https://example.org/a/"))
        var mood = Mood.good
        var parts: [Part] = [.text("$ref"), .picture(width: 3, data: Data([1])), .nothing]
        var float: Float = 0.1
        var floats: [Float] = [1, -0, .infinity, .nan]
        var doubles: [Double] = [1, -0, -.infinity, 1e300]
        var price = Decimal(string: "19.90") ?? 0
        var wide = Int128.max
        var unsigned = UInt128.max
        var scores: [Int: String] = [3: "three", -1: "minus"]
        var byTag: [String: Tag] = ["$first": Tag(name: "a"), "": Tag(name: "é")]
        var tags: Set<Tag> = [Tag(name: "a"), Tag(name: "b")]
        var optional: String?
        var nested: [[String: [Int]]] = [["x": [1, 2]], [:]]
        var modelIdentifier: String? { "Entry:\(id)" }
    }

    /// Another type for the same records.
    private struct Card: Codable, NormalizedModel, Equatable {
        var id: Int
        var title: String
        var modelIdentifier: String? { "Entry:\(id)" }
    }

    @Test("A cache of Swift types with every kind of value is copied exactly")
    func copies() throws {
        let tool = try CommandLineTool()
        let open = { (name: String) in
            try NormalizedCache.existing(
                directory: tool.folder.url.appendingPathComponent(name).path)
        }
        let source = try NormalizedCache(
            directory: tool.folder.url.appendingPathComponent("c").path)
        source.set(Entry(id: 1))
        source.set(Card(id: 1, title: "one"))
        source.setCollection([Part.text("x"), .nothing].map { Inline(part: $0) }, forKey: "inline")
        try source.setModel(Entry(id: 2), forKey: "latest").wait()
        source.close()
        let lines = try tool.expectCopies(of: "c", to: "d")
        let copy = try open("d")
        // A NaN never equals itself, so the test compares lines.
        #expect(copy.read(Entry.self, "Entry:1")?.scores == Entry(id: 1).scores)
        #expect(
            copy.read(Entry.self, "Entry:1")?.link?.absoluteString == "https://example.org/a/b?c")
        #expect(copy.read(Card.self, "Entry:1") == Card(id: 1, title: "one"))
        #expect(copy.modelOutcome(Entry.self, forKey: "latest").value?.wide == .max)
        #expect(
            copy.collection(of: Inline.self, forKey: "inline")?.map(\.part) == [
                .text("x"), .nothing,
            ])
        copy.close()
        let entry = try #require(lines.first { $0.contains("Entry:1") })
        for part in [
            #""declarers":{"#, #""data":{"$bytes":"AP8Q"}"#, #""float":{"$float":"0.1"}"#,
            #""at":712345678.125"#,
            #""whole":700000000.0"#, #"{"$float":"nan"}"#, #"{"$double":"-inf"}"#,
            #""price":{"$decimal":"19.9"}"#,
            #"{"$int128":"170141183460469231731687303715884105727"}"#,
            #"{"$map":[["",{"$ref":"Tag:é"}],"#,
        ] { #expect(entry.contains(part), "\(part) in \(entry)") }
    }

    private struct Inline: Codable, NormalizedModel {
        var part: Part
        var modelIdentifier: String? { nil }
    }
}
#endif

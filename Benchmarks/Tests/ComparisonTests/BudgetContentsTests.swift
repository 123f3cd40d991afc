import Feeds
import Foundation
import Testing

@testable import Comparison

@Suite("What a budget holds")
struct BudgetContentsTests {
    /// Streams feeds of 28 kB, as JSON, through a contender that is closed then.
    private func held(
        by id: ContenderID, limit: Int, feedsPerMebibyte: Int, _ content: FeedContent = .generated
    ) throws -> BudgetStream.Held {
        var scale = Scale.smoke
        (scale.posts, scale.people, scale.feedsPerMebibyte) = (24, 100, feedsPerMebibyte)
        let scratch = try Scratch(in: FileManager.default.temporaryDirectory.path)
        let contestant = try #require(LimitedContestant.all.first { $0.id == id })
        let limited = try contestant.make(in: scratch.path, limit: limit)
        let held = try BudgetStream(scale: scale, content: content).run(through: limited)
        return withExtendedLifetime(scratch) { held }
    }

    @Test(
        "A stream counts the feeds and the records that a contender holds within its budget",
        arguments: LimitedContestant.all.map(\.id), FeedContent.allCases)
    func counted(id: ContenderID, content: FeedContent) throws {
        let held = try held(by: id, limit: 1 << 20, feedsPerMebibyte: 60, content)
        #expect(held.feedsWritten + held.writesRefused == 60)
        #expect(held.mostBytes <= 1 << 20)
        #expect(held.feeds > 3 && held.feeds <= held.feedsWritten)
        #expect(held.records > held.feeds * (1 + 24 + 48))
        #expect(held.records <= held.feeds * (1 + 24 + 48) + 100)
    }

    @Test("A budget holds more documents if they are compressed, in SQLite and in files")
    func compressed() throws {
        func feeds(_ id: ContenderID) throws -> Int {
            let held = try held(by: id, limit: 384 << 10, feedsPerMebibyte: 320)
            #expect(held.feeds < held.feedsWritten)
            return held.feeds
        }
        #expect(try feeds(.compressedBlobs) > 2 * feeds(.jsonBlobs))
        #expect(try feeds(.compressedFiles) > 2 * feeds(.files))
    }
}

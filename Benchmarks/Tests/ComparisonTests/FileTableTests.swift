import Feeds
import Foundation
import Testing

@testable import Comparison

@Suite("Files within a limit")
struct FileTableTests {
    @Test("Trimming removes the least recently used files until the rest is within the limit")
    func trimmed() {
        var table = FileTable()
        for name in ["a", "b", "c", "d"] { table.put(name, size: 10) }
        table.use("a")
        table.put("b", size: 15)
        #expect(table.byteCount == 45)
        #expect(table.trim(to: 45) == [])
        #expect(table.trim(to: 30) == ["c", "d"])
        #expect(table.trim(to: 20) == ["a"])
        #expect(table.byteCount == 15)
        table.use("a")
        #expect(table.trim(to: 0) == ["b"])
        #expect(table.byteCount == 0)
    }

    @Test("Only the last use of a file counts, however often it is used")
    func used() {
        var table = FileTable()
        for number in 0..<3 { table.put("\(number)", size: 1) }
        for number in 0..<10_000 { table.use("\(number % 2)") }
        #expect(table.trim(to: 1) == ["2", "0"])
    }

    @Test("The contender of files stays within its limit, also when it is opened again")
    func contender() throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "files-\(UUID().uuidString)"
        ).path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let set = FeedSet(feeds: 6, people: 40, posts: 12)
        let files = FilesContender(
            directory: directory, durability: .process, format: .json, limit: 60_000)
        try files.open()
        for feed in set.feeds {
            try files.write(feed)
            _ = try files.read(set.feeds[0].id)
            #expect(try files.byteCount <= 60_000)
        }
        #expect(try files.read(set.feeds[0].id)?.plain() == set.feeds[0])
        #expect(try files.read(set.feeds[1].id) == nil)
        #expect(try files.read(set.feeds[5].id)?.plain() == set.feeds[5])
        let count = try files.byteCount
        try files.close()
        try files.open()
        #expect(try files.byteCount == count)
    }
}

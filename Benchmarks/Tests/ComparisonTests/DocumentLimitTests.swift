import Feeds
import Foundation
import Testing

@testable import Comparison

@Suite("Documents within a limit", .serialized)
struct DocumentLimitTests {
    /// Feeds of 28 kB, so that ten of them train a dictionary.
    private static let feeds = FeedSet(seed: 6, feeds: 120, people: 100, posts: 24).feeds
    private static let limit = 384 << 10
    private static let documents: [ContenderID] = [
        .jsonBlobs, .compressedBlobs, .files, .compressedFiles,
    ]

    private func with(
        _ id: ContenderID, limit: Int = limit, _ body: (LimitedContender) throws -> Void
    ) throws {
        let scratch = try Scratch(in: FileManager.default.temporaryDirectory.path)
        let contestant = try #require(LimitedContestant.all.first { $0.id == id })
        let limited = try contestant.make(in: scratch.path, limit: limit)
        try limited.contender.open()
        try body(limited)
        try limited.contender.close()
        withExtendedLifetime(scratch) {}
    }

    @Test("The directory never takes more than the limit", arguments: documents)
    func kept(id: ContenderID) throws {
        try with(id) { limited in
            for feed in Self.feeds {
                #expect(try limited.write(feed))
                #expect(try DirectorySize.allocated(limited.directory) <= Self.limit)
                #expect(try limited.peek(feed.id) == feed)
            }
            let held = try limited.heldCount(Self.feeds)
            #expect(held > 3 && held < Self.feeds.count)
            #expect(try Self.feeds.count { try limited.peek($0.id) != nil } == held)
        }
    }

    @Test(
        "What was read last is kept, also when the contender is opened again", arguments: documents)
    func recency(id: ContenderID) throws {
        try with(id) { limited in
            for feed in Self.feeds[..<4] { _ = try limited.write(feed) }
            #expect(try limited.heldCount(Self.feeds) == 4)
            #expect(try limited.contender.read(Self.feeds[0].id) != nil)
            try limited.contender.close()
            try limited.contender.open()
            for feed in Self.feeds[4...] {
                _ = try limited.write(feed)
                #expect(try limited.contender.read(Self.feeds[0].id) != nil)
            }
            #expect(try limited.peek(Self.feeds[1].id) == nil)
            #expect(try limited.peek(Self.feeds[0].id) == Self.feeds[0])
        }
    }

    @Test("An update within a limit changes the feeds that are held", arguments: documents)
    func updated(id: ContenderID) throws {
        try with(id) { limited in
            for feed in Self.feeds { _ = try limited.write(feed) }
            let new = Self.feeds[119].posts[0].author.edited(1)
            try limited.contender.update(new, shownIn: Self.feeds.map(\.id))
            #expect(try limited.peek(Self.feeds[119].id) == Self.feeds[119].showing(new))
            #expect(try DirectorySize.allocated(limited.directory) <= Self.limit)
        }
    }

    @Test(
        "Compressed documents can be read before, after and without the run that trained",
        arguments: [ContenderID.compressedBlobs, .compressedFiles])
    func dictionary(id: ContenderID) throws {
        try with(id, limit: 4 << 20) { limited in
            for feed in Self.feeds[..<20] { _ = try limited.write(feed) }
            #expect(try Self.feeds[..<20].allSatisfy { try limited.peek($0.id) == $0 })
        }
        let scratch = try Scratch(in: FileManager.default.temporaryDirectory.path)
        let contestant = try #require(LimitedContestant.all.first { $0.id == id })
        for run in 0..<2 {
            let limited = try contestant.make(in: scratch.path, limit: 4 << 20)
            try limited.contender.open()
            for feed in Self.feeds[(run * 20)...].prefix(20) { _ = try limited.write(feed) }
            let written = Self.feeds[..<((run + 1) * 20)]
            #expect(try written.allSatisfy { try limited.peek($0.id) == $0 })
            try limited.contender.close()
        }
    }
}

@Suite("Compression of documents")
struct ZstdCodecTests {
    private let documents = FeedSet(seed: 8, feeds: 30, people: 100, posts: 24).feeds

    @Test("A dictionary is trained once, of at most 16 KiB, and makes frames smaller")
    func trained() throws {
        let coder = DocumentCoder(.compressedJSON)
        var dictionaries: [Data] = []
        var frames: [Data] = []
        for feed in documents {
            let document = try coder.document(of: feed)
            if let dictionary = coder.train(with: document) {
                dictionaries.append(dictionary)
                try coder.use(dictionary: dictionary)
            }
            frames.append(try coder.compress(document))
        }
        #expect(dictionaries.count == 1)
        #expect((256...ZstdCodec.largestDictionary).contains(dictionaries.first?.count ?? 0))
        #expect(try #require(frames.last).count < frames[0].count * 95 / 100)
        for (feed, frame) in zip(documents, frames) {
            #expect(try coder.decode(Feed.self, from: frame) == feed)
        }
    }

    @Test("Damaged frames are errors")
    func damaged() throws {
        let codec = ZstdCodec()
        let frame = try codec.compress(Data(repeating: 7, count: 1_000))
        #expect(try codec.decompress(frame) == Data(repeating: 7, count: 1_000))
        #expect(throws: ComparisonError.self) { try codec.decompress(Data("no frame".utf8)) }
        #expect(throws: ComparisonError.self) { try codec.decompress(frame.dropLast(3)) }
    }
}

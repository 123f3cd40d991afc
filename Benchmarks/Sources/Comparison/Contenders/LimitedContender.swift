import Espalier
import Feeds
import Foundation

/// A contender that keeps its directory within a number of bytes, and evicts what was used least
/// recently.
struct LimitedContender {
    let id: ContenderID
    let contender: any Contender
    let directory: String
    let limit: Int
    /// Counts the feeds that it holds, of all that were written, and uses none of them.
    let heldCount: ([Feed]) throws -> Int
    /// Reads a feed. Does not use it if the contender has such reads; those of the others change
    /// what is evicted next, and evict nothing by themselves.
    let peek: (_ feed: String) throws -> Feed?

    /// Writes a feed. Returns false if the contender refuses it because it does not fit even alone,
    /// as the engine may in a cache of few megabytes.
    ///
    /// The engine also refuses writes while a read keeps pages that it needs, such as its own read
    /// of records for a dictionary. It asks for the write to be repeated then.
    func write(_ feed: Feed) throws -> Bool {
        var attempts = 0
        while true {
            do {
                try contender.write(feed)
                return true
            } catch let error as CacheError where error.code == .full {
                return false
            } catch let error as CacheError
                where error.code == .pagesHeld && attempts < Self.mostAttempts
            {
                attempts += 1
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }

    private static let mostAttempts = 500
}

/// A contender with a limit and how to make one.
struct LimitedContestant: Sendable {
    let id: ContenderID
    /// Makes the contender, not yet open. Its directory is `path`, and `limit` is in bytes.
    private let makeAt: @Sendable (_ path: String, _ limit: Int) throws -> LimitedContender

    /// Makes the contender, not yet open, with a directory of its own in `directory`.
    func make(in directory: String, limit: Int) throws -> LimitedContender {
        try makeAt(directory + "/" + id.rawValue, limit)
    }

    static let engines = [engine(.engine, .none), engine(.engineCompressed, .standard)]

    static let all =
        engines + [
            blobs(.jsonBlobs, .json), blobs(.compressedBlobs, .compressedJSON),
            files(.files, .json), files(.compressedFiles, .compressedJSON),
        ]

    private static func engine(_ id: ContenderID, _ compression: Compression) -> LimitedContestant {
        LimitedContestant(id: id) { path, limit in
            let contender = EngineContender<Feed>(
                directory: path, durability: .process, compression: compression,
                budget: ByteCount(limit))
            return LimitedContender(
                id: id, contender: contender, directory: path, limit: limit,
                heldCount: { feeds in try feeds.count { try contender.peek($0.id) != nil } },
                peek: { try contender.peek($0) })
        }
    }

    private static func blobs(_ id: ContenderID, _ format: DocumentCoder.Format)
        -> LimitedContestant
    {
        LimitedContestant(id: id) { path, limit in
            let contender = try BlobContender(
                directory: path, durability: .process, format: format, limit: limit)
            return LimitedContender(
                id: id, contender: contender, directory: path, limit: limit,
                heldCount: { _ in contender.limitedCount ?? 0 },
                peek: { try contender.read($0)?.plain() })
        }
    }

    private static func files(_ id: ContenderID, _ format: DocumentCoder.Format)
        -> LimitedContestant
    {
        LimitedContestant(id: id) { path, limit in
            let contender = FilesContender(
                directory: path, durability: .process, format: format, limit: limit)
            return LimitedContender(
                id: id, contender: contender, directory: path, limit: limit,
                heldCount: { _ in try contender.documentCount },
                peek: { try contender.read($0)?.plain() })
        }
    }
}

import Espalier
import Feeds
import Foundation

/// A cache in a directory of its own, which is removed with this object.
final class Stage: Sendable {
    let directory: String
    let cache: NormalizedCache

    /// Creates a cache that holds a number of feeds, none of which operations make.
    init(compression: Compression = .none, feeds: Int = 0, as type: any FeedModel.Type = Feed.self)
        throws
    {
        directory = NSTemporaryDirectory() + "espalier-micro-\(UInt64.random(in: .min ... .max))"
        // Closing ends work in the background.
        let filled = try NormalizedCache(
            directory: directory, configuration: Self.configuration(.none))
        for number in 0..<feeds { try Self.write(Self.feed(number), as: type, to: filled) }
        filled.close()
        let configuration = Self.configuration(compression)
        if compression != .none {
            // Trains dictionaries and compresses here: in the background it would take another time
            // in every run.
            let compacted = try NormalizedCache(directory: directory, configuration: configuration)
            try compacted.compact().wait()
            compacted.close()
        }
        cache = try NormalizedCache(directory: directory, configuration: configuration)
    }

    deinit {
        cache.close()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Nothing waits for the disk: the disk is not what is measured.
    static func configuration(_ compression: Compression) -> Configuration {
        Configuration(
            budget: .gibibytes(1), durability: .noSync, compression: compression,
            memoryBudget: ByteCount(0))
    }

    /// Returns one of the feeds that the cache holds.
    static func feed(_ number: Int) -> Feed { Operation.feed(50_000 + number) }

    private static func write<Shown: FeedModel>(
        _ feed: Feed, as type: Shown.Type, to cache: NormalizedCache
    ) throws {
        try cache.set(Shown(feed)).wait()
    }

    /// Returns the model, which must be there.
    func read<Model: IdentifiedModel>(_ type: Model.Type, _ identifier: String) throws -> Model {
        switch cache.readOutcome(type, identifier, consistency: .snapshot) {
        case .hit(let hit): return hit.value
        case .miss(let reason): throw OperationError.miss("\(reason)")
        }
    }
}

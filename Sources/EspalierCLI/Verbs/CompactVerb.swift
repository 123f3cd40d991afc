import ArgumentParser
import EspalierRecords
import EspalierStore

/// `espalier compact`: compresses what is stored as new records are compressed.
struct CompactVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Compresses all records anew, with dictionaries trained on what the cache holds.",
        discussion: """
            It changes nothing that is read, and counts as no access. Of use after a first import; records written later are \
            compressed by themselves. With --compression none all records become raw, which makes reads faster and takes room: in \
            a full cache the least recently used trees are evicted for it. Files do not become shorter: the pages are there for \
            what is written next. "ratio" is how many times as long the records are before they are compressed.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var compression: CompressionOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let cache = try cache.openExisting(compression: compression.compression)
        defer { cache.close() }
        do {
            let (before, numbers) = (
                try side(of: cache), try cache.inspect { try $0.dictionaryNumbers() }
            )
            let start = ContinuousClock.now
            try await cache.compact().committed
            let time = ContinuousClock.now - start
            let after = try cache.inspect { try $0.dictionaryNumbers() }
            let changed = numbers.count { handle, number in
                after[handle].map { $0 != number } ?? false
            }
            let summary = CompactSummary(
                before: before, after: try side(of: cache), changed: changed, time: time)
            try output.print(summary)
            if summary.evicted > 0 {
                Console.note(
                    "\(summary.evicted) records were evicted to make room. espalier budget sets how much there is."
                )
            }
        } catch let error as CacheError {
            throw self.cache.failure(error)
        }
    }

    private func side(of cache: NormalizedCache) throws -> CompactSummary.Side {
        CompactSummary.Side(
            statistics: try cache.statistics(),
            dictionaries: try cache.inspect { try $0.dictionaries() })
    }
}

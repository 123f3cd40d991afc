#if CommandLine
import ArgumentParser
import EspalierInspection
import EspalierRecords
import EspalierStore

/// `espalier compact`: packs all stored records anew.
struct CompactCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Packs all records anew, with a dictionary trained on the cache.",
        discussion: """
            Records are packed into full pages and copied into a new file, which holds nothing of \
            deleted records and is encrypted with the first key of --key-file. If both files do \
            not fit in the budget, the old file stays, unless the key changes. Values stay the \
            same, and no record counts as accessed. \
            The command helps after a first import; the cache compresses later records by itself.

            --compression none stores all records uncompressed, which makes reads faster and takes \
            more room: a full cache evicts its least recently used trees for it. "ratio" is the \
            size before compression divided by the stored size.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var compression: CompressionOption
    @OptionGroup var output: OutputOptions

    func open() throws(CommandFailure) -> NormalizedCache {
        try cache.openExisting(compression: compression.compression)
    }

    @MainActor
    func run(on cache: NormalizedCache) async throws {
        let before = try side(of: cache)
        let start = ContinuousClock.now
        try await cache.compact().committed
        let time = ContinuousClock.now - start
        let summary = CompactSummary(before: before, after: try side(of: cache), time: time)
        try output.print(summary)
        Console.noteEvictions(summary.evicted)
    }

    private func side(of cache: NormalizedCache) throws -> CompactSummary.Side {
        CompactSummary.Side(
            statistics: try cache.statistics(),
            dictionaries: try cache.inspect { try $0.dictionaries() })
    }
}

/// `espalier dictionaries`: lists the dictionaries that records are compressed with.
struct DictionariesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dictionaries",
        abstract: "Lists the dictionaries that records are compressed with.",
        discussion: """
            Prints one row per dictionary: its own size, and the records stored with it: their \
            number, their bytes before and after compression, and "ratio", the first divided by \
            the second. New records use the current dictionary. Then come the records compressed \
            without a dictionary and those stored raw, as short \
            ones are. The last row is the total, with the share of the budget that dictionaries \
            may take, one fiftieth. Reads the whole cache. Exits with 2 if a dictionary is \
            damaged.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let report = DictionaryReport(census: try cache.inspect { try $0.dictionaryCensus() })
        try output.print(report)
        let damaged = report.census.dictionaries.count { $0.problem != nil }
        guard damaged == 0 else {
            let dictionaries = counted(damaged, "dictionary is", "dictionaries are")
            throw CommandFailure("\(cache.cache): \(dictionaries) damaged", kind: .miss)
        }
        if report.census.isListDamaged {
            throw CommandFailure("\(cache.cache): the list of dictionaries is damaged", kind: .miss)
        }
    }
}
#endif

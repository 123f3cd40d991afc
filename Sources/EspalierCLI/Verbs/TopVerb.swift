import ArgumentParser
import EspalierStore

/// `espalier top`: the records that cost most, are needed most or will be evicted first.
struct TopVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Lists the largest records, the most referred to or the least recently used.",
        discussion: """
            By age it lists what nothing refers to, and what stands on a cycle, in the order in which it would be evicted: \
            what is pinned, or belongs to something that is, is not among it. The columns are those of ls. A damaged record has no \
            identifier here; ls names it.
            """)

    @OptionGroup var cache: CacheArgument

    @Option(
        help:
            "What puts a record first: bytes as stored, records that refer to it, or accesses since its last one."
    )
    var by = RankingOrder.size

    @Option(help: ArgumentHelp("How many to list.", valueName: "count"))
    var limit = 20

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit is at least 1.") }
    }

    func run() throws {
        let summaries = try cache.inspect { try by.summaries(in: $0, limit: limit) }
        try output.print(RecordSummary.report(of: summaries))
    }
}

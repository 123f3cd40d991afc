import ArgumentParser
import EspalierStore

/// `espalier dictionaries`: what records are compressed with.
struct DictionariesVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dictionaries",
        abstract: "Lists the dictionaries that records are compressed with.",
        discussion: """
            For each, the types whose records it was trained on, its own size, and the records stored with it: how many, their \
            bytes before and after, and how many times as long they were before, "ratio". New records get the current ones. \
            Then the records compressed without one, and those stored raw, as short ones are. The last line is all together, \
            with what dictionaries may take, two hundredths of the budget. What is in a dictionary is not shown: it is pieces \
            of records. Walks the whole cache. Exits with 2 if a dictionary is damaged.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let report = DictionaryReport(census: try cache.inspect { try $0.dictionaryCensus() })
        if output.format == .table {
            try output.print(report.table)
        } else {
            try output.print(report)
        }
        let damaged = report.census.dictionaries.count { $0.problem != nil }
        guard damaged == 0 else {
            throw CommandFailure(
                "\(cache.cache): \(damaged == 1 ? "a dictionary is" : "\(damaged) dictionaries are") damaged",
                kind: .miss)
        }
        if report.census.isListDamaged {
            throw CommandFailure("\(cache.cache): the list of dictionaries is damaged", kind: .miss)
        }
    }
}

import ArgumentParser
import EspalierStore

/// `espalier diff`: what differs between two caches.
struct DiffVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Prints what differs between two caches, by content.",
        discussion: """
            "added" is what only the second has, "removed" what only the first has; a record that both have and that is not \
            alike has a row for each place, with what stands there in the first, a, and in the second, b. References are \
            compared by identifier. Paths are as in entities.media[0].url; $types, $declarers and $count are no fields. In \
            which order fields were added, and when records were accessed, is no difference. Exits with 2 if there is one.
            """)

    @Argument(help: "The directory of a cache.", completion: .directory)
    var first: String

    @Argument(help: "The directory of another.", completion: .directory)
    var second: String

    @Option(
        help: ArgumentHelp(
            "Prints no more than this many records; all are counted.", valueName: "count"))
    var limit: Int?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard limit ?? 1 >= 1 else { throw ValidationError("--limit is at least 1.") }
    }

    func run() throws {
        let comparison = try compare()
        try output.print(DifferenceReport(differences: comparison.differences))
        guard comparison.count == 0 else {
            let records =
                comparison.count == 1 ? "a record differs" : "\(comparison.count) records differ"
            throw CommandFailure("\(first), \(second): \(records)", kind: .miss)
        }
    }

    private func compare() throws -> CacheComparison {
        let a = try CacheArgument.openExisting(at: first)
        defer { a.close() }
        let b = try CacheArgument.openExisting(at: second)
        defer { b.close() }
        var comparison = CacheComparison(limit: limit)
        do {
            try a.inspect { left in try b.inspect { right in try comparison.compare(left, right) } }
        } catch let error as CacheError {
            throw CommandFailure("\(first), \(second): \(error)")
        }
        return comparison
    }
}

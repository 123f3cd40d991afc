import ArgumentParser
import EspalierStore

/// `espalier grep`: the records whose fields hold a value.
struct GrepVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grep", abstract: "Finds the records whose fields hold a value.",
        discussion: """
            A row is a value: with --value one that is it or has it in it, with --field alone all that the field holds. \
            Searches nodes, and what stands inline in keys and collections. Exits with 2 if nothing is found.
            """)

    @OptionGroup var cache: CacheArgument

    // A name may begin with a dash, and a number with a minus sign.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Only in this field, and below it.",
            discussion: """
                A dot leads into inline values, as in entities.media.url; arrays are looked into, or at one place with \
                media[0].url; a name with a dot in it is written ["a.b"].
                """,
            valueName: "path"),
        transform: FieldPath.init(parsing:))
    var field: FieldPath?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "What to look for.",
            discussion: """
                Part of a string; a number, true, false or null as JSON writes it; or the identifier that a reference \
                leads to.
                """))
    var value: String?

    @Flag(help: "Makes no difference between upper and lower case.")
    var ignoreCase = false

    @Flag(help: "The whole of a string, not a part of it.")
    var exact = false

    @OptionGroup var limit: LimitOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard field != nil || value != nil else {
            throw ValidationError("Give a --field, a --value or both.")
        }
        guard value != "" || exact else {
            throw ValidationError("--value is not empty, but with --exact.")
        }
        guard value != nil || (!ignoreCase && !exact) else {
            throw ValidationError("--ignore-case and --exact are for a --value.")
        }
    }

    func run() throws {
        let text = value.map { TextSearch($0, ignoresCase: ignoreCase, isExact: exact) }
        let (matches, unreadable) = try cache.inspect { inspection in
            var search = try RecordSearch(
                inspection, field: field, query: text.map(ValueQuery.init), limit: limit.limit)
            try search.run()
            return (search.matches, search.unreadable)
        }
        let left = unreadable == 1 ? "a damaged record was" : "\(unreadable) damaged records were"
        guard !matches.isEmpty else {
            let rest = unreadable > 0 ? "; \(left) not searched" : ""
            throw CommandFailure("\(cache.cache): nothing found\(rest)", kind: .miss)
        }
        let report = MatchReport(matches: matches, search: text)
        if output.format == .table {
            try output.print(report.table)
        } else {
            try output.print(report)
        }
        if unreadable > 0 { Console.note("\(left) not searched; verify tells more.") }
    }
}

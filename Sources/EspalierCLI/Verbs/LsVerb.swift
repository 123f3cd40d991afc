import ArgumentParser
import EspalierStore

/// `espalier ls`: the records of a cache.
struct LsVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "Lists the records of the cache by identifier.",
        discussion: """
            In ascending order of the bytes of their identifiers, nodes first, then keys, then collections; identifiers of \
            more than 510 bytes come last. "size" is as stored, a collection's with its elements, and "raw" the same before compression; "refs" is how many records \
            refer to it, "children" how many it refers to, or how many elements a collection has; "age" is how many \
            accesses and writes ago, and "time" how long ago, it was last accessed, where that was recorded: not for a record \
            that is reached through others only.
            """)

    @OptionGroup var cache: CacheArgument

    // A name may begin with a dash.
    @Option(
        parsing: .unconditional,
        help: "Only records of this type. Keys, collections and damaged records have none.")
    var type: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Only identifiers that match, as in 'User:*'.",
            discussion: """
                * is any run of characters, ? any one, [a-z] one of these, [!a-z] one of the others; a backslash takes \
                the character behind it as it is. Characters are Unicode scalars.
                """,
            valueName: "pattern"),
        transform: Glob.init(parsing:))
    var match: Glob?

    @Option(help: "Only records of this kind.")
    var kind = EntryKind.all

    @OptionGroup var limit: LimitOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        let query = EntryQuery(
            nameSpaces: kind.nameSpaces, glob: match, type: type, limit: limit.limit)
        let summaries = try cache.inspect { try query.summaries(in: $0) }
        try output.print(RecordSummary.report(of: summaries))
    }
}

#if CommandLine
import ArgumentParser
import EspalierInspection
import EspalierRecords
import EspalierStore

/// `espalier ls`: lists the records of a cache.
struct LsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "Lists the records of a cache by identifier.",
        discussion: """
            Lists nodes, then keys, then collections, each in ascending order of the bytes of \
            their identifiers; identifiers of more than 510 bytes come last.

            "size" is the stored size, a collection's with its elements; "raw" is the size before \
            compression. "refs" counts the records that refer to the record, "children" the \
            records it refers to or the elements of a collection. "age" and "time" say how many \
            accesses and writes ago, and how long ago, the record was last accessed; they are \
            empty for a record that is only reached through others. "written" says how long ago \
            the record was last written by itself, or at all if it expires, and "expires" when \
            it counts as expired; a table has both only if a listed record expires.
            """)

    @OptionGroup var cache: CacheArgument

    // The name of a type may begin with a dash.
    @Option(
        parsing: .unconditional,
        help: "Lists only records of this type. Keys, collections and damaged records have no type."
    )
    var type: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Lists only identifiers that match, as in 'User:*'.",
            discussion: """
                * matches any run of characters, ? any one, [a-z] one of these, [!a-z] one of the \
                others; a backslash quotes the next character. Characters are Unicode scalars.
                """,
            valueName: "pattern"),
        transform: Glob.init(parsing:))
    var match: Glob?

    @Option(help: "Lists only records of this kind.")
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

/// `espalier top`: lists the records that are largest, most referred to or next to be evicted.
struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Lists the largest, the most referred to or the least recently used records.",
        discussion: """
            --by age lists the records that can be evicted, in the order of eviction: records \
            without references and records on cycles, but no pinned records and no records below \
            them. The columns are those of ls. A damaged record has no identifier here; ls prints \
            it.
            """)

    @OptionGroup var cache: CacheArgument

    @Option(
        help:
            "The order: stored bytes, references to the record, or accesses since its last one."
    )
    var by = RankingOrder.size

    @Option(help: ArgumentHelp("The number of records to list.", valueName: "count"))
    var limit = 20

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1.") }
    }

    func run() throws {
        let summaries = try cache.inspect { try by.summaries(in: $0, limit: limit) }
        try output.print(RecordSummary.report(of: summaries))
    }
}

/// `espalier grep`: finds the records whose fields hold a value.
struct GrepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grep", abstract: "Finds the records whose fields hold a value.",
        discussion: """
            Prints one row per value: with --value, the values that equal or contain it; with only \
            --field, all values of the field. Searches nodes and the inline values of keys and \
            collections. Exits with 2 if it finds nothing.
            """)

    @OptionGroup var cache: CacheArgument

    // The name of a field may begin with a dash, and a number with a minus sign.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Searches only this field and the values below it.",
            discussion: """
                A dot leads into inline values, as in entities.media.url, and through all elements \
                of an array; media[0].url searches one element. A name with a dot is written \
                ["a.b"].
                """,
            valueName: "path"),
        transform: FieldPath.init(parsing:))
    var field: FieldPath?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The value to find.",
            discussion: """
                Part of a string; a number, true, false or null as in JSON; or the identifier of a \
                referenced node.
                """))
    var value: String?

    @Flag(help: "Ignores the case of letters.")
    var ignoreCase = false

    @Flag(help: "Finds whole strings only.")
    var exact = false

    @OptionGroup var limit: LimitOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard field != nil || value != nil else {
            throw ValidationError("Give --field, --value or both.")
        }
        guard value != "" || exact else {
            throw ValidationError("--value must not be empty, except with --exact.")
        }
        guard value != nil || (!ignoreCase && !exact) else {
            throw ValidationError("--ignore-case and --exact require --value.")
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
        let left = counted(unreadable, "damaged record was", "damaged records were")
        guard !matches.isEmpty else {
            let rest = unreadable > 0 ? "; \(left) not searched" : ""
            throw CommandFailure("\(cache.cache): nothing found\(rest)", kind: .miss)
        }
        try output.print(MatchReport(matches: matches, search: text))
        if unreadable > 0 {
            Console.note("\(left) not searched; espalier verify describes the damage.")
        }
    }
}

/// `espalier refs`: prints the references from and to a record.
struct RefsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refs", abstract: "Prints the references from and to a record.",
        discussion: """
            Prints one row per reference: "to" is a reference that the record holds, "from" one \
            that leads to it. Paths name fields and array elements, as in entities.media[0]; in a \
            collection, the index of the element. Deleted, lost, damaged and missing records are \
            printed as such. Finding the references to a record reads the whole cache, once per \
            step of --depth.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var entry: EntryOptions

    @Option(
        help: ArgumentHelp(
            "The number of references to follow in each direction.", valueName: "steps"))
    var depth = 1

    @Flag(
        help:
            """
            Prints a graph for Graphviz, as in: espalier refs cache User:1 --dot | dot -Tsvg -o \
            refs.svg
            """
    )
    var dot = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard depth >= 1 else { throw ValidationError("--depth must be at least 1.") }
        guard !dot || output.format == .table else {
            throw ValidationError("--dot cannot be combined with --format.")
        }
    }

    func run() throws {
        let (graph, names, unreadable) = try cache.inspect(explore)
        if dot {
            try Console.print(DotGraph(graph: graph, names: names).text)
        } else {
            try output.print(ReferenceReport(graph: graph, names: names))
        }
        if unreadable > 0 {
            let records = counted(unreadable, "damaged record")
            Console.note(
                "the references of \(records) are unknown; espalier verify describes the damage.")
        }
    }

    private func explore(
        _ inspection: Inspection
    ) throws -> (ReferenceGraph, names: [Handle: RecordName], unreadable: Int) {
        guard let found = try inspection.entry(named: entry.entry) else {
            throw try inspection.notFound(entry.entry)
        }
        let start = found.handle
        if case .damaged(let detail) = try inspection.record(of: found),
            case .record = try inspection.record(start)
        {
            throw CommandFailure("\(entry.entry): \(detail)", kind: .miss)
        }
        var finder = ReferenceFinder(inspection)
        let graph = try ReferenceGraph(around: start, depth: depth) {
            try finder.references($0, $1)
        }
        var names = RecordNames(inspection)
        var named: [Handle: RecordName] = [:]
        for handle in [start] + graph.edges.flatMap({ [$0.source, $0.target] }) {
            named[handle] = try names[handle]
        }
        return (graph, named, finder.unreadable.count)
    }
}
#endif

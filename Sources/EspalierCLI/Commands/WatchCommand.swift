#if CommandLine
import ArgumentParser
import EspalierStore

/// `espalier watch`: prints what every process commits, as it happens.
struct WatchCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Prints what any process commits, as it happens.",
        discussion: """
            Prints a line for each node, key or collection that a commit changes, with the number \
            of the commit and of the process, until Ctrl-C, --count commits, or the removal of the \
            cache; with --format json a line is an object for a commit. The change "reset" says \
            that anything may have changed: the cache was emptied, or this command could not keep \
            up. Keys stand for collections, too.

            While it runs, every process that writes also stores what it changes, in a part of at \
            most a 128th of the budget.
            """)

    @OptionGroup var cache: CacheArgument

    // The name of a type may begin with a dash.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Prints only nodes of this type. The identifier of a node that is no longer stored \
            tells its type: Person:1 is a Person.
            """, valueName: "type"))
    var type: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Ends after this many commits.", valueName: "count"))
    var count: Int?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard count ?? 1 >= 1 else { throw ValidationError("--count must be at least 1.") }
    }

    @MainActor
    func run(on cache: NormalizedCache) async throws {
        try await ChangeWatch(
            cache: cache, path: self.cache.cache, type: type, count: count, output: output
        ).run()
    }
}
#endif

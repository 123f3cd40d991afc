#if CommandLine
import ArgumentParser
import EspalierStore

/// `espalier demo`: shows what the cache does, in seven steps and a few seconds.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Shows in seven steps what the cache does, with a generated feed.",
        discussion: """
            Stores a feed in a temporary directory, shows a tree and its records, changes, \
            deletes, reopens, and fills a small cache until it evicts. The demo checks every \
            sentence with a check mark, and exits with 1 if one does not hold.
            """)

    @Option(
        help: ArgumentHelp(
            "Keeps the cache in this directory, which must be empty or not exist.",
            valueName: "directory"),
        completion: .directory)
    var keep: String?

    @Option(help: "The seed of the feed.")
    var seed: UInt64 = 1

    @Option(help: "The number of messages in the feed.")
    var messages = 20_000

    @Option(
        help: "Whether the output is colored; auto colors on a terminal, unless NO_COLOR is set.")
    var color = ColorChoice.auto

    func validate() throws {
        guard keep != "" else { throw ValidationError("--keep needs a directory.") }
        guard (SocialFeed.leastMessages...50_000).contains(messages) else {
            throw ValidationError("--messages must be from \(SocialFeed.leastMessages) to 50000.")
        }
    }

    @MainActor
    func run() async throws {
        let narration = Narration(
            palette: color.palette(isTerminal: Terminal.isOutput),
            width: min(max(Terminal.width ?? 80, 40), 80), isLive: Terminal.isOutput)
        let directory = try DemoDirectory(keeping: keep)
        defer { directory.end() }
        do {
            var demonstration = try Demonstration(
                narration, in: directory, SocialFeed(seed: seed, messages: messages))
            try await demonstration.run()
        } catch let error as CacheError {
            throw CacheArgument.failure(error, at: directory.path)
        }
    }
}
#endif

import ArgumentParser
import EspalierStore

/// `espalier demo`: what the cache is for, in seven steps and a few seconds.
struct DemoVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Shows in seven steps what the cache does, with a made-up feed.",
        discussion: """
            Stores a feed in a temporary directory, looks at a tree and its records, changes and deletes, reopens, and fills a small \
            cache until it evicts. Every sentence with a check mark is checked; exits with 1 if one does not hold.
            """)

    @Option(
        help: ArgumentHelp(
            "Keeps the cache in a directory, which must not exist or must be empty.",
            valueName: "directory"),
        completion: .directory)
    var keep: String?

    @Option(help: "Another seed makes another feed.")
    var seed: UInt64 = 1

    @Option(help: "Messages of the feed.")
    var messages = 20_000

    @Option(help: "When the output is coloured; auto is on a terminal, unless NO_COLOR is set.")
    var color = ColorChoice.auto

    func validate() throws {
        guard keep != "" else { throw ValidationError("--keep needs a directory.") }
        guard (SocialFeed.leastMessages...50_000).contains(messages) else {
            throw ValidationError("--messages is from \(SocialFeed.leastMessages) to 50000.")
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

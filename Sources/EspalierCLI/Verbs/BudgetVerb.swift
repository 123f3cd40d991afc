import ArgumentParser
import EspalierStore

/// `espalier budget`: shows the budget of a cache, or changes it.
struct BudgetVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget", abstract: "Prints the budget of the cache, or sets it.",
        discussion: """
            The most bytes that the cache's directory may take, from 1MiB to 64GiB, for every process. A larger one holds at \
            once. For a smaller one the least recently used trees are evicted and what is left is copied; old and new together \
            stay within the old budget, for which more may have to go, unless --exceed lets them pass it meanwhile. Processes \
            that have the cache open go on with the new budget.
            """)

    @OptionGroup var cache: CacheArgument

    @Argument(help: "The new budget, as in 50MiB.", transform: SizeArgument.init(parsing:))
    var size: SizeArgument?

    @Flag(help: "Lets the directory take more than the old budget while it is changed.")
    var exceed = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !exceed || size != nil else {
            throw ValidationError("--exceed goes with a new budget.")
        }
        guard let size else { return }
        let allowed = Configuration.smallestBudget.bytes...Configuration.largestBudget.bytes
        guard allowed.contains(size.bytes) else {
            throw ValidationError("A budget is between 1MiB and 64GiB.")
        }
    }

    func run() async throws {
        let cache = try cache.openExisting()
        defer { cache.close() }
        do {
            if let size {
                try await cache.setBudget(ByteCount(size.bytes), mayExceed: exceed).committed
            }
            let pinned = try cache.inspect { try $0.pinnedBytes }
            try output.print(
                BudgetReport(
                    statistics: cache.statistics(), condition: cache.condition(),
                    pinnedBytes: pinned))
        } catch let error as CacheError {
            throw self.cache.failure(error)
        }
    }
}

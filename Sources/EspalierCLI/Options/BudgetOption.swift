import ArgumentParser
import EspalierStore

/// How large a new cache may get.
struct BudgetOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The most bytes that the cache's directory may take, as in 50MiB.",
            discussion:
                "Applies when the cache is made; 50MiB without. espalier budget changes that of a cache.",
            valueName: "size"),
        transform: SizeArgument.init(parsing:))
    var budget: SizeArgument?

    func validate() throws {
        guard let budget else { return }
        let allowed = Configuration.smallestBudget.bytes...Configuration.largestBudget.bytes
        guard allowed.contains(budget.bytes) else {
            throw ValidationError("A budget is between 1MiB and 64GiB.")
        }
    }
}

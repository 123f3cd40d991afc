import ArgumentParser

/// How many results are enough.
struct LimitOption: ParsableArguments {
    @Option(help: ArgumentHelp("Stops after this many.", valueName: "count"))
    var limit: Int?

    func validate() throws {
        guard limit ?? 1 >= 1 else { throw ValidationError("--limit is at least 1.") }
    }
}

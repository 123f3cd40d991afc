#if CommandLine
import ArgumentParser

/// The arguments that name a node, a collection or a key.
struct EntryOptions: ParsableArguments {
    @Argument(help: "The identifier of a node, TYPE:ID.")
    var identifier: String?

    @Option(help: ArgumentHelp("The key of a collection.", valueName: "key"))
    var collection: String?

    @Option(
        help: ArgumentHelp(
            "The key of a stored value; without such a key, the identifier of a node.",
            valueName: "key"))
    var key: String?

    func validate() throws {
        let given = [identifier, collection, key].compactMap { $0 }
        guard given.count == 1 else {
            throw ValidationError("Give one of: an identifier, --collection, --key.")
        }
        guard given[0] != "" else {
            throw ValidationError("An identifier or key must not be empty.")
        }
    }

    var entry: EntryName {
        if let collection { return .collection(collection) }
        if let key { return .key(key) }
        return .node(identifier ?? "")
    }
}

/// The option that limits the number of results.
struct LimitOption: ParsableArguments {
    @Option(help: ArgumentHelp("Stops after this many results.", valueName: "count"))
    var limit: Int?

    func validate() throws {
        guard limit ?? 1 >= 1 else { throw ValidationError("--limit must be at least 1.") }
    }
}
#endif

import ArgumentParser

/// What can be pinned: a node or a collection.
struct PinOptions: ParsableArguments {
    @Argument(help: "The identifier of a node, TYPE:ID.")
    var identifier: String?

    @Option(help: ArgumentHelp("A collection, by its key.", valueName: "key"))
    var collection: String?

    func validate() throws {
        guard identifier == nil || collection == nil else {
            throw ValidationError("Give an identifier or --collection, not both.")
        }
        guard (identifier ?? collection) != "" else {
            throw ValidationError("An identifier or key is not empty.")
        }
    }

    /// Nil where none was given.
    var entry: EntryOptions.Entry? {
        collection.map { .collection($0) } ?? identifier.map { .node($0) }
    }
}

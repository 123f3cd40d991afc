import ArgumentParser

/// What in the cache a verb is about: a node, a collection or a key.
struct EntryOptions: ParsableArguments {
    @Argument(help: "The identifier of a node, TYPE:ID.")
    var identifier: String?

    @Option(help: ArgumentHelp("A collection, by its key.", valueName: "key"))
    var collection: String?

    @Option(
        help: ArgumentHelp(
            "What was stored under a key; else the node of that identifier.", valueName: "key"))
    var key: String?

    func validate() throws {
        let given = [identifier, collection, key].compactMap { $0 }
        guard given.count == 1 else {
            throw ValidationError("Give one of an identifier, --collection and --key.")
        }
        guard given[0] != "" else { throw ValidationError("An identifier or key is not empty.") }
    }

    enum Entry {
        case node(String)
        case collection(String)
        case key(String)
    }

    var entry: Entry {
        if let collection { return .collection(collection) }
        if let key { return .key(key) }
        return .node(identifier ?? "")
    }
}

extension EntryOptions.Entry: CustomStringConvertible {
    var description: String {
        switch self {
        case .node(let identifier): identifier
        case .collection(let key): "collection \(key)"
        case .key(let key): "key \(key)"
        }
    }
}

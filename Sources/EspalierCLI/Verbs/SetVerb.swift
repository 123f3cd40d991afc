import ArgumentParser
import EspalierStore

/// `espalier set`: stores one model, under its identifier or under a key.
struct SetVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Stores one model: a JSON document that is an object.",
        discussion: """
            With --key the model is stored under that key: a reference to its node, or the object itself when it has \
            no identity.
            """)

    @OptionGroup var cache: CacheArgument

    @Argument(help: "A JSON document; - is standard input.", completion: .file())
    var file: String

    @OptionGroup var identity: IdentityOptions

    @Option(help: "Stores the model under this key.")
    var key: String?

    @OptionGroup var budget: BudgetOption
    @OptionGroup var compression: CompressionOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try identity.require()
        guard key != "" else { throw ValidationError("--key needs a key.") }
    }

    @MainActor
    func run() async throws {
        let file = InputFile(path: file)
        let model = identity.rule.tree(
            from: try file.parse(), type: identity.rootType(at: .document))
        guard case .object = model else {
            throw CommandFailure(
                "\(file.name): the document is no object. Store the elements of an array with import."
            )
        }
        let document = ModelDocument(name: file.name, models: [model])
        if key == nil, model.modelIdentifier == nil {
            throw CommandFailure(
                "\(file.name): the object has no identity under \(identity.idKey). Give another --id-key, or a --key."
            )
        }
        let cache = try cache.openOrCreate(
            budget: budget.budget, compression: compression.compression)
        defer { cache.close() }
        do {
            var recording = try WriteRecording(of: cache, policy: identity.policy)
            if let key { recording.setModel(model, forKey: key) } else { recording.set(document) }
            try output.print(await recording.finish())
        } catch let error as CacheError {
            throw self.cache.failure(error)
        }
    }
}

import ArgumentParser
import EspalierStore

/// `espalier import`: stores the models of JSON documents, or the records of an export.
///
/// All files are read and checked before anything is stored: after an error in one of them the
/// cache is as it was.
struct ImportVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract:
            "Stores the models of JSON documents, one record for each object with an identity, or an export.",
        discussion: """
            The models are the elements of the array at --path, or of the document if it is an array; anything else \
            is one model. With --collection they are stored as that collection too, those of all files in order, and \
            models without an identity stand in it as they are. Importing what is stored already writes nothing.

            Where a document says different things of one node, the first one in it counts, members taken in the \
            order of their names; "contradictions" are the others.

            With --records the files are what export printed: each line is put in place of what stands under its name. All \
            lines are checked before any is stored. What they refer to has a line too, or is in the cache.
            """)

    @OptionGroup var cache: CacheArgument

    @Argument(
        help:
            "JSON documents, or exports; - is standard input, which --records reads when there is none.",
        completion: .file())
    var files: [String] = []

    @Flag(
        help:
            "The files hold the lines of an export; options about identities and models don't go with it."
    )
    var records = false

    @OptionGroup var identity: IdentityOptions

    @Option(
        help: ArgumentHelp(
            "Where in a document the models are, as in search.statuses.", valueName: "path"),
        transform: RootPath.init(parsing:))
    var path: RootPath?

    @Option(
        help: ArgumentHelp("Stores the models as a collection under this key.", valueName: "key"))
    var collection: String?

    @OptionGroup var budget: BudgetOption
    @OptionGroup var compression: CompressionOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard files.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("Standard input can be read once only.")
        }
        guard collection != "" else { throw ValidationError("--collection needs a key.") }
        guard records else {
            guard !files.isEmpty else {
                throw ValidationError("Missing expected argument '<files> ...'")
            }
            return try identity.require()
        }
        let others =
            identity.given + (path == nil ? [] : ["--path"])
            + (collection == nil ? [] : ["--collection"])
        if let other = others.first {
            throw ValidationError("\(other) does not go with --records.")
        }
    }

    @MainActor
    func run() async throws {
        guard !records else { return try await importRecords() }
        let documents = try files.map { try models(in: InputFile(path: $0, mayBeExport: true)) }
        let cache = try cache.openOrCreate(
            budget: budget.budget, compression: compression.compression)
        defer { cache.close() }
        do {
            var recording = try WriteRecording(of: cache, policy: identity.policy)
            if let collection {
                try await recording.setCollection(documents.flatMap(\.models), forKey: collection)
            } else {
                for document in documents { recording.set(document) }
            }
            let summary = try await recording.finish()
            try output.print(summary)
            if summary.evicted > 0 {
                Console.note(
                    "\(summary.evicted) records were evicted to make room. espalier budget sets how much there is."
                )
            }
        } catch let error as CacheError {
            throw self.cache.failure(error)
        }
    }

    @MainActor
    private func importRecords() async throws {
        let records = try RecordImport(
            of: (files.isEmpty ? ["-"] : files).map { InputFile(path: $0) })
        do {
            // Where there is no cache there is none after an error, either.
            let existing = try cache.openIfThere()
            defer { existing?.close() }
            try records.requireTargets(in: existing)
            try records.requireRoom(
                in: existing?.statistics().budget
                    ?? Configuration.commandLine(budget: budget.budget).budget)
            existing?.close()
            let cache = try cache.openOrCreate(
                budget: budget.budget, compression: compression.compression)
            defer { cache.close() }
            try output.print(await records.store(in: cache))
        } catch let error as CacheError {
            throw cache.failure(error)
        }
    }

    private func models(in file: InputFile) throws(CommandFailure) -> ModelDocument {
        let path = path ?? .document
        let document = try ModelDocument(
            file, at: path, type: identity.rootType(at: path), rule: identity.rule)
        if collection == nil { try document.requireIdentities(under: identity.idKey) }
        return document
    }
}

#if CommandLine
import ArgumentParser
import EspalierInspection
import EspalierRecords
import EspalierStore

/// `espalier import`: stores the models of JSON documents, or the records of an export.
///
/// The command reads and parses all files before it stores anything: an error in one of them leaves
/// the cache as it was. If the cache refuses a write, because it is too large, other writes of the
/// same command are stored, and the error says how many.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract:
            """
            Stores the models of JSON documents, one record per object with an identity, or an \
            export.
            """,
        discussion: """
            If the document, or a value at --path, is an array, each element is a model. Any \
            other value is one model. A path with * selects several values: data.edges[*].node. \
            --collection also stores the models of all files, in order, \
            as a collection; models without an identity are stored inline in it. Importing stored \
            models again writes nothing.

            If a document describes a node in different ways, the first description counts, with \
            members in the order of their names. "contradictions" counts the others. With \
            --merge, the others add the members that those before them lack, and \
            "contradictions" counts those that differ in a member that both have. A node of a \
            later file replaces that of an earlier one, or is merged into it. A document of more \
            than 2,048 models, or of more than a 32nd of the budget, is stored in several parts \
            (with --collection, one of more than an eighth of the budget). A node of a later part \
            then replaces that of an earlier one, too; with --merge only if the document is \
            larger than an eighth of the budget. If an \
            object has a member twice, the last one counts.

            --records imports files that export printed: each line replaces the record of its \
            name. The command checks all lines before it stores any. A record that a line refers \
            to must have a line too, or be in the cache.
            """)

    @OptionGroup var cache: CacheArgument

    @Argument(
        help:
            "JSON documents or exports; - is standard input, the default with --records.",
        completion: .file())
    var files: [String] = []

    @Flag(
        help:
            "Imports exports. Cannot be combined with options about identities and models."
    )
    var records = false

    @Flag(
        help: """
            A file has several documents, one after the other, as in JSON Lines. --path applies \
            to each.
            """
    )
    var lines = false

    @OptionGroup var identity: IdentityOptions

    @Option(
        help: ArgumentHelp(
            "The path to the models in a document, as in search.statuses.",
            discussion: "A name with a dot or a bracket is written ['a.b'].", valueName: "path"),
        transform: { try JSONPath(parsing: $0) })
    var path: JSONPath?

    @Option(
        help: ArgumentHelp(
            "Also stores the models as a collection under this key.", valueName: "key"))
    var collection: String?

    @OptionGroup var budget: BudgetOption
    @OptionGroup var compression: CompressionOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard files.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("Standard input can be read only once; give - once.")
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
            + (collection == nil ? [] : ["--collection"]) + (lines ? ["--lines"] : [])
        if let other = others.first {
            throw ValidationError("\(other) cannot be combined with --records.")
        }
    }

    @MainActor
    func run() async throws {
        guard !records else { return try await importRecords() }
        let documents = try files.map { try models(in: InputFile(path: $0, mayBeExport: true)) }
        identity.noteUnused(in: documents, at: path ?? .document)
        let cache = try cache.openOrCreate(
            budget: budget.budget, compression: compression.compression)
        defer { cache.close() }
        do {
            var recording = try WriteRecording(of: cache, policy: identity.policy)
            if let collection {
                try await recording.setCollection(documents, forKey: collection)
            } else {
                for document in documents { recording.set(document) }
            }
            let summary = try await recording.finish()
            try output.print(summary)
            if let note = summary.note(of: identity.policy) { Console.note(note) }
            if let note = summary.noteOfReplacements { Console.note(note) }
            Console.noteEvictions(summary.evicted)
        } catch let error as CacheError {
            throw self.cache.failure(error)
        }
    }

    @MainActor
    private func importRecords() async throws {
        let records = try RecordImport(
            of: (files.isEmpty ? ["-"] : files).map { InputFile(path: $0) })
        do {
            // If there is no cache, an error must not leave an empty one behind.
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
            let summary = try await records.store(in: cache)
            try output.print(summary)
            Console.noteEvictions(summary.evicted)
        } catch let error as CacheError {
            throw cache.failure(error)
        }
    }

    private func models(in file: InputFile) throws(CommandFailure) -> ModelDocument {
        let path = path ?? .document
        let document = try ModelDocument(
            file, isSequence: lines, at: path, type: identity.rootType(at: path),
            rule: identity.rule)
        if collection == nil { try document.requireIdentities(under: identity.idKey) }
        return document
    }
}

/// `espalier set`: stores one model under its identifier or under a key.
struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Stores a JSON object as one model.",
        discussion: """
            --key stores the model under a key: a reference to its node, or the object itself if \
            it has no identity.
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
                """
                \(file.name): the document is not an object. Store the elements of an array with \
                espalier import.
                """
            )
        }
        let document = ModelDocument(name: file.name, models: [model])
        identity.noteUnused(in: [document], at: .document)
        if key == nil, model.modelIdentifier == nil {
            throw CommandFailure(
                """
                \(file.name): the object has no identity under \(identity.idKey). Give another \
                --id-key, or a key with --key.
                """
            )
        }
        let cache = try cache.openOrCreate(
            budget: budget.budget, compression: compression.compression)
        defer { cache.close() }
        do {
            var recording = try WriteRecording(of: cache, policy: identity.policy)
            if let key { recording.setModel(model, forKey: key) } else { recording.set(document) }
            let summary = try await recording.finish()
            try output.print(summary)
            if let note = summary.note(of: identity.policy) { Console.note(note) }
        } catch let error as CacheError {
            throw self.cache.failure(error)
        }
    }
}

/// `espalier delete`: deletes a node, a collection or a key.
struct DeleteCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Deletes a node, a collection or a key.",
        discussion: """
            Members that refer to a deleted node read as null, and elements are left out. Deleting \
            a collection or a key does not delete the nodes it refers to. Exits with 2 if there is \
            nothing to delete.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var entry: EntryOptions

    @MainActor
    func run(on cache: NormalizedCache) async throws {
        // Those of other processes would count as deletions.
        let (entry, changes) = (entry.entry, cache.ownChangeSets())
        // Asked before the cache is closed. A damaged index must not keep the entry from being
        // deleted.
        let failure = try? cache.inspect {
            try $0.notFound(entry, ", nothing was deleted", keyFindsNode: false)
        }
        let wasThere = try? cache.inspect { inspection in
            guard let handle = try inspection.handle(of: entry.text, in: entry.nameSpace),
                case .record = try inspection.record(handle)
            else { return false }
            return true
        }
        let ticket =
            switch entry.nameSpace {
            case .collection: cache.deleteCollection(forKey: entry.text)
            case .key: cache.deleteModel(forKey: entry.text)
            case .node, .segment: cache.delete(entry.text)
            }
        try await ticket.committed(for: entry)
        // Closing ends the sequence of changes.
        cache.close()
        for await change in changes {
            // The lists may have other names, too: of records evicted for the budget.
            let names = entry.nameSpace == .node ? change.deleted : change.keys
            if names.contains(where: { $0.hasSameBytes(as: entry.text) }) { return }
        }
        // Below an optimistic change, a deletion changes nothing that readers see.
        if wasThere == true { return }
        throw failure ?? CommandFailure("\(entry): not found, nothing was deleted", kind: .miss)
    }
}
#endif

import ArgumentParser
import EspalierRecords
import EspalierStore

/// `espalier get`: reassembles what is stored and prints it.
struct GetVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints a node, a collection or what a key names as JSON, reassembled.",
        discussion: """
            Where a node was deleted, a member is null and an element is left out. A miss says why and exits with 2. As a \
            table or CSV it is a row for each value and where it stands, as in entities.media[0].url.

            --explain tells instead how the read goes: hit or miss, where and why, and how the records that decide it are stored. \
            As the tool knows no types, it also lists what only some types can be read over: deleted records, references back, \
            depth. It counts as no access. --raw prints the bytes of the record itself, its parts named, the payload as stored and \
            decompressed; in JSON as digits. Both are tables without --format, work on damaged records, and exit with 2 after what \
            they print if there is a miss or damage.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var entry: EntryOptions

    @Flag(help: "Tells how the read goes instead, and how its records are stored.")
    var explain = false

    @Flag(help: "Prints the bytes of the record instead.")
    var raw = false

    @Flag(help: "Prints JSON on one line.")
    var compact = false

    @OptionGroup var output: JSONOutputOptions

    func validate() throws {
        guard !explain || !raw else { throw ValidationError("--explain does not go with --raw.") }
        let format = explain || raw ? output.givenFormat : output.format
        guard !compact || format == .json else {
            throw ValidationError("--compact goes with JSON only.")
        }
    }

    func run() throws {
        if explain { return try printExplanation() }
        if raw { return try printBytes() }
        let cache = try cache.openExisting()
        defer { cache.close() }
        let value: JSONValue
        switch entry.entry {
        case .node(let identifier):
            value = try hit(cache.readOutcome(JSONTree.self, identifier), in: cache).value
        case .key(let key):
            value = try hit(cache.modelOutcome(JSONTree.self, forKey: key), in: cache).value
        case .collection(let key):
            value = .array(
                try hit(cache.collectionOutcome(of: JSONTree.self, forKey: key), in: cache).map(
                    \.value))
        }
        if compact {
            try Console.print(value, style: .compact)
        } else {
            try output.print(LeafReport(tree: value))
        }
    }

    private func printExplanation() throws {
        let explanation = try cache.inspect { inspection in
            guard let explanation = try ReadExplanation(of: entry.entry, in: inspection) else {
                throw try notFound(in: inspection)
            }
            return explanation
        }
        try print(explanation)
        if let reason = explanation.reason { throw cache.failure("\(entry.entry)", reason) }
    }

    private func printBytes() throws {
        let dump = try cache.inspect { inspection in
            guard let found = try entry.entry.indexEntry(in: inspection) else {
                throw try notFound(in: inspection)
            }
            guard let anatomy = try inspection.anatomy(of: found.handle) else {
                let kind = RecordName(try inspection.record(found.handle)).kind
                throw CommandFailure(
                    "\(entry.entry): it has no bytes, it is \(kind.rawValue)", kind: .miss)
            }
            return RecordDump(identifier: found.identifier, anatomy: anatomy)
        }
        if output.givenFormat ?? .table == .table {
            try output.print(dump.table, as: .table)
        } else {
            try print(dump)
        }
        if let problem = dump.anatomy.problem {
            throw CommandFailure("\(entry.entry): \(problem)", kind: .miss)
        }
    }

    private func print(_ result: some Printable) throws {
        if compact { return try Console.print(result.json, style: .compact) }
        try output.print(result, as: output.givenFormat ?? .table)
    }

    private func notFound(in inspection: Inspection) throws -> CommandFailure {
        CommandFailure(
            "\(entry.entry): not found\(try inspection.advice(onMissing: entry.entry))", kind: .miss
        )
    }

    private func hit<Value>(_ outcome: ReadOutcome<Value>, in cache: NormalizedCache) throws
        -> Value
    {
        switch outcome {
        case .miss(.notFound):
            throw try cache.inspect { try notFound(in: $0) }
        case .miss(let reason): throw self.cache.failure("\(entry.entry)", reason)
        case .hit(let hit):
            if hit.isCut {
                Console.note("references back to an object that contains them are left out.")
            }
            return hit.value
        }
    }
}

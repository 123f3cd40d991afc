#if CommandLine
import ArgumentParser
import EspalierInspection
import EspalierRecords
import EspalierStore

/// `espalier get`: reassembles a tree and prints it, explains the read, or prints stored bytes.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints a node, a collection or the value of a key, reassembled as JSON.",
        discussion: """
            A member that refers to a deleted node is null; an element is left out. A miss prints \
            its reason and exits with 2. A table or CSV has one row per value, with its path, as \
            in entities.media[0].url.

            --json-path prints a part of the tree: the value at a path such as \
            entities.media[0].url, or the list of all values at a path with '*' or '..', as in \
            entities.media[*].url and ..name. It follows RFC 9535, without filters and slices.

            --explain prints how the read goes instead: hit or miss, where and why, and how the \
            records involved are stored. The tool knows no types, so it also lists places that \
            only some types can read: deleted records, references back, depth. It does not count \
            as an access.

            --raw prints the bytes of the record by part, the payload as stored and decompressed; \
            in JSON as hex digits. --explain and --raw print a table by default, work on damaged \
            records, and exit with 2 after their output if there is a miss or damage.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var entry: EntryOptions

    @Flag(help: "Prints how the read goes and how its records are stored instead.")
    var explain = false

    @Flag(help: "Prints the bytes of the record instead.")
    var raw = false

    @Option(
        help: "Prints the value, or the values, at this path of the tree.",
        transform: { try JSONPath(parsing: $0) })
    var jsonPath: JSONPath?

    @Flag(help: "Prints JSON on one line.")
    var compact = false

    @OptionGroup var output: JSONOutputOptions

    func validate() throws {
        guard !explain || !raw else {
            throw ValidationError("--explain cannot be combined with --raw.")
        }
        guard jsonPath == nil || !explain && !raw else {
            throw ValidationError("--json-path cannot be combined with --explain or --raw.")
        }
        let format = explain || raw ? output.givenFormat : output.format
        guard !compact || format == .json else {
            throw ValidationError("--compact requires the format json.")
        }
    }

    func run() throws {
        if explain { return try printExplanation() }
        if raw { return try printBytes() }
        let cache = try cache.openExisting()
        defer { cache.close() }
        let name = entry.entry.text
        let tree: JSONTree =
            switch entry.entry.nameSpace {
            case .collection:
                .array(
                    try hit(
                        cache.collectionOutcome(
                            of: JSONTree.self, forKey: name, accepting: .stale), in: cache))
            case .key:
                try hit(
                    cache.modelOutcome(JSONTree.self, forKey: name, accepting: .stale), in: cache)
            case .node, .segment:
                try hit(cache.readOutcome(JSONTree.self, name, accepting: .stale), in: cache)
            }
        try print(LeafReport(tree: part(of: tree.value)), as: output.format)
    }

    /// Returns what the path selects: one value, or a list of them.
    private func part(of tree: JSONValue) throws -> JSONValue {
        guard let jsonPath else { return tree }
        let values = jsonPath.values(in: tree)
        guard jsonPath.isSingular else { return .array(values) }
        guard let value = values.first else {
            throw CommandFailure("\(entry.entry): it has nothing at this path", kind: .miss)
        }
        return value
    }

    private func printExplanation() throws {
        let explanation = try cache.inspect { inspection in
            guard let explanation = try ReadExplanation(of: entry.entry, in: inspection) else {
                throw try inspection.notFound(entry.entry)
            }
            return explanation
        }
        try print(explanation, as: output.givenFormat ?? .table)
        if let reason = explanation.reason { throw cache.failure("\(entry.entry)", reason) }
    }

    private func printBytes() throws {
        let dump = try cache.inspect { inspection in
            guard let found = try inspection.entry(named: entry.entry) else {
                throw try inspection.notFound(entry.entry)
            }
            guard let anatomy = try inspection.anatomy(of: found.handle) else {
                let kind = RecordName(try inspection.record(found.handle)).kind
                throw CommandFailure(
                    "\(entry.entry): the record has no bytes: \(kind.rawValue)", kind: .miss)
            }
            return RecordDump(identifier: found.identifier, anatomy: anatomy)
        }
        try print(dump, as: output.givenFormat ?? .table)
        if let problem = dump.anatomy.problem {
            throw CommandFailure("\(entry.entry): \(problem)", kind: .miss)
        }
    }

    private func print(_ result: some Printable, as format: Format) throws {
        if compact { return try Console.print(result.json, style: .compact) }
        try output.print(result, as: format)
    }

    private func hit<Value>(_ outcome: ReadOutcome<Value>, in cache: NormalizedCache) throws
        -> Value
    {
        switch outcome {
        case .miss(.notFound):
            throw try cache.inspect { try $0.notFound(entry.entry) }
        case .miss(let reason): throw self.cache.failure("\(entry.entry)", reason)
        case .hit(let hit):
            if hit.isCut {
                Console.note("references back to an enclosing object are left out.")
            }
            if hit.isExpired {
                Console.note("a record has expired: a read of the app misses by default.")
            }
            return hit.value
        }
    }
}
#endif

import ArgumentParser
import EspalierRecords
import EspalierStore

/// `espalier get`: reassembles what is stored and prints it.
struct GetVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Prints a node, a collection or what a key names as JSON, reassembled.",
        discussion: """
            Where a node was deleted, a member is null and an element is left out. A miss says why and exits with 2. As a \
            table or CSV it is a row for each value and where it stands, as in entities.media[0].url.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var entry: EntryOptions

    @Flag(help: "Prints JSON on one line.")
    var compact = false

    @OptionGroup var output: JSONOutputOptions

    func validate() throws {
        guard !compact || output.format == .json else { throw ValidationError("--compact goes with JSON only.") }
    }

    func run() throws {
        let cache = try cache.openExisting()
        defer { cache.close() }
        let value: JSONValue
        switch entry.entry {
        case .node(let identifier): value = try hit(cache.readOutcome(JSONTree.self, identifier), in: cache).value
        case .key(let key): value = try hit(cache.modelOutcome(JSONTree.self, forKey: key), in: cache).value
        case .collection(let key):
            value = .array(try hit(cache.collectionOutcome(of: JSONTree.self, forKey: key), in: cache).map(\.value))
        }
        if compact { try Console.print(value, style: .compact) } else { try output.print(LeafReport(tree: value)) }
    }

    private func hit<Value>(_ outcome: ReadOutcome<Value>, in cache: NormalizedCache) throws -> Value {
        switch outcome {
        case .miss(.notFound):
            let advice = try cache.inspect { try $0.advice(onMissing: entry.entry) }
            throw CommandFailure("\(entry.entry): not found\(advice)", kind: .miss)
        case .miss(let reason): throw self.cache.failure("\(entry.entry)", reason)
        case .hit(let hit):
            if hit.isCut { Console.note("references back to an object that contains them are left out.") }
            return hit.value
        }
    }
}

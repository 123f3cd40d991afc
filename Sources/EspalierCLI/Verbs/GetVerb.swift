import ArgumentParser
import EspalierRecords
import EspalierStore

/// `espalier get`: reassembles what is stored and prints it as JSON.
struct GetVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Prints a node, a collection or what a key names as JSON, reassembled.",
        discussion: """
            Where a node was deleted, a member is null and an element is left out. A miss says why and exits with 2.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var entry: EntryOptions

    @Flag(help: "Prints on one line.")
    var compact = false

    func run() throws {
        let cache = try cache.openExisting()
        defer { cache.close() }
        let value: JSONValue
        switch entry.entry {
        case .node(let identifier): value = try hit(cache.readOutcome(JSONTree.self, identifier)).value
        case .key(let key): value = try hit(cache.modelOutcome(JSONTree.self, forKey: key)).value
        case .collection(let key):
            value = .array(try hit(cache.collectionOutcome(of: JSONTree.self, forKey: key)).map(\.value))
        }
        try Console.print(value, style: compact ? .compact : .pretty)
    }

    private func hit<Value>(_ outcome: ReadOutcome<Value>) throws(CommandFailure) -> Value {
        switch outcome {
        case .miss(let reason): throw cache.failure("\(entry.entry)", reason)
        case .hit(let hit):
            if hit.isCut { Console.note("references back to an object that contains them are left out.") }
            return hit.value
        }
    }
}

import ArgumentParser
import EspalierStore

/// `espalier pin`: keeps a node or a collection from being evicted, or lists what is kept.
struct PinVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Keeps a node or a collection, with all below it, from being evicted.",
        discussion: """
            Without an identifier it lists what is pinned; the columns are those of ls. Pins are stored in the cache, until \
            unpin, or until what is pinned is deleted. All that pins keep may come to half the budget. Pinning what is pinned \
            changes nothing. Exits with 2 if there is nothing of that name.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var pin: PinOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard let entry = pin.entry else {
            return try output.print(
                RecordSummary.report(of: cache.inspect { try PinList($0).summaries(in: $0) }))
        }
        let cache = try cache.openExisting()
        defer { cache.close() }
        let ticket =
            switch entry {
            case .collection(let key): cache.pinCollection(forKey: key)
            case .node(let name), .key(let name): cache.pin(name)
            }
        do {
            try await ticket.committed
        } catch let error as CacheError where error.code == .notFound {
            let advice = try cache.inspect { try $0.advice(onMissing: entry) }
            throw CommandFailure("\(entry): not found\(advice)", kind: .miss)
        } catch {
            throw CommandFailure("\(entry): \(error)")
        }
    }
}

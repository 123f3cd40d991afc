import ArgumentParser
import EspalierStore

/// `espalier unpin`: lets a node or a collection be evicted again.
struct UnpinVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin",
        abstract: "Lets a node or a collection be evicted again when its time comes.",
        discussion: "espalier pin lists what is pinned. Exits with 2 if it is not.")

    @OptionGroup var cache: CacheArgument
    @OptionGroup var pin: PinOptions

    func validate() throws {
        guard pin.entry != nil else { throw ValidationError("Give an identifier or --collection.") }
    }

    func run() async throws {
        guard let entry = pin.entry else { return }
        let cache = try cache.openExisting()
        defer { cache.close() }
        guard try cache.inspect({ try PinList($0).contains(entry) }) else {
            throw CommandFailure("\(entry): not pinned", kind: .miss)
        }
        let ticket =
            switch entry {
            case .collection(let key): cache.unpinCollection(forKey: key)
            case .node(let name), .key(let name): cache.unpin(name)
            }
        do {
            try await ticket.committed
        } catch {
            throw CommandFailure("\(entry): \(error)")
        }
    }
}

import ArgumentParser
import EspalierStore

/// `espalier delete`: takes a node, a collection or a key away.
struct DeleteVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Deletes a node, a collection or a key.",
        discussion: """
            Members that refer to a deleted node read as null, elements are left out. The nodes of a collection, and \
            the node that a key names, stay. Exits with 2 if there is nothing to delete.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var entry: EntryOptions

    func run() async throws {
        let cache = try cache.openExisting()
        defer { cache.close() }
        let changes = cache.changeSets()
        let ticket =
            switch entry.entry {
            case .node(let identifier): cache.delete(identifier)
            case .collection(let key): cache.deleteCollection(forKey: key)
            case .key(let key): cache.deleteModel(forKey: key)
            }
        do {
            try await ticket.committed
        } catch {
            throw CommandFailure("\(entry.entry): \(error)")
        }
        // Ends the sequence of changes.
        cache.close()
        guard await changes.contains(where: { !$0.isEmpty }) else {
            throw CommandFailure("\(entry.entry): not found, nothing was deleted", kind: .miss)
        }
    }
}

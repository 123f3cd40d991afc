import ArgumentParser
import Espalier

/// Edits a long list, and updates one of its rows.
struct Editing: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "editing", abstract: "Edits and updates of a list of 10,000, in memory.")

    @Option(help: "Rows.") var rows = 10_000
    @Option(help: "Edits of each kind.") var edits = 300

    @MainActor
    func run() async throws {
        let manager = DataModelManager(cacheDelegate: NoCache())
        let list = CollectionDataProvider<Person>(dataModelManager: manager)
        list.setData((0..<rows).map { Person(id: $0, name: "Row \($0)") }, cacheKey: nil)
        await manager.flush()
        print("a list of \(rows)")
        await measure("appended, all at once", manager) {
            list.append([Person(id: rows + $0, name: "New")])
        }
        await measure("appended one after the other", manager, isFlushing: true) {
            list.append([Person(id: 2 * rows + $0, name: "New")])
        }
        await measure("inserted at the top one after the other", manager, isFlushing: true) {
            list.insert([Person(id: 3 * rows + $0, name: "New")], at: 0)
        }
        await measure("updated rows, one after the other", manager, isFlushing: true) {
            manager.updateModel(Person(id: 7, name: "New \($0)"))
        }
    }

    @MainActor
    private func measure(
        _ title: String, _ manager: DataModelManager, isFlushing: Bool = false,
        _ body: (Int) -> Void
    ) async {
        let time = await ContinuousClock().measure {
            for number in 0..<edits {
                body(number)
                if isFlushing { await manager.flush() }
            }
            await manager.flush()
        }
        print("  \(title): \((time.microseconds / Double(edits)).rounded()) us each")
    }
}

/// A cache that stores nothing: every read misses.
final class NoCache: CacheDelegate {
    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) { completion(nil, nil) }
    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {}
    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) { completion(nil, nil) }
    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {}
    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {}
}

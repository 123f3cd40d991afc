import EspalierConsistency
import EspalierModels
import EspalierProviders
import EspalierTestSupport
import Testing

/// A walk of random edits, updates and deletions of providers with one key, compared with an array
/// that contains the expected elements.
@MainActor
final class CollectionWalk<Cache: CacheDelegate> {
    typealias Provider = CollectionDataProvider<ChildModel>

    /// A provider with two tables: one applies the steps that the delegate gets, and the other the
    /// differences.
    @MainActor
    final class Screen {
        let provider: Provider
        let table: StepTable
        var stream: AsyncStream<CollectionDataChange<ChildModel>>
        var following: [ChildModel]

        init(_ manager: DataModelManager) async {
            provider = Provider(dataModelManager: manager)
            _ = try? await provider.fetch("key")
            table = StepTable(provider)
            provider.delegate = table
            stream = provider.changes
            following = provider.data
        }
    }

    let cache: Cache
    let manager: DataModelManager
    private(set) var screens: [Screen] = []
    private var random: SeededGenerator
    /// The elements of all providers that are not paused, after delivery.
    private(set) var expected: [ChildModel] = []
    private var single: DataProvider<ChildModel>
    private var expectedSingle: ChildModel?
    private var number = 0

    /// Whether paused providers edit too. The expected elements are then those of the first
    /// provider, which is never paused.
    private let pausedEdit: Bool

    init(_ cache: Cache, seed: UInt64, pausedEdit: Bool = false) {
        self.cache = cache
        self.pausedEdit = pausedEdit
        manager = DataModelManager(cacheDelegate: cache)
        random = SeededGenerator(quietly: seed)
        single = DataProvider(dataModelManager: manager)
    }

    func run(rounds: Int) async {
        while screens.count < 4 { screens.append(await Screen(manager)) }
        if number == 0 { set([next()], screens[0]) }
        for _ in 0..<rounds {
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                await step()
                if random.happens(0.2) { await Task.yield() }
            }
            await manager.flush()
            await check()
        }
        for screen in screens { screen.provider.isPaused = false }
        await manager.flush()
        await check()
    }

    // MARK: Steps

    private func next(_ id: Int? = nil) -> ChildModel {
        number += 1
        if id == nil, random.happens(0.05) { return ChildModel(id: nil, name: "inline \(number)") }
        return ChildModel(id: id ?? Int.random(in: 0..<8, using: &random), name: "\(number)")
    }

    /// Applies the update of a model to the expected elements.
    private func apply(_ models: [ChildModel]) {
        var seen: Set<Int> = []
        for model in models {
            // The first version of an identifier in one update counts.
            guard let id = model.id, seen.insert(id).inserted else { continue }
            expected = expected.map { $0.id == id ? model : $0 }
            if expectedSingle?.id == id { expectedSingle = model }
        }
    }

    private func step() async {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<8: edit()
        case 8..<11:
            let models = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                next(Int.random(in: 0..<8, using: &random))
            }
            manager.updateModels(models)
            apply(models)
        case 11, 12:
            let id = Int.random(in: 0..<8, using: &random)
            manager.deleteModel(ChildModel.row(id))
            expected.removeAll { $0.id == id }
            if expectedSingle?.id == id { expectedSingle = nil }
        case 13:
            let new = (0..<Int.random(in: 0...4, using: &random)).map { _ in next() }
            if let screen = author() { set(new, screen) }
        case 14..<16:
            let model = next()
            single.setData(model)
            expectedSingle = model
            apply([model])
        case 16..<18:
            if let screen = screens.dropFirst(pausedEdit ? 1 : 0).randomElement(using: &random) {
                screen.provider.isPaused.toggle()
            }
        case 18:
            let model = next()
            Provider.append([model], cacheKey: "key", dataModelManager: manager)
            expected.append(model)
            apply([model])
        default:
            let index = Int.random(in: 1..<screens.count, using: &random)
            screens[index] = await Screen(manager)
        }
    }

    /// Returns a provider that shows the current elements. If paused providers edit too, it is any
    /// provider.
    private func author() -> Screen? {
        screens.filter { pausedEdit || !$0.provider.isPaused }.randomElement(using: &random)
    }

    private func set(_ new: [ChildModel], _ screen: Screen) {
        screen.provider.setData(new, cacheKey: "key")
        screen.table.reload()
        expected = new
        apply(new)
    }

    private func edit() {
        guard let screen = author() else { return }
        let (provider, count) = (screen.provider, screen.provider.count)
        let way = Int.random(in: 0..<7, using: &random)
        let index = Int.random(in: 0...count, using: &random)
        let new = (0..<(way == 2 ? 1 : Int.random(in: 1...2, using: &random))).map { _ in next() }
        // A deleted element is gone here, but shown until the deletion is delivered. Edits refer to
        // the shown elements.
        let settled = pausedEdit || provider.data.map(\.id) == expected.map(\.id)
        if pausedEdit { expected = provider.data }
        switch way {
        case 0:
            guard settled || index == 0 else { return }
            provider.insert(new, at: index)
            expected.insert(contentsOf: new, at: index)
        case 1:
            provider.append(new)
            expected += new
        case 2:
            guard settled, index < count else { return }
            provider.update(new[0], at: index)
            expected[index] = new[0]
        case 3:
            guard settled, index < count else { return }
            provider.remove(at: index)
            expected.remove(at: index)
        case 4:
            guard settled, index < count else { return }
            let destination = Int.random(in: 0..<count, using: &random)
            provider.move(from: index, to: destination)
            expected.insert(expected.remove(at: index), at: destination)
        case 5:
            guard settled else { return }
            let removed = Set((0..<3).map { _ in Int.random(in: 0..<8, using: &random) as Int? })
            let count = provider.remove(where: { removed.contains($0.id) })
            #expect(count == expected.count - provider.count, "\(random) \(number)")
            expected.removeAll { removed.contains($0.id) }
        default: return replace(screen, by: new)
        }
        screen.table.reload()
        if way < 3 { apply(new) }
    }

    /// Replaces the elements by some of them in another order, and new ones. The provider's own
    /// table applies the steps.
    private func replace(_ screen: Screen, by new: [ChildModel]) {
        let count = Int.random(in: 0...screen.provider.count, using: &random)
        let kept = screen.provider.data.shuffled(using: &random).prefix(count)
        let list = (kept + new).shuffled(using: &random)
        let change = screen.provider.replaceData(with: list)
        if change != .changes([]) {
            screen.table.collectionDataProviderHasUpdatedData(
                screen.provider, collectionChanges: change, context: nil)
        }
        expected = list
        apply(list)
    }

    // MARK: Checking

    private func check() async {
        if pausedEdit { expected = screens[0].provider.data }
        for screen in screens where !screen.provider.isPaused {
            #expect(screen.provider.data == expected, "\(random) \(number)")
        }
        #expect(single.data == expectedSingle, "\(random) \(number)")
        for screen in screens {
            #expect(screen.table.elements == screen.provider.data, "\(random) \(number)")
            while screen.following != screen.provider.data {
                guard let change = await first(of: screen.stream) else { break }
                #expect(change.previous == screen.following, "\(random) \(number)")
                #expect(
                    change.previous.applying(change.difference) == change.data,
                    "\(random) \(number)")
                screen.following = change.data
            }
        }
    }

    private func first<Element: Sendable>(of stream: AsyncStream<Element>) async -> Element? {
        for await element in stream { return element }
        return nil
    }
}

/// A table that applies the steps of a delegate only, and reads an element only where a step says
/// that it is new.
@MainActor
final class StepTable: CollectionDataProviderDelegate {
    private(set) var elements: [ChildModel] = []
    private unowned let provider: CollectionDataProvider<ChildModel>

    init(_ provider: CollectionDataProvider<ChildModel>) {
        self.provider = provider
        reload()
    }

    /// Applies the provider's own edit.
    func reload() { elements = provider.data }

    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?
    ) {
        guard case .changes(let steps) = collectionChanges else { return reload() }
        #expect(!steps.isEmpty)
        var list: [ChildModel?] = elements
        for step in steps {
            switch step {
            case .update(let index): list[index] = nil
            case .delete(let index): list.remove(at: index)
            case .insert(let index): list.insert(nil, at: index)
            }
        }
        #expect(list.count == provider.data.count)
        elements = zip(list, provider.data).map { $0 ?? $1 }
    }
}

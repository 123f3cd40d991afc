import EspalierConsistency
import EspalierModels
import EspalierProviders
import Observation
import Testing

@MainActor @Suite("Providers are observable")
struct ObservationTests {
    let rig = Rig()

    /// Counts the changes of what `read` reads: one at most.
    private func tracked(_ read: () -> Void) -> Guarded<Int> {
        let count = Guarded(0)
        withObservationTracking(read) { count.withLock { $0 += 1 } }
        return count
    }

    @Test("Reading data tracks a provider's own changes and those of others")
    func single() async throws {
        rig.cache.put(ParentModel.named(2, "cached"))
        let provider = rig.single()
        var count = tracked { _ = provider.data }
        provider.setData(.named(1, "a"))
        #expect(count.withLock { $0 } == 1)
        count = tracked { _ = provider.data?.name }
        rig.manager.updateModel(ParentModel.named(1, "b"))
        await rig.flush()
        #expect(count.withLock { $0 } == 1)
        count = tracked { _ = provider.data?.name }
        _ = try await provider.fetch("ParentModel:2")
        #expect(count.withLock { $0 } == 1)
        count = tracked { _ = provider.data?.name }
        rig.manager.deleteModel(ParentModel(id: 2))
        await rig.flush()
        #expect(count.withLock { $0 } == 1)
    }

    @Test("Reading elements, count or the collection tracks all changes", arguments: 0..<5)
    func collection(_ way: Int) async throws {
        rig.cache.put([ParentModel.named(1, "a")], "key")
        let (provider, sibling) = (await rig.collection("key"), await rig.collection("key"))
        func read() -> Guarded<Int> {
            tracked {
                switch way {
                case 0: _ = provider.data
                case 1: _ = provider.count
                case 2: _ = provider.first?.name
                case 3: _ = provider.map(\.name)
                default: for element in provider { _ = element }
                }
            }
        }
        var count = read()
        provider.append([.named(2, "b")])
        #expect(count.withLock { $0 } == 1)
        count = read()
        sibling.remove(at: 0)
        #expect(count.withLock { $0 } == 1)
        count = read()
        rig.manager.updateModel(ParentModel.named(2, "new"))
        await rig.flush()
        #expect(count.withLock { $0 } == 1)
        count = read()
        provider.isPaused = true
        sibling.append([.named(3, "c")])
        #expect(count.withLock { $0 } == 0)
        provider.isPaused = false
        #expect(count.withLock { $0 } == 1)
    }

    @Test("An update tracks nothing if no data is read")
    func untracked() async {
        let (provider, list) = (rig.single(), await rig.collection("key"))
        let count = tracked {
            _ = provider.isPaused
            _ = provider.lastUpdated
            _ = provider.delegate
            _ = list.cacheKey
            _ = list.isPaused
            list.append([.named(1, "a")])
            provider.setData(.named(1, "a"))
        }
        provider.setData(.named(1, "b"))
        list.append([.named(2, "b")])
        await rig.flush()
        #expect(count.withLock { $0 } == 0)
    }

    @Test("Observations follows both kinds of provider")
    func observations() async {
        let (provider, list) = (rig.single(), await rig.collection())
        provider.setData(.named(1, "a"))
        list.setData([.named(1, "a")], cacheKey: nil)
        let both = Observations { "\(provider.data?.name ?? "-") \(list.data.names)" }
        var iterator = both.makeAsyncIterator()
        #expect(await iterator.next() == #"a ["a"]"#)
        rig.manager.updateModel(ParentModel.named(1, "new"))
        #expect(await iterator.next() == #"new ["new"]"#)
        list.append([.named(2, "b")])
        #expect(await iterator.next() == #"new ["new", "b"]"#)
    }

    @Test("A collection provider is a random access collection")
    func randomAccess() async {
        let list = await rig.collection(of: ChildModel.self)
        #expect(list.isEmpty && list.first == nil && list.last == nil && list.indices == 0..<0)
        list.setData((0..<5).map { .row($0) }, cacheKey: nil)
        #expect(list.map(\.id) == [0, 1, 2, 3, 4] && list.indices == 0..<5 && list.endIndex == 5)
        #expect(list.first?.id == 0 && list.last?.id == 4)
        #expect(list.reversed().map(\.id) == [4, 3, 2, 1, 0])
        #expect(list[1..<3].map(\.id) == [1, 2] && list.dropFirst(3).map(\.id) == [3, 4])
        #expect(
            list.firstIndex { $0.id == 3 } == 3 && list.index(1, offsetBy: 2) == 3
                && list.distance(from: 1, to: 4) == 3
        )
        #expect(list.enumerated().map(\.offset) == [0, 1, 2, 3, 4] && list.contains { $0.id == 2 })
    }
}

import EspalierLMDB
import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Records that expire", .serialized, .timeLimit(.minutes(3)))
struct ExpiryTests {
    private let clock = TestClock()

    private func configuration(maxAge: Duration? = nil, memory: Bool = true) -> Configuration {
        var configuration = Configuration.forTests
        configuration.clock = WallClock(of: clock) { $0.now }
        configuration.maxAge = maxAge
        if !memory { configuration.memoryBudget = ByteCount(0) }
        return configuration
    }

    @Test(
        "A fresh read misses what is too old, a stale one says how old it is",
        arguments: [true, false])
    func types(memory: Bool) throws {
        try withCache(configuration(memory: memory)) { cache in
            try cache.set(Menu(id: 1, dishes: [Dish(id: 1, name: "soup")])).wait()
            clock.advance(30)
            try cache.set(Dish(id: 2, name: "bread")).wait()
            for _ in 0..<2 {
                let hit = try #require(cache.readOutcome(Menu.self, "Menu:1").hit)
                #expect(hit.oldestAge == .seconds(30) && !hit.isExpired)
                #expect(cache.read(Menu.self, "Menu:1") != nil)
            }
            clock.advance(30)
            for _ in 0..<2 {
                let reason = cache.readOutcome(Menu.self, "Menu:1").reason
                #expect(reason == .expired(path: "Menu:1.dishes[0]", age: .seconds(60)))
                #expect(cache.read(Menu.self, "Menu:1") == nil)
                let stale = try #require(
                    cache.readOutcome(Menu.self, "Menu:1", accepting: .stale).hit)
                #expect(stale.oldestAge == .seconds(60) && stale.isExpired)
                #expect(cache.read(Menu.self, "Menu:1", accepting: .stale) == stale.value)
                #expect(cache.read(Dish.self, "Dish:2") != nil)
            }
            let reason = cache.readOutcome(Dish.self, "Dish:1").reason
            #expect(reason == .expired(path: "Dish:1", age: .seconds(60)))
            #expect(cache.readOutcome(Dish.self, "Dish:9").reason == .notFound)
            // A write of the same content is news all the same.
            try cache.set(Menu(id: 1, dishes: [Dish(id: 1, name: "soup")])).wait()
            #expect(cache.readOutcome(Menu.self, "Menu:1").hit?.oldestAge == .zero)
            #expect(cache.read(Dish.self, "Dish:1") != nil)
            clock.advance(59)
            #expect(cache.read(Menu.self, "Menu:1") != nil)
            #expect(cache.read(Dish.self, "Dish:2") == nil)
        }
    }

    @Test(
        "A type that wraps a model applies the maximum age of the model", arguments: [true, false])
    func wrapped(memory: Bool) throws {
        try withCache(configuration(memory: memory)) { cache in
            try cache.set(Dish(id: 1, name: "soup")).wait()
            for _ in 0..<2 { #expect(cache.read(WrappedDish.self, "Dish:1")?.dish.name == "soup") }
            clock.advance(60)
            for _ in 0..<2 {
                let reason = cache.readOutcome(WrappedDish.self, "Dish:1").reason
                #expect(reason == .expired(path: "Dish:1", age: .seconds(60)))
                let stale = cache.readOutcome(WrappedDish.self, "Dish:1", accepting: .stale).hit
                #expect(stale?.isExpired == true)
            }
        }
    }

    @Test("An edit of a list dates it, and leaves it how old it may be")
    func edits() throws {
        try withCache(configuration()) { cache in
            let plates = (0..<4).map { Plate(id: $0) }
            try cache.setCollection(plates, forKey: "all", maxAge: .seconds(60)).wait()
            try cache.setCollection(plates, forKey: "other").wait()
            clock.advance(40)
            try cache.remove(at: 3, fromCollection: "all").wait()
            try cache.remove(at: 3, fromCollection: "other").wait()
            clock.advance(40)
            try cache.set(plates).wait()
            #expect(cache.collection(of: Plate.self, forKey: "all")?.count == 3)
            clock.advance(40)
            try cache.set(plates).wait()
            #expect(cache.collection(of: Plate.self, forKey: "all") == nil)
            #expect(cache.collection(of: Plate.self, forKey: "other")?.count == 3)
            let list = cache.collectionOutcome(of: Plate.self, forKey: "all", accepting: .stale)
            #expect(list.hit?.oldestAge == .seconds(80))
            // A list that a screen sends again, because its edit did not fit.
            try cache.transaction {
                try $0.setCollection(
                    keepingNodesOf: plates, forKey: "all", policy: .ofTypes, source: 0)
            }
            #expect(cache.collection(of: Plate.self, forKey: "all") == plates)
            clock.advance(60)
            #expect(cache.collection(of: Plate.self, forKey: "all") == nil)
        }
    }

    @Test("What is outdated below a pending change stays outdated when the change ends")
    func outdatedBelow() throws {
        try withCache(configuration()) { cache in
            try cache.set(Plate(id: 1)).wait()
            let change = cache.optimistically { $0.set(Plate(id: 1)) }
            try cache.outdate([(.node, "Plate:1")]).wait()
            #expect(cache.read(Plate.self, "Plate:1") == nil)
            try change.rollback().wait()
            #expect(cache.read(Plate.self, "Plate:1") == nil)
            #expect(cache.read(Plate.self, "Plate:1", accepting: .stale) != nil)
        }
    }

    @Test("A record that gets a date, or whose date changes, expires in memory as on disk")
    func datesInMemory() throws {
        try withCache(configuration()) { cache in
            // The dish has no date yet: it is a part, and its type has no age.
            try cache.set(OldMenu(id: 1, dishes: [OldDish(id: 1, name: "soup")])).wait()
            for _ in 0..<2 { #expect(cache.read(Dish.self, "Dish:1") != nil) }
            try cache.set(OldDish(id: 1, name: "soup")).wait()
            for _ in 0..<2 { #expect(cache.read(Dish.self, "Dish:1") != nil) }
            clock.advance(59)
            #expect(cache.read(Dish.self, "Dish:1") != nil)
            clock.advance(1)
            for _ in 0..<2 { #expect(cache.read(Dish.self, "Dish:1") == nil) }
            #expect(
                cache.readOutcome(Dish.self, "Dish:1").reason
                    == .expired(path: "Dish:1", age: .seconds(60)))
            // Written again as the same, it is fresh again.
            let stale = cache.readOutcome(Dish.self, "Dish:1", accepting: .stale)
            #expect(stale.hit?.isExpired == true)
            try cache.set(OldDish(id: 1, name: "soup")).wait()
            for _ in 0..<2 { #expect(cache.read(Dish.self, "Dish:1") != nil) }
        }
    }

    @Test("The first write with an age of its own makes stored ages count, in memory, too")
    func firstOwnAge() throws {
        try withCache(configuration()) { cache in
            try cache.set(Dish(id: 1, name: "soup")).wait()
            for _ in 0..<2 { #expect(cache.read(OldDish.self, "Dish:1") != nil) }
            try cache.set(Plate(id: 1), maxAge: .seconds(10)).wait()
            clock.advance(60)
            // The dish was written with the age of its type.
            for _ in 0..<2 { #expect(cache.read(OldDish.self, "Dish:1") == nil) }
            cache.trimMemory()
            #expect(cache.read(OldDish.self, "Dish:1") == nil)
        }
    }

    @Test("A step of eviction moves as many expired records as it may, and the next one the rest")
    func movedAtMost() throws {
        struct Undo: Error {}
        try withCache(configuration()) { cache in
            try cache.set(Plate(id: 1)).wait()
            // Their states stand in few groups.
            try cache.set((1...100).map { Dish(id: $0, name: "soup") }).wait()
            clock.advance(60)
            let generation = try cache.engine.generations.current()
            #expect(throws: Undo.self) {
                try generation.environment.write { transaction in
                    let commit = try CommitTransaction(generation, transaction, nil, nil)
                    commit.now = clock.now
                    var counts: [Int] = []
                    repeat {
                        counts.append(
                            try commit.moveExpired(
                                atMost: 30, except: { _ in false }, in: transaction))
                    } while counts.last != 0
                    #expect(counts.allSatisfy { $0 <= 30 })
                    #expect(counts.reduce(0, +) == 100, "\(counts)")
                    throw Undo()
                }
            }
        }
    }

    @Test("The age of a write counts before that of the type, and that before the cache's")
    func precedence() throws {
        try withCache(configuration(maxAge: .seconds(600))) { cache in
            let menu = Menu(id: 1, dishes: [Dish(id: 1, name: "soup")])
            try cache.set(menu, maxAge: .seconds(1_000)).wait()
            try cache.set(Dish(id: 2, name: "bread")).wait()
            try cache.set(Plate(id: 1)).wait()
            clock.advance(300)
            #expect(cache.read(Menu.self, "Menu:1") != nil)
            #expect(cache.read(Dish.self, "Dish:1") != nil)
            #expect(cache.read(Dish.self, "Dish:2") == nil)
            #expect(cache.read(Plate.self, "Plate:1") != nil)
            clock.advance(300)
            #expect(cache.read(Plate.self, "Plate:1") == nil)
            #expect(cache.read(Menu.self, "Menu:1") != nil)
            // The next write of the dish does not mention an age: that of its type counts again.
            try cache.set(menu).wait()
            clock.advance(60)
            #expect(
                cache.readOutcome(Menu.self, "Menu:1").reason
                    == .expired(path: "Menu:1.dishes[0]", age: .seconds(60)))
        }
    }

    @Test("Without any age no record has a date of its own, and old caches do not expire at once")
    func withoutAges() throws {
        try withCache(configuration()) { cache in
            try cache.set(Shelf(id: 1, plates: [Plate(id: 1), Plate(id: 2)])).wait()
            #expect(try cache.state("Plate:1").writtenAt == nil)
            #expect(try cache.state("Shelf:1").expiry == nil)
            clock.advance(1e8)
            #expect(cache.read(Shelf.self, "Shelf:1") != nil)
            let mark = try cache.withTransaction(.latest) { try $0.expiryMark($1.keyspaces) }
            #expect(mark == .none)
            // The type that has an age reads what was written without: as old as the first record.
            try cache.set(OldMenu(id: 1, dishes: [OldDish(id: 1, name: "soup")])).wait()
            #expect(try cache.state("Dish:1").writtenAt == nil)
            clock.advance(59)
            #expect(cache.read(Menu.self, "Menu:1") != nil)
            clock.advance(1)
            #expect(cache.readOutcome(Menu.self, "Menu:1").reason?.name == "expired")
            #expect(cache.read(Dish.self, "Dish:1") != nil)
        }
    }

    @Test("A tree in memory notices that a record of it may expire from now on, or not any more")
    func newAges() throws {
        try withCache(configuration()) { cache in
            let shelf = Shelf(id: 1, plates: [Plate(id: 1), Plate(id: 2)])
            try cache.set(shelf).wait()
            #expect(cache.read(Shelf.self, "Shelf:1") == shelf)
            try cache.set(Plate(id: 2), maxAge: .seconds(60)).wait()
            #expect(cache.readOutcome(Shelf.self, "Shelf:1").hit?.oldestAge == .zero)
            clock.advance(60)
            #expect(cache.read(Shelf.self, "Shelf:1") == nil)
            try cache.set(Plate(id: 2)).wait()
            clock.advance(60)
            #expect(cache.readOutcome(Shelf.self, "Shelf:1").hit?.value == shelf)
            #expect(cache.readOutcome(Shelf.self, "Shelf:1").hit?.oldestAge == nil)
        }
    }

    @Test("Steps of a batch and of a transaction have ages of their own")
    func steps() throws {
        try withCache(configuration()) { cache in
            try cache.write { batch in
                batch.set(Plate(id: 1), maxAge: .seconds(60))
                batch.set(Plate(id: 2))
                batch.setModel(Plate(id: 3), forKey: "best", maxAge: .seconds(60))
                batch.setCollection([Plate(id: 4)], forKey: "all", maxAge: .seconds(60))
            }.wait()
            try cache.transaction { transaction in
                try transaction.set(Plate(id: 5), maxAge: .seconds(60))
                try transaction.set([Plate(id: 6)])
                try transaction.setCollection(
                    [Plate(id: 7)], forKey: "rest", maxAge: .seconds(60))
            }
            let names = [1, 2, 3, 4, 5, 6, 7].map { "Plate:\($0)" }
            #expect(names.allSatisfy { cache.read(Plate.self, $0) != nil })
            clock.advance(61)
            let fresh = names.filter { cache.read(Plate.self, $0) != nil }
            #expect(fresh == ["Plate:2", "Plate:6"])
            #expect(cache.collection(of: Plate.self, forKey: "all") == nil)
            #expect(cache.collection(of: Plate.self, forKey: "rest") == nil)
        }
    }

    @Test("Keys and collections expire, too")
    func keysAndCollections() throws {
        try withCache(configuration()) { cache in
            let plates = [Plate(id: 1), Plate(id: 2)]
            try cache.setCollection(plates, forKey: "all", maxAge: .seconds(60)).wait()
            try cache.setModel(Plate(id: 3), forKey: "best", maxAge: .seconds(60)).wait()
            clock.advance(59)
            #expect(cache.collection(of: Plate.self, forKey: "all") == plates)
            #expect(cache.modelOutcome(Plate.self, forKey: "best").hit != nil)
            clock.advance(1)
            #expect(
                cache.collectionOutcome(of: Plate.self, forKey: "all").reason
                    == .expired(path: "all", age: .seconds(60)))
            #expect(cache.modelOutcome(Plate.self, forKey: "best").reason?.name == "expired")
            #expect(cache.collection(of: Plate.self, forKey: "all", accepting: .stale) == plates)
            // The elements alone are new, the list is not.
            for plate in plates { try cache.set(plate).wait() }
            #expect(cache.collection(of: Plate.self, forKey: "all") == nil)
        }
    }

    @Test("What is shown stays: observations, counts and JSON accept what has expired")
    func othersThanReads() async throws {
        try await withCache(configuration()) { cache in
            try await cache.set(Menu(id: 1, dishes: [Dish(id: 1, name: "soup")])).committed
            try await cache.setCollection([Plate(id: 1)], forKey: "all", maxAge: .seconds(60))
                .committed
            clock.advance(60)
            var menus = cache.updates(of: Menu.self, "Menu:1").makeAsyncIterator()
            #expect(await menus.next()??.dishes[0].name == "soup")
            #expect(await cache.collectionCount(forKey: "all") == 1)
            #expect(await cache.json(ofCollection: "all") != nil)
            #expect(await cache.readPartial(Menu.self, "Menu:1").reason?.name == "expired")
        }
    }

    @Test("One fetch for all reads at the same time, and another one after it has failed")
    func refetching() async throws {
        try await withCache(configuration()) { cache in
            try await cache.set(Menu(id: 1, dishes: [Dish(id: 1, name: "soup")])).committed
            let calls = Atomic(0)
            let gate = Mutex<CheckedContinuation<Void, Never>?>(nil)
            cache.onExpired(Menu.self) { [weak cache] identifier in
                #expect(identifier == "Menu:1")
                calls.add(1, ordering: .relaxed)
                await withCheckedContinuation { continuation in
                    gate.withLock { $0 = continuation }
                }
                try await cache?.set(Menu(id: 1, dishes: [Dish(id: 1, name: "new")])).committed
            }
            #expect(await cache.read(Menu.self, "Menu:1", accepting: .staleWhileRevalidate) != nil)
            clock.advance(60)
            await withTaskGroup(of: String?.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        await cache.read(Menu.self, "Menu:1", accepting: .staleWhileRevalidate)?
                            .dishes[0].name
                    }
                }
                for await name in group { #expect(name == "soup") }
            }
            while gate.withLock({ $0 == nil }) { try await Task.sleep(for: .milliseconds(5)) }
            _ = await cache.read(Menu.self, "Menu:1", accepting: .staleWhileRevalidate)
            #expect(calls.load(ordering: .relaxed) == 1)
            gate.withLock { $0.take() }?.resume()
            while await cache.read(Menu.self, "Menu:1")?.dishes[0].name != "new" {
                try await Task.sleep(for: .milliseconds(5))
            }
            cache.onExpired(Menu.self) { _ in
                calls.add(1, ordering: .relaxed)
                throw CancellationError()
            }
            clock.advance(60)
            while calls.load(ordering: .relaxed) < 3 {
                _ = await cache.read(Menu.self, "Menu:1", accepting: .staleWhileRevalidate)
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    @Test("Expired trees are evicted before those that were used long ago")
    func eviction() async throws {
        var configuration = configuration()
        configuration.budget = .mebibytes(1)
        try await withCache(configuration) { cache in
            var random = SeededGenerator(seed: 1)
            func text() -> String {
                String((0..<500).map { _ in "abcdefghijklmnop".randomElement(using: &random)! })
            }
            // The first record of all has the stamp that expired ones get.
            try await cache.set(Plate(id: -1)).committed
            for id in 0..<200 {
                try await cache.set(Plate(id: id, text: text())).committed
                try await cache.set(Dish(id: id, name: text())).committed
            }
            for id in 0..<200 { #expect(await cache.read(Dish.self, "Dish:\(id)") != nil) }
            clock.advance(60)
            var id = 1_000
            while try cache.statistics().evictions.records < 50 {
                try await cache.set(Plate(id: id, text: text())).committed
                id += 1
            }
            #expect((0..<200).filter { cache.read(Plate.self, "Plate:\($0)") == nil } == [])
            // An eviction in the background may go on meanwhile.
            let evictions = try cache.statistics().evictions
            let count = evictions.records
            let dishes = (0..<200).filter {
                cache.read(Dish.self, "Dish:\($0)", accepting: .stale) == nil
            }
            #expect(dishes.count >= count - 1, "\(dishes.count) of \(count)")
            // Each is a tree, although the commit that evicts it has moved it first.
            #expect(evictions.trees == count)
        }
    }

    @Test("`evictExpired` evicts what has expired and nothing else")
    func evictExpired() async throws {
        try await withCache(configuration()) { cache in
            for id in 0..<600 {
                try await cache.set(Plate(id: id), maxAge: id % 2 == 0 ? .seconds(60) : nil)
                    .committed
            }
            try await cache.setCollection([Plate(id: 0)], forKey: "all").committed
            #expect(try await cache.evictExpired() == 0)
            clock.advance(60)
            try await cache.set(Plate(id: 2), maxAge: .seconds(60)).committed
            #expect(try await cache.evictExpired() == 298)
            #expect(await cache.read(Plate.self, "Plate:4", accepting: .stale) == nil)
            for id in [1, 2, 599] { #expect(await cache.read(Plate.self, "Plate:\(id)") != nil) }
            // The collection refers to it.
            #expect(await cache.read(Plate.self, "Plate:0", accepting: .stale) != nil)
        }
    }

    @Test("`evictExpired` evicts expired trees with all records below that have expired")
    func evictExpiredTrees() async throws {
        var configuration = configuration()
        configuration.budget = .mebibytes(1)
        try await withCache(configuration) { cache in
            // The first record of all has the stamp that expired ones get.
            try await cache.set(Plate(id: 9)).committed
            try await cache.set(
                Menu(id: 1, dishes: [Dish(id: 1, name: "soup")]), maxAge: .seconds(9)
            )
            .committed
            try await cache.set(Shelf(id: 1, plates: [Plate(id: 1), Plate(id: 2)])).committed
            try await cache.setModel(
                Shelf(id: 1, plates: [Plate(id: 1), Plate(id: 2)]), forKey: "top",
                maxAge: .seconds(9)
            ).committed
            clock.advance(100)
            let events = cache.events()
            try await cache.set(Plate(id: 3)).committed
            let runs = try cache.statistics().evictions.runs
            // The menu and its dish, the key, the shelf and its plates.
            #expect(try await cache.evictExpired() == 6)
            #expect(try cache.statistics().nodes == 2)
            // One run for each round: of roots, and of what they leave behind, twice.
            #expect(try cache.statistics().evictions.runs - runs <= 3)
            let youngest = try #require(try cache.statistics().evictions.youngestAge)
            #expect(youngest > .seconds(20))
            try expectClean(cache)
            cache.close()
            var count = 0
            for await case .evicted(let eviction) in events {
                count += 1
                // Between two commits, ages are interpolated.
                #expect(eviction.age ?? .zero > .seconds(20), "\(eviction.identifier)")
            }
            #expect(count == 6)
        }
    }

    @Test("`evictExpired` knows the time of the cache if nothing was read before")
    func evictExpiredFirst() async throws {
        let scratch = try Scratch()
        var cache = try scratch.open(configuration())
        try await cache.set(Plate(id: 1), maxAge: .seconds(60)).committed
        clock.advance(60)
        try await cache.set(Plate(id: 2)).committed
        cache.close()
        clock.advance(-3_600)
        cache = try scratch.open(configuration())
        defer { cache.close() }
        #expect(try await cache.evictExpired() == 1)
        #expect(await cache.read(Plate.self, "Plate:1", accepting: .stale) == nil)
    }

    @Test("A clock that is set back revives nothing, even if the cache was closed meanwhile")
    func clockSetBack() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(configuration())
        try cache.set(Dish(id: 1, name: "soup")).wait()
        clock.advance(60)
        try cache.set(Dish(id: 2, name: "bread")).wait()
        #expect(cache.read(Dish.self, "Dish:1") == nil)
        clock.advance(-3_600)
        #expect(cache.read(Dish.self, "Dish:1") == nil)
        #expect(cache.read(Dish.self, "Dish:2") != nil)
        clock.advance(30)
        #expect(cache.readOutcome(Dish.self, "Dish:2").hit?.oldestAge == .seconds(30))
        cache.close()
        clock.advance(-7_200)
        cache = try scratch.open(configuration())
        #expect(cache.read(Dish.self, "Dish:1") == nil)
        try cache.set(Dish(id: 3, name: "cake")).wait()
        #expect(cache.read(Dish.self, "Dish:1") == nil)
        #expect(cache.read(Dish.self, "Dish:2") != nil)
        clock.advance(60)
        #expect(cache.read(Dish.self, "Dish:3") == nil)
        try expectClean(cache)
        cache.close()
    }

    @Test("Reads with expiry give what a list of dates says", arguments: 0..<2)
    func walk(turn: Int) async throws {
        var random = SeededGenerator(seed: UInt64.random(in: 0...999_999))
        try await withCache(configuration(memory: turn == 0)) { cache in
            var written: [Int: (name: String, at: Double, age: Double)] = [:]
            var now = 0.0
            for step in 0..<3_000 {
                let id = Int.random(in: 0..<6, using: &random)
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<3:
                    let isLong = Bool.random(using: &random)
                    let dish = Dish(id: id, name: "\(step % 3)")
                    try await cache.set(dish, maxAge: isLong ? .seconds(100) : nil).committed
                    written[id] = (dish.name, now, isLong ? 100 : 60)
                case 3..<5:
                    let dishes = (0..<3).map { Dish(id: $0, name: "\(step % 4)") }
                    try await cache.set(Menu(id: 1, dishes: dishes)).committed
                    for dish in dishes { written[dish.id] = (dish.name, now, 60) }
                case 5: try await cache.delete("Dish:\(id)").committed; written[id] = nil
                default:
                    let seconds = Double(Int.random(in: 0..<20, using: &random))
                    clock.advance(seconds)
                    now += seconds
                }
                let outcome = await cache.readOutcome(Dish.self, "Dish:\(id)")
                let stale = await cache.read(Dish.self, "Dish:\(id)", accepting: .stale)
                #expect(stale?.name == written[id]?.name)
                guard let known = written[id] else { continue }
                if now - known.at >= known.age {
                    let age = Duration.seconds(now - known.at)
                    #expect(outcome.reason == .expired(path: "Dish:\(id)", age: age))
                } else {
                    #expect(outcome.hit?.value.name == known.name)
                }
            }
        }
    }
}

extension ReadOutcome {
    fileprivate var hit: Hit<Value>? {
        guard case .hit(let hit) = self else { return nil }
        return hit
    }
}

/// A clock that the test sets.
private final class TestClock: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    var now: Date { date.withLock { $0 } }
    func advance(_ seconds: Double) { date.withLock { $0 += seconds } }
}

private struct Dish: NormalizedModel, Codable, Equatable {
    static var maxAge: Duration? { .minutes(1) }
    let id: Int
    let name: String
    var modelIdentifier: String? { "Dish:\(id)" }
}

/// Decodes a dish as the property wrappers for lenient fields do.
private struct WrappedDish: NormalizedModel, Codable {
    let dish: Dish
    var modelIdentifier: String? { dish.modelIdentifier }

    init(from decoder: any Decoder) throws {
        dish = try decoder.singleValueContainer().decode(Dish.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(dish)
    }
}

private struct Menu: NormalizedModel, Codable, Equatable {
    let id: Int
    let dishes: [Dish]
    var modelIdentifier: String? { "Menu:\(id)" }
}

/// The same as an older version of the app had it.
private struct OldDish: NormalizedModel, Codable {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Dish:\(id)" }
    var projectionIdentifier: String { "Dish" }
}

private struct OldMenu: NormalizedModel, Codable {
    let id: Int
    let dishes: [OldDish]
    var modelIdentifier: String? { "Menu:\(id)" }
    var projectionIdentifier: String { "Menu" }
}

private struct Plate: NormalizedModel, Codable, Equatable {
    let id: Int
    var text = ""
    var modelIdentifier: String? { "Plate:\(id)" }
}

private struct Shelf: NormalizedModel, Codable, Equatable {
    let id: Int
    let plates: [Plate]
    var modelIdentifier: String? { "Shelf:\(id)" }
}

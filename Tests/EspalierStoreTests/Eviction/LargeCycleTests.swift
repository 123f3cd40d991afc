import EspalierInspection
import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Large cycles")
struct LargeCycleTests {
    private static let configuration = Configuration.forTests(budget: .mebibytes(1))

    /// The removal of the rings takes more pages than one transaction has.
    @Test(
        "A ring that is too large for one transaction is evicted before younger records",
        arguments: [300, 3_000])
    func ring(count: Int) throws {
        let rig = try CommitterRig(.forTests(budget: .mebibytes(2)))
        for number in 0..<count {
            try rig.set(
                Branch(
                    "r:\(number)", String(repeating: "x", count: 60),
                    [Branch(stub: "r:\((number + 1) % count)")]))
        }
        _ = rig.takeChanges()
        var evicted: [String] = []
        for number in 0..<1_500 {
            try rig.set(Branch("n:\(number)", String(repeating: "y", count: 1_000)))
            evicted += rig.takeChanges().flatMap(\.evicted)
            while rig.committer.maintain(isIdle: true) {}
            evicted += rig.takeChanges().flatMap(\.evicted)
            if number % 300 == 0 { #expect(try rig.verify().problems == []) }
        }
        // One record of the ring is named twice: it lost its references first.
        #expect(Set(evicted.prefix(count + 1)) == Set((0..<count).map { "r:\($0)" }))
        #expect(evicted.dropFirst(count + 1).first == "n:0")
        #expect(try rig.verify().isClean)
        #expect(try rig.verify().tombstones == 0)
        #expect(try rig.read(.node, "n:1499"))
        #expect(try !rig.read(.node, "r:1"))
    }

    /// Reads people who are wanted, and stores those that are missing. Returns the share of hits
    /// after the cache was full. Without friends, no cycle closes.
    private func hitRate(_ cache: NormalizedCache, withFriends: Bool) throws -> Double {
        var random = SeededGenerator(quietly: 5)
        let count = 3_000
        var (reads, hits) = (0, 0)
        for step in 0..<4_000 {
            // Few people are wanted often, and many seldom.
            let share = Double(UInt32(truncatingIfNeeded: random.next())) / Double(UInt32.max)
            let wanted = min(Int(share * share * share * Double(count)), count - 1)
            let friends = (1...5).map { (wanted &* 7_919 &+ $0 &* 613) % count }
            let isHit = cache.read(Friend.self, "f:\(wanted)") != nil
            if !isHit {
                let stubs = withFriends ? friends.map { FriendStub(id: "f:\($0)") } : []
                let text = (0..<50).map { _ in String(random.next()) }.joined()
                cache.set(Friend(id: "f:\(wanted)", text: text, friends: stubs))
            }
            if step >= 2_500 {
                reads += 1
                if isHit { hits += 1 }
            }
        }
        try cache.waitForEvictor()
        return Double(hits) / Double(reads)
    }

    @Test("People who are all friends of each other are evicted one by one, not all at once")
    func friends() throws {
        var rates: [Double] = []
        for withFriends in [false, true] {
            try withCache(Self.configuration) { cache in
                rates.append(try hitRate(cache, withFriends: withFriends))
                let statistics = try cache.statistics()
                #expect(statistics.evictions.records > 500)
                #expect(statistics.directoryBytes <= statistics.budget)
                let hasDetached = try cache.generation.hasDetached
                #expect(hasDetached == withFriends)
                try expectClean(cache)
                #expect(try cache.verify(deep: true).problems == [])
            }
        }
        // Friends take space, and their names stay as long as somebody refers to them.
        #expect(rates[1] > 0.6 * rates[0], "\(rates)")
    }

    /// Stores people of whom each refers to the next and to some others: one cycle of all.
    private func makeCircle(
        _ cache: NormalizedCache, _ count: Int, prefix: String = "c", friends: Int = 3
    ) throws {
        for number in 0..<count {
            let next = (0..<friends).map { (number + 1 + $0 * 37) % count }
            cache.set(
                Friend(
                    id: "\(prefix):\(number)", text: "text of \(number)",
                    friends: next.map { FriendStub(id: "\(prefix):\($0)") }))
        }
        try cache.set(Person("after", "after")).wait()
    }

    @Test("A detached record keeps its values, is a miss with its references, and is refilled")
    func detached() throws {
        try withCache(Self.configuration) { cache in
            try makeCircle(cache, 2_000)
            // Somebody wants the values of all people, and the references of none.
            try cache.setCollection((0..<2_000).map { FriendStub(id: "c:\($0)") }, forKey: "all")
                .wait()
            var step = 0
            while try !cache.generation.hasDetached, step < 40 {
                try cache.overfill(budgets: 0.1, prefix: "x\(step)") {
                    _ = cache.collection(of: FriendStub.self, forKey: "all")
                }
                step += 1
            }
            let hasDetached = try cache.generation.hasDetached
            try #require(hasDetached)
            #expect(cache.collection(of: FriendStub.self, forKey: "all")?.count == 2_000)
            var detached: [String] = []
            for number in 0..<2_000 {
                let name = "c:\(number)"
                #expect(cache.read(FriendStub.self, name, access: .peek)?.id == name)
                guard
                    case .miss(let reason) = cache.readOutcome(
                        Friend.self, name, access: .peek)
                else { continue }
                guard case .lost = reason else {
                    Issue.record("\(name): \(reason)")
                    continue
                }
                detached.append(name)
            }
            let name = try #require(detached.first)
            #expect(cache.json(of: name) == nil)
            let friend = FriendStub(id: "c:1")
            try cache.set(Friend(id: name, text: "again", friends: [friend])).wait()
            #expect(cache.read(Friend.self, name)?.friends.map(\.id) == ["c:1"])
            try expectClean(cache)
            #expect(try cache.verify(deep: true).problems == [])
        }
    }

    @Test("A read keeps the references that it follows, also if memory answers it")
    func followed() throws {
        try withCache(Self.configuration) { cache in
            try makeCircle(cache, 2_500)
            // All eyes are on these ten, each by way of another record.
            let wanted = (0..<10).map { "c:\($0 * 100)" }
            func show() -> [Bool] {
                wanted.map { cache.read(Fan.self, "fan of \($0)")?.idol?.friends.count == 3 }
            }
            func restore(_ name: String) {
                let number = Int(name.dropFirst(2)) ?? 0
                let friends = (0..<3).map { FriendStub(id: "c:\((number + 1 + $0 * 37) % 2_500)") }
                cache.set(
                    Fan(
                        id: "fan of \(name)",
                        idol: Friend(id: name, text: "text of \(number)", friends: friends)))
            }
            wanted.forEach(restore)
            try cache.set(Person("now", "now")).wait()
            var misses = 0
            for step in 0..<60 {
                try cache.overfill(budgets: 0.1, prefix: "x\(step)") {
                    for (name, isHit) in zip(wanted, show()) where !isHit {
                        misses += 1
                        restore(name)
                    }
                }
            }
            let hasDetached = try cache.generation.hasDetached
            #expect(hasDetached)
            // Until the first detachment, reads touch their first record only.
            #expect(misses <= wanted.count)
            #expect(!show().contains(false))
            try expectClean(cache)
        }
    }

    @Test("What a pin keeps is not detached, and goes once the pin is gone although others stay")
    func pinned() throws {
        try withCache(Self.configuration) { cache in
            try makeCircle(cache, 1_500)
            try cache.pin("c:7").wait()
            try cache.set(Person("other", "other")).wait()
            try cache.pin("other").wait()
            try cache.overfill(budgets: 3)
            for number in stride(from: 0, to: 1_500, by: 10) {
                let friend = cache.read(Friend.self, "c:\(number)", access: .peek)
                #expect(friend?.friends.count == 3)
            }
            let hasDetached = try cache.generation.hasDetached
            #expect(!hasDetached)
            try cache.unpin("c:7").wait()
            try cache.overfill(budgets: 8, prefix: "y")
            let left = (0..<1_500).count {
                cache.read(FriendStub.self, "c:\($0)", access: .peek) != nil
            }
            #expect(left == 0)
            try expectClean(cache)
        }
    }

    @Test("A write keeps the references that it has, as a read does, although it changes nothing")
    func written() throws {
        try withCache(Self.configuration) { cache in
            try makeCircle(cache, 2_500)
            let friends = (0..<3).map { FriendStub(id: "c:\((101 + $0 * 37) % 2_500)") }
            let fan = Fan(
                id: "fan", idol: Friend(id: "c:100", text: "text of 100", friends: friends))
            var kept = 0
            for step in 0..<80 {
                let isFollowed = try cache.generation.hasDetached
                try cache.set(fan).wait()
                try cache.overfill(budgets: 0.1, prefix: "x\(step)")
                guard isFollowed else { continue }
                #expect(cache.read(Fan.self, "fan", access: .peek)?.idol?.friends.count == 3)
                kept += 1
            }
            #expect(kept > 40)
        }
    }

    @Test("Change sets, events and statistics tell of detached records")
    func told() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration)
        try makeCircle(cache, 2_000)
        // Somebody wants the values of all people, so that detached records stay.
        try await cache.setCollection(
            (0..<2_000).map { FriendStub(id: "c:\($0)") }, forKey: "all"
        ).committed
        var step = 0
        let (events, changes) = (cache.events(), cache.changes())
        while try !cache.generation.hasDetached, step < 60 {
            _ = await cache.collection(of: FriendStub.self, forKey: "all")
            try cache.overfill(budgets: 0.05, prefix: "x\(step)")
            step += 1
        }
        let detached = (0..<2_000).map { "c:\($0)" }.filter { name in
            cache.read(FriendStub.self, name, access: .peek) != nil
                && cache.read(Friend.self, name, access: .peek) == nil
        }
        let count = try cache.statistics().evictions.detachedRecords
        #expect(count >= detached.count)
        #expect(!detached.isEmpty)
        cache.close()
        var named: Set<String> = []
        for await case .evicted(let eviction) in events where eviction.records == 0 {
            #expect(eviction.reason == .budget)
            named.insert(eviction.identifier)
        }
        #expect(named.isSuperset(of: detached))
        var evicted: Set<String> = []
        for await change in changes { evicted.formUnion(change.evicted) }
        #expect(evicted.isSuperset(of: detached))
    }

    @Test("A record with many friends is detached in steps", arguments: [300, 4_000])
    func many(count: Int) throws {
        try withCache(Self.configuration) { cache in
            let stubs = (0..<count).map { FriendStub(id: "m:\($0)") }
            try cache.set(Friend(id: "star", text: "star", friends: stubs)).wait()
            for number in 0..<2_000 {
                let friends = [FriendStub(id: "star"), FriendStub(id: "m:\((number + 1) % 2_000)")]
                cache.set(Friend(id: "m:\(number)", text: "m", friends: friends))
            }
            try cache.set(Person("after", "after")).wait()
            // Somebody wants the values of the star, and nothing else of it.
            for step in 0..<40 {
                try cache.overfill(budgets: 0.1, prefix: "x\(step)") {
                    _ = cache.read(Friend.self, "m:1")
                }
            }
            let hasDetached = try cache.generation.hasDetached
            #expect(hasDetached)
            try expectClean(cache)
            #expect(try cache.verify(deep: true).problems == [])
            guard case .miss = cache.readOutcome(Friend.self, "star", access: .peek) else {
                Issue.record("the star was not detached")
                return
            }
            try cache.set(Friend(id: "star", text: "new", friends: [])).wait()
            #expect(cache.read(Friend.self, "star")?.text == "new")
            try cache.overfill(budgets: 3, prefix: "z")
            #expect(try cache.statistics().tombstones == 0)
            try expectClean(cache)
        }
    }

    @Test("Eviction goes on after reopening a cache with detached records, and reads follow cycles")
    func reopened() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(Self.configuration)
        try makeCircle(cache, 3_000)
        try cache.overfill(budgets: 1)
        var hasDetached = try cache.generation.hasDetached
        #expect(hasDetached)
        cache.close()
        cache = try scratch.open(Self.configuration)
        hasDetached = try cache.generation.hasDetached
        #expect(hasDetached)
        try expectClean(cache)
        try cache.overfill(budgets: 3, prefix: "y")
        try expectClean(cache)
        #expect(cache.read(FriendStub.self, "c:0", access: .peek) == nil)
        cache.close()
    }
}

/// A person with the names of others.
struct Friend: NormalizedModel {
    let id: String
    let text: String
    let friends: [FriendStub]

    init(id: String, text: String, friends: [FriendStub]) {
        (self.id, self.text, self.friends) = (id, text, friends)
    }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        friends = try decoder.decode(forKey: "friends")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(friends, forKey: "friends")
    }
}

/// What others know of a person.
struct FriendStub: NormalizedModel {
    let id: String

    init(id: String) { self.id = id }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws { id = try decoder.decode(forKey: "id") }

    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(id, forKey: "id") }
}

/// A record that refers to a whole person.
struct Fan: NormalizedModel {
    let id: String
    let idol: Friend?

    init(id: String, idol: Friend?) { (self.id, self.idol) = (id, idol) }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        idol = try decoder.decode(forKey: "idol")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(idol, forKey: "idol")
    }
}

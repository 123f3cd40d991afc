import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Pins")
struct PinTests {
    private static let configuration = Configuration.forTests(budget: .mebibytes(1))

    private let feed = Feed(
        "f:1",
        messages: (0..<20).map {
            Message("m:\($0)", from: Person("p:\($0)", "Anna"), to: Person("p:0", "Anna"))
        }
    )

    private func pins(_ cache: NormalizedCache) throws -> Int { try cache.statistics().pins }

    private func pinnedBytes(_ cache: NormalizedCache) throws -> UInt64 {
        try cache.readStorage { try $0.counters($1).pinnedBytes }
    }

    /// Half of this budget holds some ten boxes.
    private static let roomy = Configuration.forTests(budget: .mebibytes(4))

    private func box(_ number: Int) -> Box<[Person]> {
        EspalierStoreTests.box("b:\(number)", of: 400, bytes: 400)
    }

    /// Pins boxes until no more can be pinned. Returns those that are pinned.
    private func pinAll(_ cache: NormalizedCache) throws -> [Box<[Person]>] {
        var pinned: [Box<[Person]>] = []
        for number in 0..<20 {
            let box = box(number)
            #expect(code(cache.set(box)) == nil)
            if let code = code(cache.pin(box.id)) {
                #expect(code == .pinnedFull)
                break
            }
            pinned.append(box)
        }
        #expect((9...11).contains(pinned.count))
        return pinned
    }

    private func expect(_ boxes: [Box<[Person]>], in cache: NormalizedCache) {
        for box in boxes {
            #expect(cache.read(Box<[Person]>.self, box.id, access: .peek)?.value == box.value)
        }
    }

    @Test("A pinned node and everything below it stay through several budgets of writes")
    func node() throws {
        try withCache(Self.configuration) { cache in
            cache.set(feed)
            let other = Feed(
                "f:2", messages: [Message("m:other", from: Person("p:other", "sender"))])
            cache.set(other)
            try cache.pin("f:1").wait()
            try cache.overfill(budgets: 4)
            #expect(cache.read(Feed.self, "f:1", access: .peek) == feed)
            #expect(cache.read(Feed.self, "f:2", access: .peek) == nil)
            #expect(cache.read(Message.self, "m:other", access: .peek) == nil)
        }
    }

    @Test("A pinned collection and its elements stay, later ones included, until it is unpinned")
    func collection() throws {
        try withCache(Self.configuration) { cache in
            let elements = (0..<700).map { Person("e:\($0)", "element") }
            cache.setCollection(elements, forKey: "c")
            try cache.pinCollection(forKey: "c").wait()
            #expect(code(cache.evictCollection(forKey: "c")) == .referenced)
            try cache.overfill()
            let late = Person("late", "element")
            try cache.append([late], toCollection: "c").wait()
            try cache.overfill(prefix: "y")
            #expect(
                cache.collectionOutcome(of: Person.self, forKey: "c", access: .peek).value
                    == elements + [late]
            )
            try cache.unpinCollection(forKey: "c").wait()
            try cache.overfill(prefix: "z")
            #expect(
                cache.collectionOutcome(of: Person.self, forKey: "c", access: .peek).value == nil)
            #expect(cache.read(Person.self, "e:0", access: .peek) == nil)
        }
    }

    @Test("A missing record cannot be pinned, and unpinning an unpinned one changes nothing")
    func unknown() throws {
        try withCache(Self.configuration) { cache in
            try cache.setCollection([Person("p:1", "Anna")], forKey: "c").wait()
            #expect(code(cache.pin("nobody")) == .notFound)
            #expect(code(cache.pin("c")) == .notFound)
            #expect(code(cache.pinCollection(forKey: "p:1")) == .notFound)
            #expect(code(cache.pin("")) == .noIdentifier)
            #expect(code(cache.unpin("nobody")) == nil)
            #expect(code(cache.unpin("p:1")) == nil)
            #expect(try pins(cache) == 0)
            #expect(try cache.statistics().droppedWrites == [:])
        }
    }

    @Test("A pin whose damaged handle is that of another record takes no reference from it")
    func flipped() throws {
        try withCache(Self.configuration) { cache in
            try cache.set(Person("p:other", "Ben")).wait()
            try cache.set(feed).wait()
            try cache.pin("f:1").wait()
            let other = try present(cache.handle("p:other"))
            try cache.tamper { transaction, keyspaces in
                let key = keyspaces.indexKey(.node, "f:1")
                try #require(try transaction.value(keyspaces.pins, key) != nil)
                try transaction.put(keyspaces.pins, key, other.storedBytes)
            }
            try cache.unpin("f:1").wait()
            try expectClean(cache)
            #expect(try cache.state("p:other").referenceCount == 0)
            #expect(try cache.state("f:1").referenceCount == 0)
        }
    }

    @Test("Pinning twice pins once, and unpinning twice unpins once")
    func twice() throws {
        try withCache(Self.configuration) { cache in
            cache.set(feed)
            for _ in 0..<2 { try cache.pin("f:1").wait() }
            #expect(try pins(cache) == 1)
            #expect(try cache.state("f:1").referenceCount == 1)
            for _ in 0..<2 { try cache.unpin("f:1").wait() }
            #expect(try pins(cache) == 0)
            #expect(try cache.state("f:1").referenceCount == 0)
            try cache.overfill()
            #expect(cache.read(Feed.self, "f:1", access: .peek) == nil)
        }
    }

    @Test("Pins are stored: they hold after reopening, until they are unpinned")
    func reopening() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(Self.configuration)
        cache.set(feed)
        try cache.pin("f:1").wait()
        cache.close()
        cache = try scratch.open(Self.configuration)
        #expect(try pins(cache) == 1)
        try cache.overfill()
        #expect(cache.read(Feed.self, "f:1", access: .peek) == feed)
        #expect(code(cache.evict("f:1")) == .referenced)
        try expectClean(cache)
        cache.close()
        cache = try scratch.open(Self.configuration)
        try cache.unpin("f:1").wait()
        try cache.overfill(prefix: "y")
        #expect(cache.read(Feed.self, "f:1", access: .peek) == nil)
        try expectClean(cache)
        cache.close()
    }

    @Test("Deleting a node removes its pin, and the next node of its name is not pinned")
    func deleting() throws {
        try withCache(Self.configuration) { cache in
            cache.set(feed)
            try cache.pin("f:1").wait()
            try cache.delete("f:1").wait()
            #expect(try pins(cache) == 0)
            try cache.set(feed).wait()
            #expect(code(cache.evict("f:1")) == nil)
            try cache.overfill()
            #expect(cache.read(Message.self, "m:1", access: .peek) == nil)
        }
    }

    @Test("Deleting a damaged node removes its pin, and the next node of its name can be pinned")
    func deletingDamaged() throws {
        try withCache(Self.configuration) { cache in
            let person = Person("p:1", "Anna")
            cache.set(person)
            try cache.pin("p:1").wait()
            try cache.damage("p:1")
            try cache.delete("p:1").wait()
            #expect(try pins(cache) == 0)
            cache.set(person)
            try cache.pin("p:1").wait()
            try cache.overfill()
            #expect(cache.read(Person.self, "p:1", access: .peek) == person)
        }
    }

    @Test("A damaged node that is written anew is still pinned, with what it refers to now")
    func damaged() throws {
        try withCache(Self.configuration) { cache in
            cache.set(Message("m:1", from: Person("p:1", "Anna")))
            try cache.pin("m:1").wait()
            try cache.damage("m:1")
            let message = Message("m:1", from: Person("p:2", "Ben"))
            try cache.set(message).wait()
            try cache.overfill()
            #expect(cache.read(Message.self, "m:1", access: .peek) == message)
            #expect(cache.read(Person.self, "p:1", access: .peek) == nil)
        }
    }

    @Test("A caller can evict neither a pinned record nor what it refers to")
    func explicitly() throws {
        try withCache(Self.configuration) { cache in
            cache.set(feed)
            cache.set(Ring("r", left: Ring("s", left: Ring("r"))))
            for name in ["f:1", "s"] { try cache.pin(name).wait() }
            for name in ["f:1", "m:3", "p:0", "r", "s"] {
                #expect(code(cache.evict(name)) == .referenced)
            }
            try cache.evict(to: ByteCount(0)).wait()
            #expect(cache.read(Feed.self, "f:1", access: .peek) == feed)
            #expect(try cache.statistics().nodes == 43)
            try cache.unpin("s").wait()
            #expect(code(cache.evict("r")) == nil)
            #expect(try cache.statistics().nodes == 41)
        }
    }

    @Test("A pin that takes the pinned records over half the budget fails, and changes nothing")
    func limit() throws {
        try withCache(Self.roomy) { cache in
            let pinned = try pinAll(cache)
            let before = (try pins(cache), try pinnedBytes(cache))
            #expect(before.0 == pinned.count)
            #expect(before.1 > 1_800_000 && before.1 <= 1 << 21)
            let refused = "b:\(pinned.count)"
            #expect(code(cache.pin(refused)) == .pinnedFull)
            #expect(try pins(cache) == before.0)
            #expect(try pinnedBytes(cache) == before.1)
            #expect(try cache.state(refused).referenceCount == 0)
            try cache.overfill(bytes: 3_000)
            expect(pinned, in: cache)
            #expect(cache.read(Box<[Person]>.self, refused, access: .peek) == nil)
            // Unpinning one makes room for another.
            try cache.unpin("b:0").wait()
            #expect(code(cache.set(box(pinned.count))) == nil)
            #expect(code(cache.pin(refused)) == nil)
        }
    }

    @Test(
        "A write that takes a pinned tree over half the budget fails and leaves it as it was",
        arguments: [false, true])
    func growing(isReopened: Bool) throws {
        let scratch = try Scratch()
        var cache = try scratch.open(Self.roomy)
        let pinned = try pinAll(cache)
        if isReopened {
            cache.close()
            cache = try scratch.open(Self.roomy)
        }
        let large = Box(
            "b:0", pinned[0].value + EspalierStoreTests.box("n", of: 500, bytes: 400).value)
        let others = try withBlockedWriter(cache) {
            [
                cache.set(Person("o:1", "before")), cache.set(large),
                cache.set(Person("o:2", "after")),
            ]
        }
        #expect(others.map(code) == [nil, .pinnedFull, nil])
        expect(pinned, in: cache)
        #expect(cache.read(Person.self, "n-0", access: .peek) == nil)
        try cache.overfill(budgets: 1.5, bytes: 3_000)
        expect(pinned, in: cache)
        #expect(code(cache.set(large)) == .pinnedFull)
        let small = Box("b:0", [Person("n-0", "small")])
        try cache.set(small).wait()
        #expect(code(cache.set(EspalierStoreTests.box("b:new", of: 200, bytes: 400))) == nil)
        #expect(code(cache.pin("b:new")) == nil)
        try cache.overfill(budgets: 1, bytes: 3_000, prefix: "y")
        expect(Array(pinned.dropFirst()) + [small], in: cache)
        try expectClean(cache)
        cache.close()
    }

    @Test("A record that was just written is there, whatever is pinned", arguments: [400, 1_000])
    func besides(bytes: Int) throws {
        try withCache(Self.configuration) { cache in
            for number in 0..<20 {
                let box = EspalierStoreTests.box("b:\(number)", of: 60_000 / bytes, bytes: bytes)
                let tickets = try withBlockedWriter(cache) { [cache.set(box), cache.pin(box.id)] }
                if tickets.map(code) != [nil, nil] { break }
            }
            #expect(try pinnedBytes(cache) > 300_000)
            let message = Message("m:1", from: Person("p:1", "Anna"))
            try cache.set(message).wait()
            try cache.waitForEvictor()
            #expect(cache.read(Message.self, "m:1", access: .peek) == message)
        }
    }

    @Test("Records that several pinned trees share count once")
    func shared() throws {
        try withCache(Self.configuration) { cache in
            let people = EspalierStoreTests.box("b:0", of: 90, bytes: 400).value
            for number in 0..<20 {
                #expect(code(cache.set(Box("b:\(number)", people))) == nil)
                #expect(code(cache.pin("b:\(number)")) == nil)
            }
            #expect(try pinnedBytes(cache) < 80_000)
            try cache.overfill()
            expect([Box("b:19", people)], in: cache)
        }
    }

    @Test("Verifying finds a reference count without the pin it stands for")
    func verifying() throws {
        try withCache(Self.configuration, isDamaged: true) { cache in
            cache.set(feed)
            try cache.pin("f:1").wait()
            try cache.tamper { try $0.delete($1.pins, $1.indexKey(.node, "f:1")) }
            #expect(Set(try cache.verify().problems.map(\.invariant)) == [2])
        }
    }
}

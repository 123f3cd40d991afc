import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Decoded trees in memory", .serialized, .timeLimit(.minutes(2)))
struct MemoryTierTests {
    @Test("A tree that has not changed is read from memory, one that has from disk")
    func hits() async throws {
        try await withCache { cache in
            let feed = Feed("f:1", messages: [Message("m:1", from: Person("p:1", "Ada"))])
            try await cache.set(feed).committed
            for _ in 0..<3 { #expect(await cache.read(Feed.self, "f:1") == feed) }
            #expect(try cache.statistics().memory.hits == 2)
            // Another tree changes nothing.
            try await cache.set(Person("p:2", "Bob")).committed
            #expect(await cache.read(Feed.self, "f:1") == feed)
            #expect(try cache.statistics().memory.hits == 3)
            // A part of the tree does.
            try await cache.set(Person("p:1", "Eva")).committed
            #expect(await cache.read(Feed.self, "f:1")?.messages[0].sender.name == "Eva")
            let memory = try cache.statistics().memory
            #expect(memory.hits == 3 && memory.staleReads == 1 && memory.trees == 1)
            #expect(await cache.read(Feed.self, "f:1")?.messages[0].sender.name == "Eva")
            #expect(try cache.statistics().memory.hits == 4)
        }
    }

    @Test("After a change, a read decodes the records on the way to it and no others")
    func partialReads() async throws {
        try await withCache { cache in
            let bags = (0..<20).map { Counted(id: $0, parts: [Counted(id: 100 + $0, parts: [])]) }
            try await cache.set(Counted(id: 1_000, parts: bags)).committed
            let root = try #require(await cache.read(Counted.self, "Counted:1000"))
            #expect(root.parts.count == 20)
            // The first change makes it a tree whose parts are kept.
            try await cache.set(Counted(id: 103, parts: [])).committed
            try await cache.set(Counted(id: 103, parts: [Counted(id: 400, parts: [])])).committed
            #expect(await cache.read(Counted.self, "Counted:1000")?.parts[3].parts.count == 1)
            Counted.decodings.store(0, ordering: .relaxed)
            try await cache.set(Counted(id: 107, parts: [Counted(id: 500, parts: [])])).committed
            let changed = try #require(await cache.read(Counted.self, "Counted:1000"))
            #expect(changed.parts[7].parts[0].parts.map(\.id) == [500])
            // The root, its part 7, its part 107, and the new one.
            #expect(Counted.decodings.load(ordering: .relaxed) == 4)
            // A new first element moves the others, which are found nevertheless.
            try await cache.set(Counted(id: 1_000, parts: [Counted(id: 600, parts: [])] + bags))
                .committed
            _ = await cache.read(Counted.self, "Counted:1000")
            Counted.decodings.store(0, ordering: .relaxed)
            #expect(await cache.read(Counted.self, "Counted:1000")?.parts.count == 21)
            #expect(Counted.decodings.load(ordering: .relaxed) == 0)
        }
    }

    @Test("A part whose records stood in other parts of the tree still notices their changes")
    func repeatedParts() async throws {
        try await withCache { cache in
            func author(_ picture: [Counted] = []) -> Counted {
                Counted(id: 8, parts: [Counted(id: 9, parts: picture)])
            }
            func post(_ id: Int, _ more: [Counted] = []) -> Counted {
                Counted(id: id, parts: [author()] + more)
            }
            func picture() async -> Counted? {
                await cache.read(Counted.self, "Counted:0")?.parts.last?.parts.first?.parts.first
            }
            try await cache.set(Counted(id: 0, parts: [post(1), post(2), post(3)])).committed
            #expect(await picture()?.parts.isEmpty == true)
            // From the first change on, the models of parts are kept.
            try await cache.set(post(2, [Counted(id: 20, parts: [])])).committed
            #expect(await picture()?.parts.isEmpty == true)
            // Without the first two posts, only the third one leads to the picture.
            try await cache.set(Counted(id: 0, parts: [post(3)])).committed
            #expect(await picture()?.parts.isEmpty == true)
            try await cache.set(Counted(id: 9, parts: [Counted(id: 21, parts: [])])).committed
            #expect(await picture()?.parts.map(\.id) == [21])
            try await cache.delete("Counted:9").committed
            #expect(await cache.read(Counted.self, "Counted:0")?.parts[0].parts[0].parts.count == 0)
        }
    }

    @Test("A record that a tree has as two types does not hide changes below one of them")
    func repeatedPartsOfTwoTypes() async throws {
        try await withCache { cache in
            func shared(_ text: String = "old") -> PairA {
                PairA(id: 1, x: Note(id: 1, text: text))
            }
            let other = PairB(id: 1, y: Note(id: 2, text: "y"))
            let q = TwoSides(id: 3, b: other, a: shared())
            let parts = [
                TwoSides(id: 1, b: nil, a: shared()), TwoSides(id: 2, b: nil, a: shared()), q,
            ]
            try await cache.set(TwoSidesList(id: 0, parts: parts)).committed
            #expect(await cache.read(TwoSidesList.self, "TwoSidesList:0")?.parts.count == 3)
            // From the first change on, the models of parts are kept.
            try await cache.set(Note(id: 2, text: "z")).committed
            #expect(
                await cache.read(TwoSidesList.self, "TwoSidesList:0")?.parts[2].b?.y.text == "z")
            try await cache.set(
                TwoSidesList(
                    id: 0,
                    parts: [
                        TwoSides(id: 3, b: PairB(id: 1, y: Note(id: 2, text: "z")), a: shared())
                    ])
            ).committed
            #expect(
                await cache.read(TwoSidesList.self, "TwoSidesList:0")?.parts.map(\.a.x.text) == [
                    "old"
                ])
            try await cache.set(Note(id: 1, text: "new")).committed
            #expect(
                await cache.read(TwoSidesList.self, "TwoSidesList:0")?.parts.map(\.a.x.text) == [
                    "new"
                ])
        }
    }

    @Test("A model that fails to read, because writes wait, is decoded by every read")
    func nestedReadsThatFail() async throws {
        try await withCache { cache in
            Nosy.cache.withLock { $0 = cache }
            defer { Nosy.cache.withLock { $0 = nil } }
            try await cache.set(Person("p:1", "Ada")).committed
            try await cache.set(Nosy(id: "n:1", seen: nil)).committed
            let gate = Gate(in: cache)
            let ticket = cache.set(Person("p:2", "Bob"))
            Nosy.waits.store(true, ordering: .relaxed)
            #expect(await cache.read(Nosy.self, "n:1", consistency: .snapshot)?.seen == nil)
            Nosy.waits.store(false, ordering: .relaxed)
            gate.open()
            try await ticket.committed
            #expect(await cache.read(Nosy.self, "n:1")?.seen == "Ada")
        }
    }

    @Test("A small tree that changes again and again stays small in memory")
    func smallTreesThatChange() async throws {
        try await withCache { cache in
            for number in 0..<2_000 {
                try await cache.set(Person("p:1", "name \(number)")).committed
                #expect(await cache.read(Person.self, "p:1")?.name == "name \(number)")
            }
            #expect(try cache.statistics().memory.bytes < .kibibytes(32))
        }
    }

    @Test("Keys that commits make do not fill the history")
    func historyOfKeys() {
        let history = CommitHistory(after: 0)
        for number in 1...600 as ClosedRange<UInt64> {
            history.beginCommit()
            let keys = Set((0..<1_000).map { Identifier("key:\(number):\($0)") })
            let none = HandleList([])
            history.endCommit(
                number, CommitHistory.Entry(number, changed: none, dated: none, keys: keys)
            ) { _, _ in nil }
        }
        let known = (0...600).filter { history.entries(after: $0) != nil }
        #expect(known.count < 70 && known.last == 600)
    }

    @Test("A copy of the cache, and its end, let go of the trees of the old file")
    func releases() async throws {
        try await withCache { cache in
            try await cache.set(Person("p:1", "Ada")).committed
            #expect(await cache.read(Person.self, "p:1") != nil)
            let memory = try #require(cache.engine.memory)
            #expect(memory.contents.trees == 1)
            try await cache.compact().committed
            #expect(memory.contents.trees == 0)
            #expect(await cache.read(Person.self, "p:1") != nil)
            #expect(memory.contents.trees == 1)
            cache.close()
            #expect(memory.contents.trees == 0)
        }
    }

    @Test("A tree that has become a miss leaves the memory")
    func misses() async throws {
        try await withCache { cache in
            try await cache.set(Message("m:1", from: Person("p:1", "Ada"))).committed
            for name in ["Bob", "Eva"] {
                #expect(await cache.read(Message.self, "m:1") != nil)
                try await cache.set(Person("p:1", name)).committed
            }
            #expect(await cache.read(Message.self, "m:1")?.sender.name == "Eva")
            try await cache.delete("p:1").committed
            for _ in 0..<3 {
                #expect(await cache.readOutcome(Message.self, "m:1").reason == .deleted)
                #expect(try cache.statistics().memory.trees == 0)
            }
        }
    }

    @Test("A large tree that has changed is read in parts by a read that suspends, too")
    func suspendedReads() async throws {
        try await withCache { cache in
            let parts = (0..<400).map { Counted(id: $0, parts: []) }
            try await cache.set(Counted(id: 1_000, parts: parts)).committed
            for number in [500, 501, 502] {
                #expect(await cache.read(Counted.self, "Counted:1000")?.parts.count == 400)
                Counted.decodings.store(0, ordering: .relaxed)
                try await cache.set(Counted(id: 7, parts: [Counted(id: number, parts: [])]))
                    .committed
            }
            #expect(await cache.read(Counted.self, "Counted:1000")?.parts[7].parts[0].id == 502)
            // The root, its part 7, and the new one.
            #expect(Counted.decodings.load(ordering: .relaxed) == 3)
        }
    }

    @Test("Objects, and types that say so, are decoded by every read")
    func uncacheable() async throws {
        try await withCache { cache in
            let part = Impure(id: 1, number: 0)
            try await cache.set(part).committed
            try await cache.set(Holder(id: 1, part: part)).committed
            try await cache.set(Object(id: "o:1")).committed
            #expect(await cache.read(Impure.self, "i:1") != cache.read(Impure.self, "i:1"))
            #expect(
                await cache.read(Holder.self, "h:1")?.part
                    != cache.read(Holder.self, "h:1")?.part)
            let objects = (
                await cache.read(Object.self, "o:1"), await cache.read(Object.self, "o:1")
            )
            #expect(objects.0 != nil && objects.0 !== objects.1)
            #expect(try cache.statistics().memory.trees == 0)
        }
    }

    @Test("A model that reads from the cache itself is decoded by every read")
    func nestedReads() async throws {
        try await withCache { cache in
            Nosy.cache.withLock { $0 = cache }
            defer { Nosy.cache.withLock { $0 = nil } }
            try await cache.set(Person("p:1", "Ada")).committed
            try await cache.set(Nosy(id: "n:1", seen: nil)).committed
            #expect(await cache.read(Nosy.self, "n:1")?.seen == "Ada")
            try await cache.set(Person("p:1", "Eva")).committed
            #expect(await cache.read(Nosy.self, "n:1")?.seen == "Eva")
        }
    }

    @Test("A read from memory counts as an access, and tells when its target was written")
    func accesses() async throws {
        try await withCache { cache in
            try await cache.set(Person("p:1", "Ada")).committed
            try await cache.set(Person("p:2", "Bob")).committed
            for _ in 0..<2 {
                guard case .hit(let hit) = await cache.readOutcome(Person.self, "p:1") else {
                    throw Missing()
                }
                #expect(hit.writtenAt != nil && hit.age != nil)
            }
            #expect(try cache.statistics().memory.hits == 1)
            try await cache.set(Person("p:3", "a commit")).committed
            let stamps = (try cache.state("p:1").stamp, try cache.state("p:2").stamp)
            #expect(stamps.0 > stamps.1)
            #expect(await cache.read(Person.self, "p:2", access: .peek) != nil)
            #expect(await cache.read(Person.self, "p:2", access: .peek) != nil)
            try await cache.set(Person("p:3", "another")).committed
            #expect(try cache.state("p:2").stamp == stamps.1)
        }
    }

    @Test("A commit of another process is seen by the next read")
    func otherProcess() async throws {
        try await withCache { cache in
            try await cache.set(Person("p:1", "parent")).committed
            for _ in 0..<2 { #expect(await cache.read(Person.self, "p:1")?.name == "parent") }
            #expect(try cache.statistics().memory.hits == 1)
            let directory = cache.engine.directory.path
            await #expect(processExitsWith: .success) { [directory = directory as String] in
                let cache = try NormalizedCache(directory: directory, configuration: .forTests)
                try cache.set(Person("p:1", "child")).wait()
                cache.close()
            }
            for _ in 0..<2 { #expect(await cache.read(Person.self, "p:1")?.name == "child") }
            #expect(try cache.statistics().memory.hits == 2)
        }
    }

    @Test("Reads beside a writer never go back in time")
    func monotonicReads() throws {
        try withCache { cache in
            try cache.set(Person("p:1", "0")).wait()
            let isDone = Atomic(false)
            let wrong = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                if thread == 0 {
                    for number in 1...400 { try? cache.set(Person("p:1", "\(number)")).wait() }
                    return isDone.store(true, ordering: .relaxed)
                }
                var last = 0
                while !isDone.load(ordering: .relaxed) {
                    let name = cache.read(Person.self, "p:1", consistency: .snapshot)?.name
                    let number = name.flatMap { Int($0) } ?? -1
                    if number < last { wrong.add(1, ordering: .relaxed) }
                    last = number
                }
            }
            #expect(wrong.load(ordering: .relaxed) == 0)
            #expect(cache.read(Person.self, "p:1")?.name == "400")
        }
    }
}

/// Counts how often it is decoded.
private struct Counted: NormalizedModel {
    static let decodings = Atomic(0)

    let id: Int
    let parts: [Counted]
    var modelIdentifier: String? { "Counted:\(id)" }

    init(id: Int, parts: [Counted]) {
        self.id = id
        self.parts = parts
    }

    init(from decoder: inout RecordDecoder) throws {
        Self.decodings.add(1, ordering: .relaxed)
        id = try decoder.decode(forKey: "id")
        parts = try decoder.decode(forKey: "parts")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(parts, forKey: "parts")
    }
}

private struct Note: NormalizedModel, Codable {
    let id: Int
    let text: String
    var modelIdentifier: String? { "Note:\(id)" }
}

/// One projection of the records `Both`, and the other one.
private struct PairA: NormalizedModel, Codable {
    let id: Int
    let x: Note
    var modelIdentifier: String? { "Both:\(id)" }
}

private struct PairB: NormalizedModel, Codable {
    let id: Int
    let y: Note
    var modelIdentifier: String? { "Both:\(id)" }
}

private struct TwoSides: NormalizedModel, Codable {
    let id: Int
    let b: PairB?
    let a: PairA
    var modelIdentifier: String? { "TwoSides:\(id)" }
}

private struct TwoSidesList: NormalizedModel, Codable {
    let id: Int
    let parts: [TwoSides]
    var modelIdentifier: String? { "TwoSidesList:\(id)" }
}

/// Differs at each decoding, and says so.
private struct Impure: NormalizedModel, Equatable {
    static var isCacheable: Bool { false }

    let id: Int
    let number: UInt64
    var modelIdentifier: String? { "i:\(id)" }

    init(id: Int, number: UInt64) {
        self.id = id
        self.number = number
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        number = .random(in: .min ... .max)
    }

    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(id, forKey: "id") }
}

private struct Holder: NormalizedModel {
    let id: Int
    let part: Impure
    var modelIdentifier: String? { "h:\(id)" }

    init(id: Int, part: Impure) {
        self.id = id
        self.part = part
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        part = try decoder.decode(forKey: "part")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(part, forKey: "part")
    }
}

private final class Object: NormalizedModel {
    let id: String
    var modelIdentifier: String? { id }

    init(id: String) { self.id = id }

    init(from decoder: inout RecordDecoder) throws { id = try decoder.decode(forKey: "id") }

    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(id, forKey: "id") }
}

/// Looks for a person while it is decoded.
private struct Nosy: NormalizedModel {
    static let cache = Mutex<NormalizedCache?>(nil)
    /// Whether it waits for the writes submitted before, which fails in a model.
    static let waits = Atomic(false)

    let id: String
    let seen: String?
    var modelIdentifier: String? { id }

    init(id: String, seen: String?) {
        self.id = id
        self.seen = seen
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        let cache = Self.cache.withLock { $0 }
        let waits = Self.waits.load(ordering: .relaxed)
        seen = cache?.read(Person.self, "p:1", consistency: waits ? .latest : .snapshot)?.name
    }

    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(id, forKey: "id") }
}

/// Counts the turns that other work gets on an actor.
private actor Screen {
    private let cache: NormalizedCache
    private var turns = 0

    init(_ cache: NormalizedCache) { self.cache = cache }

    private func takeTurn() { turns += 1 }

    /// Returns how many turns other work had while the actor awaited reads.
    func turnsDuringReads(
        _ read: nonisolated(nonsending) (NormalizedCache) async -> Bool
    ) async -> Int {
        for _ in 0..<50 {
            Task { self.takeTurn() }
            let before = turns
            #expect(await read(cache))
            guard turns == before else { return turns - before }
        }
        return 0
    }
}

@Suite("Reads from memory on an actor", .timeLimit(.minutes(1)))
struct MemoryIsolationTests {
    @Test("A read of a tree in memory does not leave the caller's actor; one from the file does")
    func staysOnActor() async throws {
        try await withCache { cache in
            let feed = Feed("f:1", messages: [Message("m:1", from: Person("p:1", "Ada"))])
            try await cache.set(feed).committed
            try await cache.setCollection([feed], forKey: "feeds").committed
            let screen = Screen(cache)
            for _ in 0..<2 {
                _ = await cache.read(Feed.self, "f:1")
                _ = await cache.readOutcome(Feed.self, "f:1")
                _ = await cache.collection(of: Feed.self, forKey: "feeds")
            }
            #expect(await screen.turnsDuringReads { await $0.read(Feed.self, "f:1") == feed } == 0)
            #expect(
                await screen.turnsDuringReads {
                    await $0.readOutcome(Feed.self, "f:1").value == feed
                } == 0)
            #expect(
                await screen.turnsDuringReads {
                    await $0.collection(of: Feed.self, forKey: "feeds") == [feed]
                } == 0)
            let turns = await screen.turnsDuringReads { cache in
                cache.trimMemory()
                return await cache.read(Feed.self, "f:1") == feed
            }
            #expect(turns > 0, "decoding does not keep the actor busy")
        }
    }
}

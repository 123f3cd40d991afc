import EspalierModels
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Optimistic changes", .serialized, .timeLimit(.minutes(3)))
struct OptimisticTests {
    @Test("All readers see a change at once, and a rollback takes it back")
    func rollback() throws {
        try withCache { cache in
            try cache.set(Board(id: 1, notes: [Memo(id: 1, text: "one")])).wait()
            let change = cache.optimistically { $0.set(Memo(id: 1, text: "two")) }
            try change.applied.wait()
            for _ in 0..<2 {
                #expect(cache.read(Board.self, "Board:1")?.notes.map(\.text) == ["two"])
                #expect(cache.confirmed.read(Board.self, "Board:1")?.notes.map(\.text) == ["one"])
            }
            try expectClean(cache)
            try change.rollback().wait()
            #expect(cache.read(Board.self, "Board:1")?.notes.map(\.text) == ["one"])
            #expect(cache.confirmed.read(Memo.self, "Memo:1")?.text == "one")
            #expect(try cache.layerBytes == 0)
            #expect(throws: CacheError.self) { try change.rollback().wait() }
        }
    }

    @Test("A change of a key is told, though an optimistic change covers the list of that name")
    func sameName() async throws {
        try await withCache { cache in
            try await cache.setCollection([Memo(id: 1, text: "a")], forKey: "inbox").committed
            try await cache.setModel(Memo(id: 8, text: "old"), forKey: "inbox").committed
            try await cache.optimistically {
                $0.append([Memo(id: 2, text: "b")], toCollection: "inbox")
            }.applied.committed
            let changes = cache.changes()
            try await cache.write {
                $0.setModel(Memo(id: 9, text: "new"), forKey: "inbox")
                $0.setCollection([Memo(id: 1, text: "a")], forKey: "inbox")
            }.committed
            cache.close()
            var keys: [String] = []
            for await change in changes { keys += change.keys }
            #expect(keys == ["inbox"])
        }
    }

    @Test("A confirmed change is a write like any other, with the answer or without")
    func confirm() throws {
        try withCache { cache in
            let first = cache.optimistically { $0.set(Memo(id: 1, text: "sent")) }
            let second = cache.optimistically { $0.set(Memo(id: 2, text: "sent")) }
            #expect(cache.read(Memo.self, "Memo:2")?.text == "sent")
            #expect(cache.confirmed.readOutcome(Memo.self, "Memo:2").reason == .notFound)
            try first.confirm().wait()
            try second.confirm(with: Memo(id: 2, text: "answered")).wait()
            #expect(cache.confirmed.read(Memo.self, "Memo:1")?.text == "sent")
            #expect(cache.read(Memo.self, "Memo:2")?.text == "answered")
            #expect(try cache.layerBytes == 0)
            #expect(try cache.optimisticChanges().isEmpty)
            // A second confirmation writes nothing.
            let again = second.confirm(with: Memo(id: 2, text: "again"))
            #expect(throws: CacheError.self) { try again.wait() }
            #expect(cache.read(Memo.self, "Memo:2")?.text == "answered")
        }
    }

    @Test("Changes end in any order, and those above are applied again", arguments: 0..<6)
    func order(turn: Int) throws {
        try withCache { cache in
            try cache.set(Memo(id: 1, text: "base", stars: 1, likes: 1)).wait()
            let star = cache.optimistically(id: "star") {
                $0.set(MemoPart(id: 1, stars: 2), policy: .merge)
            }
            let like = cache.optimistically(id: "like") {
                $0.set(MemoPart(id: 1, stars: 3, likes: 2), policy: .merge)
            }
            let text = cache.optimistically(id: "text") {
                $0.set(MemoPart(id: 1, text: "new"), policy: .merge)
            }
            func note() -> Memo? { cache.read(Memo.self, "Memo:1") }
            #expect(note() == Memo(id: 1, text: "new", stars: 3, likes: 2))
            switch turn {
            case 0:
                try like.rollback().wait()
                #expect(note() == Memo(id: 1, text: "new", stars: 2, likes: 1))
                try star.rollback().wait()
                #expect(note() == Memo(id: 1, text: "new", stars: 1, likes: 1))
                try text.confirm().wait()
                #expect(note() == Memo(id: 1, text: "new", stars: 1, likes: 1))
            case 1:
                try text.confirm().wait()
                try like.confirm().wait()
                // The star is below, and now comes after what is confirmed.
                #expect(note() == Memo(id: 1, text: "new", stars: 2, likes: 2))
                try star.rollback().wait()
                #expect(note() == Memo(id: 1, text: "new", stars: 3, likes: 2))
            case 2:
                // Somebody else writes: the changes stay on top.
                try cache.set(Memo(id: 1, text: "other", stars: 9, likes: 9)).wait()
                #expect(note() == Memo(id: 1, text: "new", stars: 3, likes: 2))
                try like.rollback().wait()
                #expect(note() == Memo(id: 1, text: "new", stars: 2, likes: 9))
                try star.confirm().wait()
                try text.rollback().wait()
                #expect(note() == Memo(id: 1, text: "other", stars: 2, likes: 9))
            case 3:
                try cache.delete("Memo:1").wait()
                #expect(cache.confirmed.read(Memo.self, "Memo:1") == nil)
                for change in [text, star, like] { try change.rollback().wait() }
                #expect(note() == nil)
            case 4:
                let gone = cache.optimistically { $0.delete("Memo:1") }
                #expect(note() == nil)
                try cache.set(Memo(id: 1, text: "other", stars: 9, likes: 9)).wait()
                #expect(note() == nil)
                try gone.rollback().wait()
                #expect(note() == Memo(id: 1, text: "new", stars: 3, likes: 2))
            default:
                try like.confirm(with: Memo(id: 1, text: "answer", stars: 5, likes: 7)).wait()
                #expect(note() == Memo(id: 1, text: "new", stars: 2, likes: 7))
                try cache.transaction { transaction in
                    try transaction.set(Memo(id: 1, text: "inside", stars: 6, likes: 6))
                    #expect(transaction.read(Memo.self, "Memo:1")?.text == "new")
                }
                try text.rollback().wait()
                #expect(note() == Memo(id: 1, text: "inside", stars: 2, likes: 6))
            }
            for change in try cache.optimisticChanges() { try change.change.rollback().wait() }
            #expect(try cache.layerBytes == 0)
        }
    }

    @Test("A node that a change makes is referred to, and is gone after a rollback")
    func newNodes() throws {
        try withCache { cache in
            try cache.set(Board(id: 1, notes: [Memo(id: 1, text: "one")])).wait()
            try cache.setCollection([Memo(id: 1, text: "one")], forKey: "list").wait()
            let change = cache.optimistically { batch in
                batch.set(
                    Board(id: 1, notes: [Memo(id: 1, text: "one"), Memo(id: 2, text: "new")]))
                batch.append([Memo(id: 2, text: "new")], toCollection: "list")
                batch.setModel(Memo(id: 2, text: "new"), forKey: "last")
            }
            try change.applied.wait()
            #expect(cache.read(Board.self, "Board:1")?.notes.count == 2)
            #expect(cache.collection(of: Memo.self, forKey: "list")?.count == 2)
            #expect(cache.confirmed.collection(of: Memo.self, forKey: "list")?.count == 1)
            #expect(cache.confirmed.read(Board.self, "Board:1")?.notes.count == 1)
            #expect(cache.confirmed.modelOutcome(Memo.self, forKey: "last").value == nil)
            // The server brings the new note by another way: it keeps its place.
            try cache.set(Memo(id: 2, text: "pushed")).wait()
            #expect(cache.read(Board.self, "Board:1")?.notes.last?.text == "new")
            try change.rollback().wait()
            #expect(cache.read(Memo.self, "Memo:2")?.text == "pushed")
            #expect(cache.read(Board.self, "Board:1")?.notes.count == 1)
            #expect(cache.collection(of: Memo.self, forKey: "list")?.count == 1)
            #expect(cache.modelOutcome(Memo.self, forKey: "last").value == nil)

            let other = cache.optimistically { batch in
                batch.append([Memo(id: 3, text: "new")], toCollection: "list")
            }
            #expect(cache.collection(of: Memo.self, forKey: "list")?.map(\.id) == [1, 3])
            try other.confirm { batch in
                // The server has given it another number.
                batch.append([Memo(id: 30, text: "answer")], toCollection: "list")
            }.wait()
            #expect(cache.collection(of: Memo.self, forKey: "list")?.map(\.id) == [1, 30])
            #expect(cache.read(Memo.self, "Memo:3") == nil)
        }
    }

    @Test("A deletion that is taken back gives every reference its node again")
    func deletions() throws {
        try withCache { cache in
            let notes = (1...4).map { Memo(id: $0, text: "note \($0)") }
            try cache.set(Board(id: 1, notes: notes)).wait()
            try cache.setCollection(notes, forKey: "list").wait()
            let change = cache.optimistically { batch in
                batch.delete("Memo:2")
                batch.delete("Memo:9")
            }
            try change.applied.wait()
            #expect(cache.read(Board.self, "Board:1")?.notes.map(\.id) == [1, 3, 4])
            #expect(cache.collection(of: Memo.self, forKey: "list")?.map(\.id) == [1, 3, 4])
            #expect(cache.confirmed.read(Board.self, "Board:1")?.notes.count == 4)
            // Edits count the elements that reads return, and lose none of the others.
            try cache.remove(1..<2, fromCollection: "list").wait()
            try cache.insert([Memo(id: 5, text: "5")], at: 1, inCollection: "list").wait()
            try cache.move(from: 2, to: 0, inCollection: "list").wait()
            #expect(cache.collection(of: Memo.self, forKey: "list")?.map(\.id) == [4, 1, 5])
            // What a change deletes stays deleted when somebody writes it.
            try cache.set(Memo(id: 9, text: "9")).wait()
            #expect(cache.read(Memo.self, "Memo:9") == nil)
            try expectClean(cache)
            try change.rollback().wait()
            #expect(cache.read(Board.self, "Board:1")?.notes.map(\.id) == [1, 2, 3, 4])
            #expect(
                Set(cache.collection(of: Memo.self, forKey: "list")?.map(\.id) ?? [])
                    == [1, 2, 4, 5])
            #expect(cache.read(Memo.self, "Memo:9")?.text == "9")

            let last = cache.optimistically { $0.delete("Memo:2") }
            try last.confirm().wait()
            #expect(cache.read(Board.self, "Board:1")?.notes.map(\.id) == [1, 3, 4])
            #expect(cache.confirmed.read(Memo.self, "Memo:2") == nil)
        }
    }

    @Test("Screens and observers are told what has changed for them, and nothing else")
    func changeSets() async throws {
        try await withCache { cache in
            try await cache.set([Memo(id: 1, text: "one"), Memo(id: 2, text: "two")]).committed
            var changes = cache.changes().makeAsyncIterator()
            let change = cache.optimistically { batch in
                batch.set(MemoPart(id: 1, text: "new"), policy: .merge)
                batch.append([Memo(id: 3, text: "three")], toCollection: "list")
            }
            try await change.applied.committed
            var set = try #require(await changes.next())
            #expect(Set(set.written) == ["Memo:1", "Memo:3"] && set.keys == ["list"])
            // Below the change, and not seen.
            try await cache.set(MemoPart(id: 1, text: "below"), policy: .merge).committed
            try await cache.set(Memo(id: 2, text: "seen")).committed
            set = try #require(await changes.next())
            #expect(set.written == ["Memo:2"] && set.deleted == [])
            try await change.rollback().committed
            set = try #require(await changes.next())
            #expect(set.written == ["Memo:1"] && set.deleted == ["Memo:3"])
            #expect(set.keys == ["list"])
        }
    }
}

extension NormalizedCache {
    var layerBytes: Int {
        get throws {
            try engine.withTransaction { try LayerTable(of: $1, $0).byteCount }
        }
    }
}

struct Memo: NormalizedModel, Codable, Equatable {
    var id: Int
    var text: String
    var stars = 0
    var likes = 0
    var modelIdentifier: String? { "Memo:\(id)" }
}

/// What a change knows of a note.
struct MemoPart: NormalizedModel, Codable, Equatable {
    var id: Int
    var text: String?
    var stars: Int?
    var likes: Int?
    var modelIdentifier: String? { "Memo:\(id)" }
    var projectionIdentifier: String { "Memo" }
}

struct Board: NormalizedModel, Codable, Equatable {
    var id: Int
    var notes: [Memo]
    var modelIdentifier: String? { "Board:\(id)" }
}

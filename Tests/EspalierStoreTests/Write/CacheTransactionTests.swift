import EspalierModels
import EspalierRecords
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Transactions of callers")
struct CacheTransactionTests {
    struct Mistake: Error, Equatable {}

    @Test("An update gets the stored model, and what it returns is stored")
    func update() async throws {
        try await withCache { cache in
            try cache.set(Card("a", name: "Ada", badge: 7)).wait()
            let changed = try await cache.update(Person.self, "a") { Person($0.id, "\($0.name)!") }
            #expect(changed == Person("a", "Ada!"))
            // A field that only the other projection declares stays.
            #expect(await cache.read(Card.self, "a") == Card("a", name: "Ada!", badge: 7))
        }
    }

    @Test("An update of a model that is missing, or that lacks a field, fails and stores nothing")
    func missing() throws {
        try withCache { cache in
            #expect(code { try cache.update(Person.self, "a") { $0 } } == .notFound)
            try cache.set(Card("a", name: nil, badge: 1)).wait()
            #expect(code { try cache.update(Person.self, "a") { $0 } } == .notFound)
            #expect(code { try cache.update(Person.self, "") { $0 } } == .notFound)
            #expect(try cache.statistics().nodes == 1)
        }
    }

    @Test("An update that throws changes nothing, and its caller gets the error")
    func throwing() throws {
        try withCache { cache in
            try cache.set(Person("a", "Ada")).wait()
            #expect(throws: Mistake()) {
                try cache.update(Person.self, "a") { _ in throw Mistake() }
            }
            #expect(throws: Mistake()) {
                try cache.transaction { transaction in
                    try transaction.set(Person("a", "Grace"))
                    try transaction.set(Person("b", "Mary"))
                    try transaction.delete("a")
                    throw Mistake()
                }
            }
            #expect(cache.read(Person.self, "a") == Person("a", "Ada"))
            #expect(cache.read(Person.self, "b") == nil)
            #expect(try cache.statistics().droppedWrites.isEmpty)
        }
    }

    @Test("A transaction reads what it has written: new types, deletions and children too")
    func readsItsWrites() throws {
        try withCache { cache in
            try cache.set(Message("m:1", from: Person("a", "Ada"), to: Person("b", "Bob"))).wait()
            let seen = try cache.transaction { transaction -> [String] in
                var seen: [String] = []
                try transaction.set(Person("a", "Grace"))
                seen.append(transaction.read(Message.self, "m:1")?.sender.name ?? "-")
                try transaction.delete("b")
                seen.append(transaction.read(Message.self, "m:1")?.reader?.name ?? "-")
                // The shape of this type has no number in the file yet.
                try transaction.set(Card("c", name: "Carl", badge: 3))
                seen.append(transaction.read(Card.self, "c")?.name ?? "-")
                try transaction.setCollection([Person("d", "Dora")], forKey: "people")
                seen.append(
                    transaction.collection(of: Person.self, forKey: "people")?.first?.name ?? "-")
                try transaction.set(Card("c", name: nil, badge: 4), policy: .merge)
                seen.append(transaction.read(Card.self, "c")?.name ?? "-")
                return seen
            }
            #expect(seen == ["Grace", "-", "Carl", "Dora", "Carl"])
            #expect(
                cache.read(Message.self, "m:1") == Message("m:1", from: Person("a", "Grace")))
        }
    }

    @Test("A model that can't be stored fails its own write, and the transaction can go on")
    func unstorable() throws {
        try withCache { cache in
            let failed = try cache.transaction { transaction in
                try transaction.set(Person("a", "Ada"))
                return code { try transaction.set(Person("", "Nobody")) }
            }
            #expect(failed == .noIdentifier)
            #expect(cache.read(Person.self, "a") != nil)
        }
    }

    @Test("A write without room fails the transaction, even if the closure ignores its error")
    func full() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            let failure = code {
                try cache.transaction { transaction in
                    try transaction.set(Person("a", "Ada"))
                    for number in 0..<16 {
                        try? transaction.set(Person("p:\(number)", Self.noise(100_000)))
                    }
                }
            }
            #expect(failure == .full)
            #expect(cache.read(Person.self, "a") == nil)
        }
    }

    @Test("A transaction that has to make room runs again, and its last run counts")
    func makesRoom() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            try cache.overfill(budgets: 1)
            let runs = Mutex(0)
            let run = try cache.transaction { transaction in
                let run = runs.withLock { runs in
                    runs += 1
                    return runs
                }
                for number in 0..<5 {
                    try transaction.set(Person("big:\(number)", "\(run) \(Self.noise(80_000))"))
                }
                return run
            }
            #expect(run > 1)
            #expect(run == runs.withLock { $0 })
            #expect(cache.read(Person.self, "big:4")?.name.hasPrefix("\(run) ") == true)
        }
    }

    /// Text that does not compress.
    private static func noise(_ count: Int) -> String {
        String((0..<count).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33..<127))) })
    }

    @Test("A closure can't wait for the cache, which waits for it")
    func waiting() throws {
        try withCache { cache in
            try cache.set(Person("a", "Ada")).wait()
            let codes = try cache.transaction { _ -> [CacheError.Code?] in
                [
                    code(cache.set(Person("b", "Bob"))),
                    code { _ = try cache.transaction { _ in 1 } },
                ]
            }
            #expect(codes == [.waitInsideRead, .waitInsideRead])
        }
    }

    @Test("A transaction that has ended reads nothing and writes nothing")
    func ended() throws {
        final class Thief: @unchecked Sendable { var transaction: CacheTransaction? }
        try withCache { cache in
            let thief = Thief()
            try cache.transaction { transaction in
                try transaction.set(Person("a", "Ada"))
                thief.transaction = transaction
            }
            #expect(thief.transaction?.read(Person.self, "a") == nil)
            #expect(code { try thief.transaction?.set(Person("b", "Bob")) } == .closed)
        }
    }

    @Test("A closed cache and one that is opened to read refuse a transaction")
    func refused() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        try cache.set(Person("a", "Ada")).wait()
        cache.close()
        #expect(code { try cache.update(Person.self, "a") { $0 } } == .closed)
        var configuration = Configuration.forTests
        configuration.isReadOnly = true
        let reader = try scratch.open(configuration)
        #expect(code { try reader.update(Person.self, "a") { $0 } } == .notWritable)
        reader.close()
    }

    @Test("An update of a node on a cycle keeps the references of the others")
    func cycle() throws {
        try withCache { cache in
            // Ada and Bea know each other, and Cleo knows both.
            let ada = Acquaintance("ada"), bea = Acquaintance("bea"), cleo = Acquaintance("cleo")
            try cache.set([
                ada.knowing([bea.knowing([ada])]), bea.knowing([ada.knowing([bea])]),
                cleo.knowing([ada.knowing([bea.knowing([ada])]), bea.knowing([ada.knowing([bea])])]
                ),
            ]).wait()
            func friends(_ id: String) -> [String]? {
                cache.read(Acquaintance.self, "Acquaintance:\(id)")?.friends.map(\.name)
            }
            #expect(friends("ada") == ["bea"] && friends("bea") == ["ada"])
            for step in 0..<3 {
                try cache.update(Acquaintance.self, "Acquaintance:ada") { $0.named("Ada \(step)") }
                #expect(friends("bea") == ["Ada \(step)"] && friends("ada") == ["bea"])
                try cache.update(Acquaintance.self, "Acquaintance:cleo") {
                    $0.named("Cleo \(step)")
                }
                #expect(friends("cleo") == ["Ada \(step)", "bea"])
                #expect(friends("bea") == ["Ada \(step)"] && friends("ada") == ["bea"])
            }
            // What the closure removes is gone.
            try cache.update(Acquaintance.self, "Acquaintance:ada") { $0.knowing([]) }
            #expect(friends("ada") == [] && friends("bea") == ["Ada 2"])
            try expectClean(cache)
        }
    }

    @Test("Writes that are committed with a failing transaction are stored")
    func group() throws {
        try withCache { cache in
            let (tickets, failing) = try withBlockedWriter(cache) {
                let before = (0..<5).map { cache.set(Person("p:\($0)", "P")) }
                let failing = cache.submit { transaction in
                    try transaction.set(Person("x", "X"))
                    throw Mistake()
                }
                return (before + (5..<10).map { cache.set(Person("p:\($0)", "P")) }, failing)
            }
            for ticket in tickets { try ticket.wait() }
            #expect(code(failing.0) != nil)
            #expect(
                failing.1.reason(for: CacheError.rolledBack(Mistake())) as? Mistake == Mistake())
            #expect(cache.read(Person.self, "x") == nil)
            for number in 0..<10 { #expect(cache.read(Person.self, "p:\(number)") != nil) }
        }
    }

    @Test("A full queue does not leave out a write that a transaction behind it reads")
    func fullQueue() throws {
        var configuration = Configuration.forTests
        configuration.queueLimit = ByteCount(10_000)
        try withCache(configuration) { cache in
            let (first, seen) = try withBlockedWriter(cache) {
                let first = cache.set(Person("a", "first"))
                let seen = cache.submit { $0.read(Person.self, "a")?.name ?? "-" }
                // More than the queue holds, so that it looks for writes to leave out.
                for number in 0..<20 { cache.set(Person("a", "\(number)")) }
                return (first, seen)
            }
            try seen.0.wait()
            // The queue drops the oldest write if it must, and says so.
            let isStored = code(first) == nil
            #expect(try seen.1.value() == (isStored ? "first" : "-"))
        }
    }
}

@Suite("The sources of changes")
struct ChangeSourceTests {
    @Test("A change set leaves out what its reader has written")
    func filter() {
        var changes = ChangeSet(commit: 1)
        changes.write("a")
        changes.source = 2
        changes.write("b")
        changes.change(key: "k", in: .key)
        changes.source = 0
        changes.write("c")
        changes.change(key: "l", in: .key)
        changes.source = 3
        changes.write("a")
        #expect(changes.written == ["a", "b", "c", "a"])
        #expect(changes.written(notBy: 2) == (nodes: ["a", "c", "a"], keys: ["l"]))
        #expect(changes.written(notBy: 3) == (nodes: ["a", "b", "c"], keys: ["k", "l"]))
        #expect(changes.written(notBy: 9) == (nodes: ["a", "b", "c", "a"], keys: ["k", "l"]))
        changes.delete("a")
        #expect(changes.written == ["b", "c"])
        #expect(changes.written(notBy: 2) == (nodes: ["c"], keys: ["l"]))
    }
}

private struct Acquaintance: NormalizedModel, Codable, Equatable {
    let id: String
    var name: String
    var friends: [Acquaintance] = []
    var modelIdentifier: String? { "Acquaintance:\(id)" }

    init(_ id: String) { (self.id, name) = (id, id) }

    func named(_ name: String) -> Acquaintance {
        var copy = self
        copy.name = name
        return copy
    }

    func knowing(_ friends: [Acquaintance]) -> Acquaintance {
        var copy = self
        copy.friends = friends
        return copy
    }
}

import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Outcomes of edits")
struct EditOutcomeTests {
    private static let list = (0..<3).map(Remark.node)

    @Test("Every edit gets one outcome, also if the cache is closed before or after it is sent")
    func closing() throws {
        try withCache { cache in
            cache.setCollection(Self.list, forKey: "c")
            let sender = Sender(cache, Self.list)
            for number in 0..<200 {
                sender.edit(number) { _ in .append([Remark.node(number)]) }
                if number == 149 { cache.close() }
            }
            sender.results.wait(for: 200)
            #expect(
                sender.results.all == Array(repeating: .applied, count: 150)
                    + Array(repeating: .failed(.closed), count: 50))
        }
    }

    @Test("Every edit gets one outcome from a full queue, which drops sets and no edits")
    func fullQueue() throws {
        var configuration = Configuration.forTests
        configuration.queueLimit = .kibibytes(16)
        try withCache(configuration) { cache in
            cache.setCollection(Self.list, forKey: "c")
            let sender = Sender(cache, Self.list)
            let sets = try withBlockedWriter(cache) {
                (0..<200).map { number in
                    sender.edit(number) { _ in .insert([Remark.node(number)], at: 1) }
                    return cache.set(Person("p:\(number)", String(repeating: "x", count: 600)))
                }
            }
            sender.results.wait(for: 200)
            #expect(sets.map(code).contains(.dropped))
            #expect(sender.results.all == Array(repeating: .applied, count: 200))
            #expect(cache.remarks() == sender.list)
        }
    }

    @Test("An edit without a key or with a model that cannot be stored fails and writes nothing")
    func failures() throws {
        try withCache { cache in
            try cache.setCollection(Self.list, forKey: "c").wait()
            let neighbours = CollectionNeighbours(Self.list, around: 0)
            let edits: [CollectionEdit<any SimpleModel>] = [
                .insert([Remark.node(7)], at: 0), .append([]), .update(Remark.node(7), at: 0),
                .remove(at: 0),
            ]
            for edit in edits {
                #expect(
                    cache.result(edit, expecting: neighbours, key: "") == .failed(.noIdentifier))
            }
            for edit: CollectionEdit<any SimpleModel> in [
                .insert([Remark.node(7), Opaque()], at: 0),
                .insert([Remark.node(7), Remark("", id: "")], at: 0),
            ] {
                guard case .failed = cache.result(edit, expecting: neighbours) else {
                    Issue.record("\(edit) did not fail")
                    continue
                }
            }
            #expect(cache.remarks() == Self.list)
            #expect(cache.read(Remark.self, "r:7") == nil)
        }
    }

    @Test("An outcome may wait for the cache and take a lock that the sender holds while it edits")
    func waiting() throws {
        try withCache { cache in
            cache.setCollection(Self.list, forKey: "c")
            let sender = Sender(cache, Self.list)
            let append = { (number: Int) in
                sender.edit(number) { _ in
                    .append([Remark.node(number)])
                } onOutcome: {
                    // This read waits for the writer, and `sender.list` takes the lock.
                    #expect(cache.remarks() == sender.list || cache.isClosed)
                }
            }
            try withBlockedWriter(cache) { for number in 10..<12 { append(number) } }
            sender.results.wait(for: 2)
            cache.close()
            append(12)
            sender.results.wait(for: 1)
            #expect(sender.results.all == [.applied, .applied, .failed(.closed)])
        }
    }

    @Test("An outdated edit leaves the writes that are committed with it unchanged")
    func groups() throws {
        try withCache { cache in
            try cache.setCollection(Self.list, forKey: "c").wait()
            let results = EditResults()
            let wrong = CollectionNeighbours(count: 9, previous: nil, current: nil, next: nil)
            let tickets = try withBlockedWriter(cache) {
                (0..<20).map { number in
                    if number % 5 == 0 {
                        let edit = CollectionEdit<any SimpleModel>.insert(
                            [Remark("x", on: Person("p:new", "x"), id: "r:new")], at: 0)
                        cache.editCollection(edit, forKey: "c", expecting: wrong, context: nil) {
                            results.record($0, of: number)
                        }
                    }
                    return cache.append([Remark.node(number)], toCollection: "c")
                }
            }
            results.wait(for: 4)
            #expect(tickets.allSatisfy { code($0) == nil })
            #expect(results.all == Array(repeating: .outOfDate, count: 4))
            #expect(cache.remarks() == Self.list + (0..<20).map(Remark.node))
            #expect(
                cache.read(Remark.self, "r:new") == nil && cache.read(Person.self, "p:new") == nil)
        }
    }

    @Test("Edits of several tasks are applied in the order of the calls")
    func severalTasks() async throws {
        try await withCache { cache in
            cache.setCollection(Self.list, forKey: "c")
            let sender = Sender(cache, Self.list)
            await withTaskGroup { tasks in
                for task in 0..<4 {
                    tasks.addTask {
                        for number in task * 1_000..<task * 1_000 + 100 {
                            sender.edit(number) { Self.edit(number: number, of: $0) }
                        }
                    }
                }
            }
            try await (cache as any CollectionCacheDelegate).flush()
            #expect(
                await cache.collection(of: Remark.self, forKey: "c", consistency: .snapshot)
                    == sender.list)
            sender.results.wait(for: 400)
            #expect(sender.results.all == Array(repeating: .applied, count: 400))
        }
    }

    private static func edit(number: Int, of count: Int) -> CollectionEdit<any SimpleModel> {
        let index = number * 7 % (count + 1)
        switch number % 5 {
        case 0: return .append([Remark.node(number)])
        case 1 where index < count: return .remove(at: index)
        case 2 where index < count: return .update(Remark.node(number), at: index)
        default: return .insert([Remark.node(number), Remark("inline \(number)")], at: index)
        }
    }
}

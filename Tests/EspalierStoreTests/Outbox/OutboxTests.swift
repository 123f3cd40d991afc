import EspalierModels
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Outboxes", .timeLimit(.minutes(3)))
struct OutboxTests {
    private let clock = StepClock()

    // MARK: Sending

    @Test("A change shows at once, and the answers take its place in the order of the operations")
    func sends() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in 1...3 { try outbox.add(id, shown: "shown") }
            try await cache.flush()
            #expect(cache.list("list") == ["shown", "shown", "shown"])
            #expect(cache.confirmed.read(Memo.self, "Memo:1") == nil)
            #expect(try outbox.operations().map(\.id) == ["1", "2", "3"])
            let server = TestServer()
            let report = try await outbox.drain { operation, queued in
                #expect(queued.attempts == 0 && queued.failure == nil && !queued.isDead)
                return server.answer(operation, queued.id)
            }
            #expect(report.sent == 3 && report.dead == 0 && !report.isStopped)
            #expect(server.seen == ["1", "2", "3"])
            #expect(cache.list("list") == ["answer", "answer", "answer"])
            #expect(try outbox.operations().isEmpty && cache.optimisticChanges().isEmpty)
            #expect(try cache.layerBytes == 0)
            #expect(try await outbox.drain { _, _ in .sent }.sent == 0)
            try expectClean(cache)
        }
    }

    @Test("An answer is the change itself, a model, other writes, or nothing")
    func answers() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in [1, 2, 3, 4, 6] {
                try outbox.add(SendMemo(id: id), id: "\(id)") {
                    $0.set(Memo(id: id, text: "shown"))
                }
            }
            // An operation without a change writes its answer, too.
            try outbox.add(SendMemo(id: 5), id: "5")
            try await outbox.drain { operation, _ in
                switch operation.id {
                case 1: .sent
                case 2, 5: .sent(Memo(id: operation.id, text: "model"))
                case 3: .replaced { $0.set(Memo(id: 30, text: "other")) }
                case 4: .replaced { _ in }
                default: .sent { $0.set(Memo(id: 60, text: "more")) }
                }
            }
            #expect(
                cache.texts([1, 2, 3, 4, 5]) == ["shown", "model", nil, nil, "model"])
            #expect(cache.texts([30, 6, 60]) == ["other", "shown", "more"])
            #expect(try outbox.operations().isEmpty && cache.optimisticChanges().isEmpty)
        }
    }

    @Test("An operation ends though its edit does not fit the list any more, or the list is gone")
    func shorterList() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            let memos = (0..<3).map { Memo(id: $0, text: "\($0)") }
            try await cache.setCollection(memos, forKey: "short").committed
            try await cache.setCollection(memos, forKey: "gone").committed
            for (id, key, index) in [(1, "short", 2), (2, "gone", 2), (3, "short", 1)] {
                try await outbox.add(SendMemo(id: id), id: "\(id)") {
                    $0.set(Memo(id: id + 10, text: "shown"))
                    $0.remove(index..<index + 1, fromCollection: key)
                }.committed
            }
            try await cache.setCollection([memos[0]], forKey: "short").committed
            try await cache.deleteCollection(forKey: "gone").committed
            let report = try await outbox.drain(judging: { _ in .giveUp }) { operation, _ in
                if operation.id == 3 { throw NetworkFailure() }
                return operation.id == 1 ? .sent : .sent(Memo(id: 12, text: "answer"))
            }
            #expect(report.sent == 2 && report.dead == 1 && report.unstoredAnswers.isEmpty)
            // The dead letter is shown again.
            try await outbox.retry("3").committed
            #expect(cache.texts([11, 12, 13]) == ["shown", "answer", "shown"])
            try await outbox.drain { _, _ in .sent }
            #expect(cache.list("short") == ["0"] && cache.list("gone") == nil)
            #expect(try outbox.operations().isEmpty && cache.layerBytes == 0)
            try expectClean(cache)
        }
    }

    @Test("A list from the server may have what waits: it is shown once, and stays once")
    func knownToServer() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            try await cache.setCollection([Memo(id: 0, text: "0")], forKey: "list").committed
            try outbox.add(1, shown: "1")
            try outbox.add(2, shown: "2")
            try await cache.flush()
            #expect(cache.list("list") == ["0", "1", "2"])
            let memos = [1, 0, 3].map { Memo(id: $0, text: "\($0)") }
            try await cache.setCollection(memos, forKey: "list").committed
            #expect(cache.list("list") == ["1", "0", "3", "2"])
            try await outbox.drain { _, _ in .sent }
            #expect(cache.list("list") == ["1", "0", "3", "2"])
            #expect(try cache.layerBytes == 0)
            // A write may add the same element again, and so may a change that knows of it.
            try await cache.append([Memo(id: 1, text: "1")], toCollection: "list").committed
            #expect(cache.list("list") == ["1", "0", "3", "2", "1"])
            try outbox.add(0, shown: "0")
            try outbox.add(SendMemo(id: 5), id: "5") {
                $0.insert([Memo(id: 5, text: "5")], at: 0, inCollection: "list")
            }
            // Moves the last element to the front.
            try await outbox.add(SendMemo(id: 6), id: "6") {
                $0.insert([Memo(id: 0, text: "0")], at: 0, inCollection: "list")
                $0.remove(7..<8, fromCollection: "list")
            }.committed
            #expect(cache.list("list") == ["0", "5", "1", "0", "3", "2", "1"])
            let more = [5, 1, 0].map { Memo(id: $0, text: "\($0)") }
            try await cache.setCollection(more, forKey: "list").committed
            #expect(cache.list("list")?.filter { $0 == "5" } == ["5"])
            try expectClean(cache)
        }
    }

    @Test("Operations of a key wait for each other, and for no other key")
    func keys() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for (id, key) in [(1, "a"), (2, "a"), (3, "b"), (4, "b"), (5, "c")] {
                try outbox.add(SendMemo(id: id), key: key, id: "\(id)")
            }
            try await cache.flush()
            let network = StepNetwork<Int>()
            let sent = Mutex<[Int]>([])
            let drain = Task {
                try await outbox.drain { operation, _ in
                    if operation.id == 1 { _ = try await network.ask() }
                    sent.withLock { $0.append(operation.id) }
                    return .sent
                }
            }
            await network.calls.reaches(1)
            while try outbox.operations().count > 2 { await Task.yield() }
            #expect(sent.withLock { $0.filter { $0 < 5 } } == [3, 4])
            network.answer(1, with: .success(1))
            #expect(try await drain.value.sent == 5)
            #expect(sent.withLock { $0.suffix(2) } == [1, 2])
        }
    }

    @Test("No more keys are sent at once than allowed")
    func limitOfKeys() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in 0..<12 { try outbox.add(SendMemo(id: id), key: "\(id)", id: "\(id)") }
            let counts = Mutex((now: 0, most: 0))
            try await outbox.drain(keysAtOnce: 3) { _, _ in
                counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                for _ in 0..<50 { await Task.yield() }
                counts.withLock { $0.now -= 1 }
                return .sent
            }
            #expect((2...3).contains(counts.withLock { $0.most }))
            #expect(try outbox.operations().isEmpty)
        }
    }

    @Test("What is added during a drain is sent by it, also while another key waits")
    func addedMeanwhile() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            try outbox.add(SendMemo(id: 1), key: "a", id: "1")
            let sent = Counter()
            let drain = Task {
                try await outbox.drain(
                    retry: .exponential(maximumAttempts: 2, firstDelay: .seconds(9)), clock: clock
                ) { operation, queued in
                    if operation.id == 1 && queued.attempts == 0 { throw NetworkFailure() }
                    sent.add()
                    return .sent
                }
            }
            await clock.waitForSleeps(1)
            try outbox.add(SendMemo(id: 2), key: "b", id: "2")
            await sent.reaches(1)
            clock.advance(by: .seconds(9))
            #expect(try await drain.value.sent == 2)
        }
    }

    // MARK: Failing

    @Test("Attempts wait as the policy says; after the last one the operation is a dead letter")
    func retries() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in 1...2 { try outbox.add(id, shown: "shown") }
            let drain = Task {
                try await outbox.drain(
                    retry: .exponential(maximumAttempts: 3, firstDelay: .seconds(1)), clock: clock
                ) { operation, queued in
                    if operation.id == 1 { throw NetworkFailure(queued.attempts) }
                    return .sent
                }
            }
            for (attempt, delay) in [(1, 1), (2, 2)] {
                await clock.waitForSleeps(attempt)
                #expect(try outbox.operations().first?.attempts == attempt)
                #expect(cache.list("list") == ["shown", "shown"])
                clock.advance(by: .seconds(delay))
            }
            let report = try await drain.value
            #expect(report.sent == 1 && report.dead == 1)
            #expect(clock.sleeps == [.seconds(1), .seconds(2)])
            // The change is rolled back, and what comes behind it was sent.
            #expect(cache.list("list") == ["shown"] && cache.texts([1, 2]) == [nil, "shown"])
            let left = try outbox.operations()
            #expect(left.map(\.id) == ["1"] && left[0].isDead && left[0].attempts == 3)
            #expect(left[0].failure == "\(NetworkFailure(2))")
            try expectClean(cache)
        }
    }

    @Test("A dead letter that is tried again shows its change again, and is sent in its place")
    func revived() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in 1...2 { try outbox.add(id, shown: "shown") }
            let refusal = try await outbox.drain(judging: { _ in .giveUp }) { _, _ in
                throw NetworkFailure(403)
            }
            #expect(refusal.dead == 2 && cache.list("list") == nil)
            #expect(try cache.optimisticChanges().isEmpty)
            try outbox.add(3, shown: "shown")
            for id in ["2", "1", "1"] { try outbox.retry(id).wait() }
            #expect(cache.texts([1, 2, 3]) == ["shown", "shown", "shown"])
            #expect(try outbox.operations().allSatisfy { !$0.isDead && $0.attempts == 0 })
            let server = TestServer()
            try await outbox.drain { server.answer($0, $1.id) }
            #expect(server.seen == ["1", "2", "3"])
            #expect(cache.list("list") == ["answer", "answer", "answer"])
            try expectClean(cache)
        }
    }

    @Test("An operation that is dropped leaves nothing, whether it waits or is a dead letter")
    func dropped() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in 1...2 { try outbox.add(id, shown: "shown") }
            try outbox.drop("2").wait()
            #expect(cache.list("list") == ["shown"])
            try await outbox.drain(judging: { _ in .giveUp }) { _, _ in throw NetworkFailure() }
            try outbox.drop("1").wait()
            #expect(try outbox.operations().isEmpty && cache.layerBytes == 0)
            for ticket in [outbox.drop("1"), outbox.retry("1"), outbox.drop("3")] {
                #expect { try ticket.wait() } throws: { ($0 as? CacheError)?.code == .notFound }
            }
            try expectClean(cache)
        }
    }

    @Test("Without a network the drain stops, and the attempt does not count")
    func stops() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in 1...3 { try outbox.add(id, shown: "shown") }
            try outbox.add(SendMemo(id: 9), key: "other", id: "9")
            let network = StepNetwork<Int>()
            let drain = Task {
                try await outbox.drain(judging: { _ in .stop }) { operation, _ in
                    if operation.id == 9 {
                        _ = try await network.ask()
                        return .sent
                    }
                    await network.calls.reaches(1)
                    throw NetworkFailure()
                }
            }
            await network.calls.reaches(1)
            // What is being sent comes to its end.
            network.answer(1, with: .success(9))
            let report = try await drain.value
            #expect(report.isStopped && report.sent == 1 && report.dead == 0)
            #expect(try outbox.operations().map(\.id) == ["1", "2", "3"])
            #expect(try outbox.operations().allSatisfy { $0.attempts == 0 && $0.failure == nil })
            #expect(cache.list("list") == ["shown", "shown", "shown"])
        }
    }

    @Test("An operation that can't be decoded is a dead letter, and is not lost")
    func undecodable() async throws {
        try await withCache { cache in
            try cache.outbox("memos", of: [String].self).add(["old"], id: "old")
            let outbox = cache.outbox("memos", of: SendMemo.self)
            try outbox.add(SendMemo(id: 1), id: "1")
            let report = try await outbox.drain { _, _ in .sent }
            #expect(report.sent == 1 && report.dead == 1)
            let left = try outbox.operations()
            #expect(left.map(\.id) == ["old"] && left[0].failure?.isEmpty == false)
            #expect(throws: DecodingError.self) { try left[0].content.get() }
            let old = try cache.outbox("memos", of: [String].self).operations()
            #expect(try old.map { try $0.content.get() } == [["old"]])
        }
    }

    @Test("An answer that can't be stored is told, and its change is confirmed or taken back")
    func unstored() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in 1...4 { try outbox.add(id, shown: "shown") }
            let report = try await outbox.drain { operation, _ in
                switch operation.id {
                case 1: .sent(Memo(id: 1, text: String(repeating: "x", count: 40 << 20)))
                case 2: .sent { $0.setModel(Memo(id: 2, text: ""), forKey: "") }
                case 3: .sent
                default: .replaced { $0.setModel(Memo(id: 4, text: ""), forKey: "") }
                }
            }
            #expect(report.sent == 4)
            #expect(
                report.unstoredAnswers.mapValues(\.code) == [
                    "1": .treeTooLarge, "2": .noIdentifier, "4": .noIdentifier,
                ])
            #expect(try outbox.operations().isEmpty)
            #expect(cache.list("list") == ["shown", "shown", "shown"])
        }
    }

    // MARK: Who drains

    @Test("One call drains at a time, and one that is cancelled loses nothing")
    func cancelled() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in 1...2 { try outbox.add(id, shown: "shown") }
            let network = StepNetwork<Int>()
            let drain = Task {
                try await outbox.drain { _, _ in
                    _ = try await network.ask()
                    return .sent
                }
            }
            await network.calls.reaches(1)
            await #expect { try await outbox.drain { _, _ in .sent } } throws: {
                ($0 as? CacheError)?.code == .draining
            }
            // Another outbox has a drain of its own.
            #expect(
                try await cache.outbox("others", of: Int.self).drain { _, _ in .sent }.sent == 0)
            drain.cancel()
            await #expect(throws: CancellationError.self) { try await drain.value }
            #expect(try outbox.operations().map(\.attempts) == [0, 0])
            let server = TestServer()
            #expect(try await outbox.drain { server.answer($0, $1.id) }.sent == 2)
            #expect(cache.list("list") == ["answer", "answer"])
        }
    }

    @Test("An answer that comes to a cancelled drain is stored")
    func lateAnswer() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            try outbox.add(1, shown: "shown")
            let network = StepNetwork<Int>(ignoresCancellation: true)
            let drain = Task {
                try await outbox.drain { _, _ in
                    _ = try await network.ask()
                    return .sent(Memo(id: 1, text: "answer"))
                }
            }
            await network.calls.reaches(1)
            drain.cancel()
            network.answer(1, with: .success(1))
            await #expect(throws: CancellationError.self) { try await drain.value }
            try await cache.flush()
            #expect(try outbox.operations().isEmpty && cache.texts([1]) == ["answer"])
        }
    }

    @Test("What is dropped or retried while it is sent neither hangs nor comes back")
    func droppedMeanwhile() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in 1...2 { try outbox.add(id, shown: "shown") }
            let report = try await outbox.drain { operation, queued in
                try await outbox.drop(queued.id).committed
                if operation.id == 2 { throw NetworkFailure() }
                return .sent(Memo(id: 1, text: "answer"))
            }
            #expect(report.dead == 0)
            // The server has done the first one, whatever the app wanted.
            #expect(cache.texts([1, 2]) == ["answer", nil])
            #expect(try outbox.operations().isEmpty && cache.optimisticChanges().isEmpty)
        }
    }

    // MARK: Adding and following

    @Test("Names are unique in an outbox, and what can't be added adds nothing")
    func names() throws {
        try withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            try outbox.add(1, shown: "shown").wait()
            let again = try outbox.add(1, shown: "again")
            #expect { try again.wait() } throws: { ($0 as? CacheError)?.code == .pendingChange }
            try cache.outbox("others", of: SendMemo.self).add(SendMemo(id: 1), id: "1").wait()
            for ticket in [
                try outbox.add(SendMemo(id: 2), id: ""),
                try cache.outbox("", of: Int.self).add(1),
                try outbox.add(SendMemo(id: 2)) { $0.setCollection([Memo](), forKey: "") },
            ] {
                #expect { try ticket.wait() } throws: {
                    ($0 as? CacheError)?.code == .noIdentifier
                }
            }
            let numbers = cache.outbox("numbers", of: Double.self)
            #expect(throws: EncodingError.self) { try numbers.add(.nan) }
            #expect(throws: NetworkFailure.self) {
                try outbox.add(SendMemo(id: 3)) { _ in throw NetworkFailure() }
            }
            #expect(try outbox.operations().map(\.id) == ["1"])
            #expect(cache.list("list") == ["shown"])
            let keyed = cache.outbox("keyed", of: SendMemo.self)
            try keyed.add(SendMemo(id: 7), key: "k").wait()
            let queued = try #require(try keyed.operations().first)
            #expect(queued.key == "k" && UUID(uuidString: queued.id) != nil)
            #expect(abs(queued.addedAt.timeIntervalSinceNow) < 60)
        }
    }

    @Test("A sequence shows the outbox now and after each change")
    func updates() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            var states = outbox.updates().makeAsyncIterator()
            #expect(await states.next()?.isEmpty == true)
            try outbox.add(1, shown: "shown")
            #expect(await states.next()?.map(\.id) == ["1"])
            // Changes of other outboxes and of records are not listed.
            try cache.outbox("others", of: Int.self).add(1).wait()
            try cache.set(Memo(id: 9, text: "")).wait()
            try await outbox.drain(judging: { _ in .giveUp }) { _, _ in throw NetworkFailure() }
            #expect(await states.next()?.map(\.isDead) == [true])
            try outbox.drop("1").wait()
            #expect(await states.next()?.isEmpty == true)
        }
    }
}

/// What the tests send.
struct SendMemo: Codable, Sendable, Equatable {
    var id: Int
}

/// A server that counts what it gets.
final class TestServer: Sendable {
    private let state = Mutex<[String]>([])

    var seen: [String] { state.withLock { $0 } }

    func answer(_ operation: SendMemo, _ id: String) -> OutboxAnswer {
        state.withLock { $0.append(id) }
        return .sent(Memo(id: operation.id, text: "answer"))
    }
}

extension Outbox<SendMemo> {
    /// Adds an operation that shows a memo at once, in a list.
    @discardableResult
    func add(_ number: Int, shown text: String, key: String = "") throws -> WriteTicket {
        try add(SendMemo(id: number), key: key, id: "\(number)") { batch in
            batch.set(Memo(id: number, text: text))
            batch.append([Memo(id: number, text: text)], toCollection: "list")
        }
    }
}

extension NormalizedCache {
    /// The texts of a collection of memos.
    func list(_ key: String) -> [String]? { collection(of: Memo.self, forKey: key)?.map(\.text) }

    func texts(_ ids: [Int]) -> [String?] { ids.map { read(Memo.self, "Memo:\($0)")?.text } }
}

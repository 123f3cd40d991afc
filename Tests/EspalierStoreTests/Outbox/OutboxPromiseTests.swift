import EspalierLMDB
import EspalierModels
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("What outboxes never lose", .serialized, .timeLimit(.minutes(10)))
struct OutboxPromiseTests {
    @Test("Operations survive a restart, a compaction, and another budget")
    func restart() async throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        for id in 1...3 {
            try cache.outbox("memos", of: SendMemo.self).add(id, shown: "shown").wait()
        }
        try await cache.outbox("memos", of: SendMemo.self).drain(judging: {
            ($0 as? NetworkFailure)?.number == 1 ? .giveUp : .stop
        }) { operation, _ in throw NetworkFailure(operation.id) }
        try scratch.reopen(&cache) { cache in
            let operations = try cache.outbox("memos", of: SendMemo.self).operations()
            #expect(operations.map(\.id) == ["1", "2", "3"])
            #expect(operations.map(\.isDead) == [true, false, false])
            #expect(cache.texts([1, 2, 3]) == [nil, "shown", "shown"])
        }
        let outbox = cache.outbox("memos", of: SendMemo.self)
        try outbox.retry("1").wait()
        let server = TestServer()
        try await outbox.drain { server.answer($0, $1.id) }
        #expect(
            server.seen == ["1", "2", "3"]
                && cache.texts([1, 2, 3]) == ["answer", "answer", "answer"])
        try outbox.add(4, shown: "shown").wait()
        try cache.removeAll().wait()
        #expect(try outbox.operations().isEmpty)
        cache.close()
    }

    @Test("An operation that does not fit fails, with its change, and the others stay")
    func limit() async throws {
        try await withCache(.forTests(budget: .mebibytes(1))) { cache in
            let outbox = cache.outbox("texts", of: String.self)
            let text = String(repeating: "text ", count: 1_000)
            var failure: CacheError?
            var number = 0
            while failure == nil, number < 200 {
                number += 1
                let id = number
                do {
                    // With and without a change: both count.
                    try outbox.add(text, id: "\(id)") {
                        if id % 2 == 0 { $0.set(Memo(id: id, text: "shown")) }
                    }.wait()
                } catch {
                    failure = error as? CacheError
                }
            }
            #expect(failure?.code == .optimisticFull && number > 10 && number < 30)
            #expect(try outbox.operations().count == number - 1)
            #expect(cache.texts([number]) == [nil])
            // Room is made by sending.
            #expect(try await outbox.drain { _, _ in .sent }.sent == number - 1)
            #expect(try cache.layerBytes == 0)
            try outbox.add(text).wait()
        }
    }

    @Test("What does not fit into an outbox evicts nothing")
    func tooLarge() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            for id in 1...60 {
                try cache.set(Memo(id: id, text: String(repeating: "\(id) ", count: 4_000))).wait()
            }
            let before = try cache.statistics()
            let outbox = cache.outbox("texts", of: String.self)
            for size in [200_000, 600_000, 3_000_000] {
                let ticket = try outbox.add(String(repeating: "x", count: size))
                #expect(code(ticket) == .optimisticFull)
            }
            let after = try cache.statistics()
            #expect(after.nodes == before.nodes)
            #expect(after.evictions.records == before.evictions.records)
        }
    }

    @Test("Names with slashes are no names of other outboxes")
    func slashes() throws {
        try withCache { cache in
            let (first, second) = (
                cache.outbox("a", of: SendMemo.self), cache.outbox("a/b", of: SendMemo.self)
            )
            try first.add(SendMemo(id: 1), id: "b/c") { $0.set(Memo(id: 1, text: "one")) }.wait()
            try second.add(SendMemo(id: 2), id: "c") { $0.set(Memo(id: 2, text: "two")) }.wait()
            try first.drop("b/c").wait()
            #expect(cache.texts([1, 2]) == [nil, "two"])
            #expect(try second.operations().map(\.id) == ["c"])
            #expect(try cache.optimisticChanges().map(\.id) == ["outbox/a%2Fb/c"])
        }
    }

    @Test(
        "An operation added under the name of one that is being sent is sent, too",
        arguments: [true, false])
    func addedAgain(fails: Bool) async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            try await outbox.add(SendMemo(id: 1), id: "x") { $0.set(Memo(id: 1, text: "old")) }
                .committed
            let sent = Mutex<[Int]>([])
            let report = try await outbox.drain(judging: { _ in .giveUp }) { operation, _ in
                sent.withLock { $0.append(operation.id) }
                guard operation.id == 1 else { return .sent }
                try await outbox.drop("x").committed
                try await outbox.add(SendMemo(id: 2), id: "x") { $0.set(Memo(id: 2, text: "new")) }
                    .committed
                if fails { throw NetworkFailure() }
                return .sent(Memo(id: 1, text: "answer"))
            }
            #expect(sent.withLock { $0 } == [1, 2] && report.dead == 0)
            #expect(cache.texts([1, 2]) == [fails ? nil : "answer", "new"])
            #expect(try outbox.operations().isEmpty && cache.optimisticChanges().isEmpty)
        }
    }

    @Test(
        "An operation from after the cache was emptied is sent, and no answer from before stored",
        arguments: [true, false])
    func emptied(fails: Bool) async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            try await outbox.add(SendMemo(id: 1), id: "x") { $0.set(Memo(id: 1, text: "old")) }
                .committed
            let first = try cache.outboxEntries().map(\.number)
            let sent = Mutex<[Int]>([])
            let report = try await outbox.drain(judging: { _ in .giveUp }) { operation, _ in
                sent.withLock { $0.append(operation.id) }
                guard operation.id == 1 else { return .sent }
                try await cache.removeAll().committed
                try await outbox.add(SendMemo(id: 2), id: "x") { $0.set(Memo(id: 2, text: "new")) }
                    .committed
                // The first commit of a file gives out the same numbers again.
                #expect(try cache.outboxEntries().map(\.number) == first)
                if fails { throw NetworkFailure() }
                return .sent(Memo(id: 1, text: "answer"))
            }
            #expect(sent.withLock { $0 } == [1, 2] && report.dead == 0)
            #expect(report.unstoredAnswers.map(\.value.code) == (fails ? [] : [.notFound]))
            #expect(cache.texts([1, 2]) == [nil, "new"])
            #expect(try outbox.operations().isEmpty && cache.optimisticChanges().isEmpty)
        }
    }

    @Test("A drain does not wait for an operation that was dropped")
    func droppedWhileWaiting() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in 1...2 { try await outbox.add(SendMemo(id: id), id: "\(id)").committed }
            let dropping = Task {
                for await operations in outbox.updates() where operations.first?.attempts == 1 {
                    return try await outbox.drop("1").committed
                }
            }
            let sent = Mutex<[Int]>([])
            let hours = RetryPolicy.exponential(firstDelay: .seconds(36_000))
            let report = try await outbox.drain(retry: hours) { operation, _ in
                sent.withLock { $0.append(operation.id) }
                if operation.id == 1 { throw NetworkFailure() }
                return .sent
            }
            #expect(sent.withLock { $0 } == [1, 2] && report.sent == 1 && report.dead == 0)
            try await dropping.value
        }
    }

    @Test("Eviction reaches neither operations nor their changes")
    func eviction() async throws {
        try await withCache(.forTests(budget: .mebibytes(1))) { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            try outbox.add(1, shown: "shown").wait()
            for number in 0..<4_000 {
                try cache.set(
                    Memo(id: 100 + number, text: String(repeating: "\(number) ", count: 100))
                ).wait()
            }
            #expect(cache.texts([1, 100]) == ["shown", nil])
            let server = TestServer()
            #expect(try await outbox.drain { server.answer($0, $1.id) }.sent == 1)
            #expect(cache.texts([1]) == ["answer"])
        }
    }

    @Test("A damaged operation is lost, and no other one with it")
    func damage() async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            for id in 1...3 { try outbox.add(id, shown: "shown").wait() }
            try cache.damageLayerEntry(.operation, cache.outboxEntries()[1].number)
            #expect(try !cache.verify().isClean)
            #expect(try outbox.operations().map(\.id) == ["1", "3"])
            let server = TestServer()
            #expect(try await outbox.drain { server.answer($0, $1.id) }.sent == 2)
            #expect(cache.texts([1, 3]) == ["answer", "answer"])
            // Its change stays, for the app to end it.
            #expect(try cache.optimisticChanges().map(\.id) == ["outbox/memos/2"])
            try cache.optimisticChange("outbox/memos/2").rollback().wait()
            #expect(cache.texts([2]) == [nil])
            // Or it adds the operation again.
            try outbox.add(4, shown: "before").wait()
            try cache.damageLayerEntry(.operation, cache.outboxEntries()[0].number)
            try outbox.add(4, shown: "shown").wait()
            #expect(cache.texts([4]) == ["shown"])
            #expect(try await outbox.drain { server.answer($0, $1.id) }.sent == 1)
            #expect(cache.texts([4]) == ["answer"])
            #expect(try cache.optimisticChanges().isEmpty)
            try expectClean(cache)
            var events = cache.events().makeAsyncIterator()
            #expect(await events.next() == .optimisticChangesLost(changes: 0, operations: 1))
        }
    }

    @Test("Another process drains, and this one sees it")
    func otherProcess() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        let outbox = cache.outbox("memos", of: SendMemo.self)
        for id in 1...3 { try outbox.add(id, shown: "shown").wait() }
        var states = outbox.updates().makeAsyncIterator()
        #expect(await states.next()?.count == 3)
        await #expect(processExitsWith: .success) {
            [directory = scratch.directory as String] in
            let cache = try NormalizedCache(directory: directory, configuration: .forTests)
            let server = TestServer()
            try await cache.outbox("memos", of: SendMemo.self).drain { server.answer($0, $1.id) }
            cache.close()
            #expect(server.seen == ["1", "2", "3"])
        }
        while let state = await states.next(), !state.isEmpty {}
        #expect(try outbox.operations().isEmpty && cache.texts([1]) == ["answer"])
        cache.close()
    }

    /// The variable `ESPALIER_OUTBOX_KILLS` makes the test longer.
    private static let kills =
        ProcessInfo.processInfo.environment["ESPALIER_OUTBOX_KILLS"].flatMap { Int($0) } ?? 12

    @Test("A killed process loses no operation, applies no answer twice, and keeps the order")
    func kill() async throws {
        let scratch = try Scratch()
        for name in ["added", "server"] {
            _ = FileManager.default.createFile(atPath: scratch.root + "/\(name)", contents: nil)
        }
        for round in 0..<Self.kills {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    directory = scratch.directory as String, root = scratch.root as String,
                    round = round as Int
                ] in
                try await OutboxProcess.run(directory, root, round)
            }
            // A process is killed before it can send all. The rest would pile up.
            guard round % 20 == 19 || round == Self.kills - 1 else { continue }
            let cache = try scratch.open()
            try await OutboxProcess.drain(cache, scratch.root)
            try OutboxProcess.check(cache, scratch.root, kills: round + 1)
            try expectClean(cache)
            cache.close()
        }
    }
}

/// A process that adds operations and sends them until it is killed.
private enum OutboxProcess {
    static func run(_ directory: String, _ root: String, _ round: Int) async throws {
        let cache = try NormalizedCache(directory: directory, configuration: .forTests)
        let thread = Thread {
            usleep(UInt32.random(in: 1_000...60_000))
            _ = Foundation.kill(getpid(), SIGKILL)
        }
        thread.start()
        let outbox = cache.outbox("memos", of: SendMemo.self)
        for step in 0..<6 {
            let number = round * 100 + step
            try await outbox.add(number, shown: "shown", key: "\(number % 3)").committed
            try note("\(number)", in: root + "/added")
        }
        while true {
            try await drain(cache, root)
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    static func drain(_ cache: NormalizedCache, _ root: String) async throws {
        try await cache.outbox("memos", of: SendMemo.self).drain { operation, queued in
            // The server: what it has done is in its file.
            try note(queued.id, in: root + "/server")
            if operation.id % 4 == 0 { try await Task.sleep(for: .milliseconds(1)) }
            return .sent { batch in
                batch.set(Memo(id: operation.id, text: "answer"))
                batch.append(
                    [Memo(id: operation.id, text: "answer")],
                    toCollection: list(of: operation.id / 100))
            }
        }
    }

    /// The list of the answers of a round. Twenty rounds share one: a list of all would make each
    /// round slower than the one before.
    private static func list(of round: Int) -> String { "answers \(round / 20)" }

    private static func note(_ text: String, in path: String) throws {
        // Several operations are sent at once: each line goes to the end in one call.
        let descriptor = unsafe open(path, O_WRONLY | O_APPEND)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data((text + "\n").utf8))
    }

    private static func numbers(in path: String) throws -> [Int] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            .compactMap { Int($0) }
    }

    static func check(_ cache: NormalizedCache, _ root: String, kills: Int) throws {
        let added = Set(try numbers(in: root + "/added"))
        let server = try numbers(in: root + "/server")
        // What the server does for a key that it sees for the first time.
        var known: Set<Int> = []
        let done = server.filter { known.insert($0).inserted }
        let answers = Set((0..<kills).map(list)).flatMap {
            cache.collection(of: Memo.self, forKey: $0)?.map(\.id) ?? []
        }
        #expect(added.isSubset(of: known))
        #expect(Set(answers) == known && answers.count == known.count)
        for key in 0..<3 {
            let sent = done.filter { $0 % 3 == key }
            #expect(sent == sent.sorted())
            for list in 0...kills / 20 {
                let isOfList = { (number: Int) in number % 3 == key && number / 2_000 == list }
                #expect(answers.filter(isOfList) == sent.filter(isOfList))
            }
        }
        for number in known { #expect(cache.texts([number]) == ["answer"]) }
        #expect(try cache.outbox("memos", of: SendMemo.self).operations().isEmpty)
        #expect(try cache.optimisticChanges().isEmpty && cache.layerBytes == 0)
        // A kill lets the first operation of each key be sent again, and no other one.
        #expect(server.count - done.count <= 3 * kills)
    }
}

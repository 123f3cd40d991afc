import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("What optimistic changes never lose", .serialized, .timeLimit(.minutes(10)))
struct OptimisticPromiseTests {
    @Test("Changes survive a restart, a compaction, and another budget")
    func restart() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        try cache.set(Memo(id: 1, text: "base")).wait()
        try cache.optimistically(id: "a") { $0.set(Memo(id: 1, text: "shown")) }.applied.wait()
        try cache.optimistically(id: "b") { $0.delete("Memo:2") }.applied.wait()
        try scratch.reopen(&cache) { cache in
            let changes = try cache.optimisticChanges()
            #expect(changes.map(\.id) == ["a", "b"])
            #expect(changes.first?.nodes == ["Memo:1"])
            #expect(cache.read(Memo.self, "Memo:1")?.text == "shown")
            #expect(cache.confirmed.read(Memo.self, "Memo:1")?.text == "base")
        }
        try cache.optimisticChange("a").rollback().wait()
        #expect(cache.read(Memo.self, "Memo:1")?.text == "base")
        let again = cache.optimistically(id: "b") { $0.delete("Memo:3") }
        #expect(throws: CacheError.self) { try again.applied.wait() }
        try cache.removeAll().wait()
        #expect(try cache.optimisticChanges().isEmpty)
        cache.close()
    }

    @Test("Eviction reaches neither changes nor what they change")
    func eviction() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            try cache.set(Board(id: 1, notes: [Memo(id: 1, text: "base")])).wait()
            let change = cache.optimistically { batch in
                batch.set(Board(id: 1, notes: [Memo(id: 2, text: "new")]))
            }
            for number in 0..<4_000 {
                try cache.set(
                    Memo(id: 100 + number, text: String(repeating: "\(number) ", count: 100))
                ).wait()
            }
            #expect(cache.read(Memo.self, "Memo:100") == nil)
            #expect(cache.read(Board.self, "Board:1")?.notes.map(\.text) == ["new"])
            #expect(cache.confirmed.read(Board.self, "Board:1")?.notes.map(\.text) == ["base"])
            try change.rollback().wait()
            #expect(cache.read(Board.self, "Board:1")?.notes.map(\.text) == ["base"])
        }
    }

    @Test("A change that does not fit fails, and the others stay")
    func limit() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            let text = String(repeating: "text ", count: 1_000)
            var failure: CacheError?
            var number = 0
            while failure == nil, number < 200 {
                number += 1
                let memo = Memo(id: number, text: text)
                do {
                    try cache.optimistically { $0.set(memo) }.applied.wait()
                } catch {
                    failure = error as? CacheError
                }
            }
            #expect(failure?.code == .optimisticFull)
            #expect(try cache.optimisticChanges().count == number - 1)
            #expect(number > 10 && cache.read(Memo.self, "Memo:\(number)") == nil)
            for change in try cache.optimisticChanges() { try change.change.rollback().wait() }
            #expect(try cache.layerBytes == 0)
        }
    }

    @Test("A damaged change is lost, and no record with it")
    func damage() throws {
        try withCache { cache in
            try cache.set(Memo(id: 1, text: "base")).wait()
            try cache.optimistically(id: "a") { $0.set(Memo(id: 1, text: "a")) }.applied.wait()
            try cache.optimistically(id: "b") { $0.set(Memo(id: 2, text: "b")) }.applied.wait()
            try cache.damageLayerEntry(.layer, 1)
            #expect(try cache.optimisticChanges().map(\.id) == ["b"])
            try cache.set(Memo(id: 9, text: "next")).wait()
            #expect(cache.read(Memo.self, "Memo:1")?.text == "base")
            #expect(cache.read(Memo.self, "Memo:2")?.text == "b")
            try cache.optimisticChange("b").rollback().wait()
            #expect(cache.read(Memo.self, "Memo:2") == nil)
        }
    }

    @Test(
        "A damaged key of a change loses this change, and neither the next one nor an operation",
        arguments: [true, false])
    func damagedKey(isNewest: Bool) async throws {
        try await withCache { cache in
            let outbox = cache.outbox("memos", of: SendMemo.self)
            try cache.optimistically(id: "a") { $0.set(Memo(id: 1, text: "a")) }.applied.wait()
            try cache.optimistically(id: "b") { $0.set(Memo(id: 2, text: "b")) }.applied.wait()
            try outbox.add(SendMemo(id: 3), id: "3").wait()
            // A kind below all others stands first, and one above them last.
            let (kind, number): (EntryKey.Kind, UInt64) =
                try isNewest
                ? (.operation, #require(cache.outboxEntries().first).number) : (.layer, 1)
            try cache.tamper { transaction, keyspaces in
                var key = EntryKey(kind, number).bytes(part: 0)
                let value = try #require(try transaction.value(keyspaces.layers, key))
                try transaction.delete(keyspaces.layers, key)
                key[0] = isNewest ? 7 : 0
                try transaction.put(keyspaces.layers, key, value)
            }
            try cache.set(Memo(id: 9, text: "next")).wait()
            var events = cache.events().makeAsyncIterator()
            // The kind of the entry is not known.
            #expect(await events.next() == .optimisticChangesLost(changes: 1, operations: 0))
            #expect(try cache.optimisticChanges().map(\.id) == (isNewest ? ["a", "b"] : ["b"]))
            #expect(try outbox.operations().map(\.id) == (isNewest ? [] : ["3"]))
            #expect(cache.texts([1, 2]) == [isNewest ? "a" : nil, "b"])
            try expectClean(cache)
        }
    }

    @Test("A write that does not fit beside optimistic changes fails, and empties nothing")
    func fullOfChanges() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            var random = SeededGenerator(quietly: 3)
            func text(_ count: Int) -> String {
                String(
                    decoding: (0..<count).map { _ in UInt8.random(in: 33..<127, using: &random) },
                    as: UTF8.self)
            }
            for id in 1...4 {
                try cache.optimistically(id: "\(id)") { $0.set(Memo(id: id, text: text(20_000))) }
                    .applied.wait()
            }
            for count in stride(from: 20, through: 60, by: 4) {
                let texts = (0..<count).map { _ in text(18_000) }
                try? cache.transaction { transaction in
                    for (id, text) in texts.enumerated() {
                        try transaction.set(Memo(id: 100 + id, text: text))
                    }
                }
                #expect(try cache.optimisticChanges().count == 4, "\(count)")
                #expect(try cache.statistics().generationsReplaced.isEmpty)
            }
            try expectClean(cache)
        }
    }

    @Test("The first write after the damage tells how many changes and operations are lost")
    func damageEvent() async throws {
        try await withCache { cache in
            try cache.optimistically(id: "a") { $0.set(Memo(id: 1, text: "a")) }.applied.wait()
            try cache.optimistically(id: "b") { $0.set(Memo(id: 2, text: "b")) }.applied.wait()
            try cache.damageLayerEntry(.layer, 1)
            for number in 3...5 { try cache.set(Memo(id: number, text: "next")).wait() }
            var events = cache.events().makeAsyncIterator()
            #expect(await events.next() == .optimisticChangesLost(changes: 1, operations: 0))
            try cache.removeAll().wait()
            #expect(await events.next() == .generationReplaced(reason: "emptied"))
        }
    }

    /// The variable `ESPALIER_LAYER_KILLS` makes the test longer.
    private static let kills =
        ProcessInfo.processInfo.environment["ESPALIER_LAYER_KILLS"].flatMap { Int($0) } ?? 12

    @Test("A killed process loses no confirmed change and applies none twice")
    func kill() async throws {
        let scratch = try Scratch()
        let log = scratch.root + "/log"
        for round in 0..<Self.kills {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [directory = scratch.directory as String, log = log as String, round = round as Int]
                in
                try OptimisticProcess.run(directory, log, round)
            }
            let cache = try scratch.open()
            // All of what was confirmed would take longer with each round.
            let isLast = round == Self.kills - 1
            try OptimisticProcess.check(cache, log, isLast ? 0...round : round...round)
            for change in try cache.optimisticChanges() { try change.change.rollback().wait() }
            if isLast || round % 20 == 19 { try expectClean(cache) }
            cache.close()
        }
    }
}

/// A process that makes and ends changes until it kills itself.
private enum OptimisticProcess {
    /// Memos count how often an answer was applied: a change that was confirmed twice shows.
    static func run(_ directory: String, _ log: String, _ round: Int) throws {
        let cache = try NormalizedCache(directory: directory, configuration: .forTests)
        if !FileManager.default.fileExists(atPath: log) {
            _ = FileManager.default.createFile(atPath: log, contents: nil)
        }
        let file = try #require(FileHandle(forWritingAtPath: log))
        try file.seekToEnd()
        func note(_ text: String) throws { try file.write(contentsOf: Data((text + "\n").utf8)) }
        let last = Int.random(in: 3...30)
        for step in 0...last {
            let id = round * 1_000 + step
            let change = cache.optimistically(id: "\(id)") { batch in
                batch.set(Memo(id: id, text: "shown"))
                batch.append([Memo(id: id, text: "shown")], toCollection: "list \(round)")
            }
            if step == last { break }
            try note("begin \(id)")
            if step % 3 == 2 {
                try change.rollback().wait()
                try note("rolled back \(id)")
            } else {
                try change.confirm { batch in
                    batch.set(Memo(id: id, text: "answer"))
                    batch.append([Memo(id: id, text: "answer")], toCollection: "list \(round)")
                }.wait()
                try note("confirmed \(id)")
            }
        }
        usleep(UInt32.random(in: 0...2_000))
        _ = Foundation.kill(getpid(), SIGKILL)
    }

    static func check(_ cache: NormalizedCache, _ log: String, _ rounds: ClosedRange<Int>) throws {
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let lists = rounds.map { round in
            cache.confirmed.collection(of: Memo.self, forKey: "list \(round)")?.map(\.id) ?? []
        }
        for list in lists { #expect(Set(list).count == list.count && list == list.sorted()) }
        for line in lines {
            let words = line.split(separator: " ")
            guard let id = words.last.flatMap({ Int($0) }), rounds.contains(id / 1_000) else {
                continue
            }
            let list = lists[id / 1_000 - rounds.lowerBound]
            if words[0] == "confirmed" {
                #expect(list.contains(id), "\(line)")
                #expect(cache.confirmed.read(Memo.self, "Memo:\(id)")?.text == "answer")
            } else if words[0] == "rolled" {
                #expect(!list.contains(id), "\(line)")
                #expect(cache.confirmed.read(Memo.self, "Memo:\(id)") == nil)
            }
        }
    }
}

extension NormalizedCache {
    /// Flips a bit of a layer or of an operation.
    func damageLayerEntry(_ kind: EntryKey.Kind, _ number: UInt64) throws {
        let key = EntryKey(kind, number).bytes(part: 0)
        try tamper { transaction, keyspaces in
            var value = try #require(try transaction.value(keyspaces.layers, key))
            value[value.count / 2] ^= 1
            try transaction.put(keyspaces.layers, key, value)
        }
    }
}

import EspalierLMDB
import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

/// Exit tests run their bodies in other processes, which share the cache directory of the parent.
@Suite("A process learns what another one commits")
struct ChangeNoticeTests {
    @Test("Every commit of another process arrives once and in order, or a reset takes its place")
    func order() async throws {
        try await withCache { cache in
            let changes = cache.changes()
            async let peer: Void = run(cache, .write(1_000))
            async let own: Void = write(200, to: cache)
            var sets: [ChangeSet] = []
            for await set in changes {
                sets.append(set)
                let isEnd = set.written.contains("p:end")
                if isEnd || set.isReset && cache.peeks("p:end") { break }
            }
            _ = await (peer, try own)
            let last = sets.last?.commit ?? 0
            let numbered = sets.filter { !$0.isReset }.map(\.commit)
            #expect(zip(numbered, numbered.dropFirst()).allSatisfy { $0 < $1 })
            #expect(numbered.isEmpty || last == 0 || numbered.last == last)
            expectRun(of: "p", in: sets.filter { $0.origin != .thisProcess })
            expectRun(of: "own", in: sets.filter { $0.origin == .thisProcess })
            for set in sets where set.origin != .thisProcess && !set.isReset {
                guard case .anotherProcess(let process?) = set.origin else {
                    Issue.record("\(set.origin)")
                    continue
                }
                #expect(process != ProcessInfo.processInfo.processIdentifier)
            }
        }
    }

    /// Expects the numbers of written nodes to ascend by one, except after a reset.
    private func expectRun(of prefix: String, in sets: [ChangeSet]) {
        var next: Int? = 0
        for set in sets {
            if set.isReset { next = nil }
            for identifier in set.written where identifier.hasPrefix("\(prefix):") {
                guard let number = Int(identifier.dropFirst(prefix.count + 1)) else { continue }
                #expect(next == nil || next == number)
                next = number + 1
            }
        }
    }

    private func write(_ count: Int, to cache: NormalizedCache) async throws {
        for number in 0..<count {
            try await cache.set(Person("own:\(number)", "\(number)")).committed
        }
    }

    @Test("A process killed between its commit and the announcement is heard nevertheless")
    func killedBeforeAnnouncing() async throws {
        try await withCache { cache in
            var changes = cache.changes().makeAsyncIterator()
            #expect(cache.engine.changeSets.isPolling == false)
            let directory = cache.engine.directory.path
            await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String] in
                try ChangePeer.commitWithoutAnnouncing(directory)
            }
            #expect(await changes.next()?.written == ["p:killed"])
        }
    }

    @Test("Commits of another process come before the own commit that follows them")
    func foreignFirst() async throws {
        try await withCache { cache in
            var changes = cache.changes().makeAsyncIterator()
            cache.engine.changeSets.queue.suspend()
            await run(cache, .write(3))
            try await cache.set(Person("p:own", "own")).committed
            cache.engine.changeSets.queue.resume()
            for name in ["p:0", "p:1", "p:2", "p:end"] {
                #expect(await changes.next()?.written == [name])
            }
            let own = await changes.next()
            #expect(own?.written == ["p:own"] && own?.origin == .thisProcess)
            try await cache.set(Person("p:own", "again")).committed
            #expect(await changes.next()?.written == ["p:own"])
        }
    }

    @Test("A process that fell behind the ring receives one reset")
    func overflow() async throws {
        try await withCache(.forTests(budget: .mebibytes(1))) { cache in
            var changes = cache.changes().makeAsyncIterator()
            cache.engine.changeSets.queue.suspend()
            await run(cache, .write(1_000))
            let pages = try cache.readStorage { transaction, keyspaces in
                try transaction.statistics(of: keyspaces.changes)
            }
            #expect((1...4).contains(pages.leafPages + pages.overflowPages))
            cache.engine.changeSets.queue.resume()
            #expect(await changes.next() == .reset(by: .anotherProcess(nil)))
            try await cache.set(Person("p:own", "own")).committed
            #expect(await changes.next()?.written == ["p:own"])
        }
    }

    @Test("A commit without an entry, as an older version makes it, is a reset")
    func gap() async throws {
        try await withCache { cache in
            var changes = cache.changes().makeAsyncIterator()
            try cache.tamper { transaction, keyspaces in
                var counters = try transaction.counters(keyspaces)
                counters.commits += 1
                try transaction.put(keyspaces.info, Counters.key, counters.bytes)
            }
            try await cache.set(Person("p:own", "own")).committed
            #expect(await changes.next() == .reset(by: .anotherProcess(nil)))
            #expect(await changes.next()?.written == ["p:own"])
        }
    }

    @Test("A change set with more identifiers than the ring takes becomes a reset")
    func largeCommit() async throws {
        try await withCache(.forTests(budget: .mebibytes(1))) { cache in
            var changes = cache.changes().makeAsyncIterator()
            await run(cache, .writeMany(1_000))
            let set = await changes.next()
            #expect(set?.isReset == true && set?.origin != .thisProcess)
        }
    }

    @Test("The deletions of a commit that is too long to be listed arrive with the reset")
    func manyDeletions() async throws {
        try await withCache(.forTests(budget: .mebibytes(1))) { cache in
            var changes = cache.changes().makeAsyncIterator()
            await run(cache, .deleteMany(100))
            // Whatever happens, a change set follows.
            try await cache.set(Person("p:own", "own")).committed
            var deleted: [String] = []
            var isReset = false
            while deleted.isEmpty, let set = await changes.next(), set.written != ["p:own"] {
                isReset = set.isReset
                deleted = set.deleted
            }
            #expect(isReset)
            #expect(Set(deleted) == Set((0..<100).map { "p:\($0)" }))
        }
    }

    @Test("Deletions, keys and long lists of identifiers arrive as they were made")
    func contents() async throws {
        try await withCache { cache in
            var changes = cache.changes().makeAsyncIterator()
            await run(cache, .edit)
            #expect(await changes.next()?.written == (0..<900).map { "p:\($0)" })
            #expect(await changes.next()?.deleted == ["p:7"])
            #expect(await changes.next()?.keys == ["me"])
        }
    }

    @Test("When another process empties the cache, a reset arrives; when it compacts it, none does")
    func generations() async throws {
        try await withCache { cache in
            try await cache.set(Person("p:0", "parent")).committed
            var changes = cache.changes().makeAsyncIterator()
            await run(cache, .compact)
            #expect(await changes.next()?.written == ["p:before"])
            #expect(await changes.next()?.written == ["p:after"])
            await run(cache, .empty)
            #expect(await changes.next()?.isEmptied == true)
            // The reset may stand for the write that followed, too.
            #expect(cache.peeks("p:new"))
            try await cache.removeAll().committed
            var own = await changes.next()
            while let set = own, set.origin != .thisProcess { own = await changes.next() }
            #expect(own == .reset(by: .thisProcess, isEmptied: true))
        }
    }

    @Test("A full cache stays within its budget while another process listens")
    func full() async throws {
        try await withCache(.forTests(budget: .mebibytes(1))) { cache in
            let changes = cache.changes()
            await run(cache, .overfill)
            try expectClean(cache)
            let statistics = try cache.statistics()
            #expect(statistics.directoryBytes <= statistics.budget)
            cache.close()
            withExtendedLifetime(changes) {}
        }
    }

    private func run(_ cache: NormalizedCache, _ task: ChangePeer.Task) async {
        let directory = cache.engine.directory.path
        let budget = cache.configuration.budget.bytes
        let (name, count) = task.parts
        await #expect(processExitsWith: .success) {
            [
                directory = directory as String, budget = budget as Int, name = name as String,
                count = count as Int
            ] in
            try ChangePeer.run(name, count, directory, budget)
        }
    }
}

extension NormalizedCache {
    /// Returns whether a person is stored, without an access.
    fileprivate func peeks(_ identifier: String) -> Bool {
        let person: Person? = read(Person.self, identifier, access: .peek)
        return person != nil
    }
}

/// The bodies of the other process.
private enum ChangePeer {
    enum Task {
        case write(Int)
        case writeMany(Int)
        case deleteMany(Int)
        case edit, compact, empty, overfill

        var parts: (name: String, count: Int) {
            switch self {
            case .write(let count): ("write", count)
            case .writeMany(let count): ("writeMany", count)
            case .deleteMany(let count): ("deleteMany", count)
            case .edit: ("edit", 0)
            case .compact: ("compact", 0)
            case .empty: ("empty", 0)
            case .overfill: ("overfill", 0)
            }
        }
    }

    static func run(_ task: String, _ count: Int, _ directory: String, _ budget: Int) throws {
        let cache = try NormalizedCache(
            directory: directory, configuration: .forTests(budget: ByteCount(budget)))
        defer { cache.close() }
        switch task {
        case "write":
            for number in 0..<count { try cache.set(Person("p:\(number)", "\(number)")).wait() }
            try cache.set(Person("p:end", "end")).wait()
        case "writeMany":
            try cache.set((0..<count).map { Person("p:\($0)", "\($0)") }).wait()
        case "deleteMany":
            try cache.set((0..<count).map { Person("p:\($0)", "\($0)") }).wait()
            try cache.write { batch in
                for number in 0..<count { batch.delete("p:\(number)") }
                batch.set((0..<1_000).map { Person("q:\($0)", "\($0)") })
            }.wait()
        case "edit":
            try cache.set((0..<900).map { Person("p:\($0)", "\($0)") }).wait()
            try cache.delete("p:7").wait()
            try cache.setModel(Person("p:1", "1"), forKey: "me").wait()
        case "compact":
            try cache.set(Person("p:before", "1")).wait()
            try cache.compact().wait()
            try cache.set(Person("p:after", "1")).wait()
        case "empty":
            try cache.removeAll().wait()
            try cache.set(Person("p:new", "1")).wait()
        case "overfill":
            try cache.overfill(budgets: 1.5)
        default: exit(20)
        }
    }

    /// Commits as the library does, and dies before it wakes anybody.
    static func commitWithoutAnnouncing(_ directory: String) throws {
        let cache = try NormalizedCache(directory: directory, configuration: .forTests)
        let flattener = Flattener()
        let value = try flattener.value {
            try ModelStorage.encode(Person("p:killed", "x"), into: $0)
        }
        let write = WriteOperation.nodes(
            flattener.finish(), roots: value.children)
        _ = try CommitTransaction.run(
            .init(operations: [write]), in: try cache.generation, of: cache.engine.generations,
            CommitLogs(StatisticsRecorder()), nil, tables: { _ in nil })
        kill(getpid(), SIGKILL)
    }
}

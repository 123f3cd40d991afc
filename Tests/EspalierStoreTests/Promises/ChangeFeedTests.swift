import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Subscribers to changes")
struct ChangeFeedTests {
    private func set(
        _ commit: UInt64, written: [String] = [], deleted: [String] = []
    ) -> ChangeSet {
        var changes = ChangeSet(commit: commit)
        changes.written = written
        changes.deleted = deleted
        return changes
    }

    @Test("A subscriber that never reads keeps a bounded number of identifiers")
    func bounded() async {
        let limit = ChangeSubscription.Limit(changeSets: 16, identifiers: 100)
        let subscriber = ChangeSubscription(followsOthers: true, limit)
        for commit in 1...10_000 {
            subscriber.append(set(UInt64(commit), written: ["p:\(commit)"]))
            let backlog = subscriber.backlog
            #expect(backlog.changeSets <= 16 && backlog.identifiers <= 100)
        }
        subscriber.finish()
        var sets: [ChangeSet] = []
        while let next = await subscriber.next() { sets.append(next) }
        // The changes are not known, but nothing was emptied.
        #expect(sets.first?.isReset == true && sets.first?.isEmptied == false)
        #expect(sets.last?.written.contains("p:10000") == true || sets.last?.isReset == true)
    }

    @Test("Change sets that waited too long arrive as their union, with the last state")
    func union() async {
        let limit = ChangeSubscription.Limit(changeSets: 4, identifiers: 100)
        let subscriber = ChangeSubscription(followsOthers: true, limit)
        subscriber.append(set(1, written: ["a", "b"]))
        subscriber.append(set(2, written: ["a"], deleted: ["c"]))
        subscriber.append(set(3, deleted: ["a"]))
        subscriber.append(set(4, written: ["c"]))
        var other = set(5, written: ["d"], deleted: ["d"])
        other.origin = .anotherProcess(7)
        subscriber.append(other)
        subscriber.finish()
        let union = await subscriber.next()
        #expect(union?.commit == 5 && union?.origin == .anotherProcess(nil))
        #expect(union?.written == ["b", "c", "d"] && union?.deleted == ["c", "a", "d"])
        #expect(await subscriber.next() == nil)
    }

    @Test("A flush waits until the subscriber has dealt with what came before")
    func flush() async {
        let limit = ChangeSubscription.Limit(changeSets: 3, identifiers: 100)
        let subscriber = ChangeSubscription(followsOthers: true, limit)
        await subscriber.flush()
        let handled = Mutex<UInt64>(0)
        let reader = Task.detached {
            while let changes = await subscriber.next() {
                await Task.yield()
                handled.withLock { $0 = changes.commit }
            }
        }
        for commit in 1...2_000 as ClosedRange<UInt64> {
            subscriber.append(set(commit, written: ["a"]))
            guard commit % 7 == 0 else { continue }
            await subscriber.flush()
            #expect(handled.withLock { $0 } == commit)
        }
        subscriber.finish()
        await reader.value
        await subscriber.flush()
    }

    @Test("A flush of a subscriber that never reads ends with the subscription")
    func flushWithoutReader() async {
        let subscriber = ChangeSubscription(followsOthers: true, .init())
        subscriber.append(set(1, written: ["a"]))
        async let flushed: Void = subscriber.flush()
        subscriber.finish(dropping: true)
        await flushed
    }

    @Test("The union of any change sets leaves each node as the last commit left it")
    func unions() {
        var random = SeededGenerator(quietly: 3)
        for _ in 0..<500 {
            var sets: [ChangeSet] = []
            // Whether the last commit that changed a node wrote it.
            var last: [String: Bool] = [:]
            for commit in 1...UInt64(random.next() % 6 + 1) {
                var changes = ChangeSet(commit: commit)
                for _ in 0..<random.next() % 5 {
                    let name = "\(random.next() % 6)"
                    if random.next() % 3 == 0 {
                        changes.delete(name)
                        last[name] = false
                    } else {
                        changes.written.append(name)
                        last[name] = true
                    }
                }
                sets.append(changes)
            }
            let union = ChangeSet.union(of: sets, limit: 100)
            #expect(Set(union.written) == Set(last.filter(\.value).keys))
            #expect(Set(union.written + union.deleted) == Set(last.keys))
            #expect(Set(union.written).count == union.written.count)
        }
    }

    @Test("A reset among the waiting change sets makes all of them a reset")
    func resets() {
        let sets = [set(1, written: ["a"]), .reset(by: .thisProcess), set(2, written: ["b"])]
        #expect(ChangeSet.union(of: sets, limit: 100) == .reset(by: .thisProcess))
        #expect(
            ChangeSet.union(of: [set(1, written: ["a", "b"])], limit: 1).isReset)
    }

    @Test("A subscription begins to listen, and the last one that ends stops it")
    func listening() async throws {
        try await withCache { cache in
            let feed = cache.engine.changeSets
            func isListening() -> Bool { (try? cache.listenersWord()).map { $0 & 1 == 1 } ?? false }
            #expect(!isListening() && !cache.hasListenersFile)
            let first = Task { [cache] in
                for await _ in cache.changes() {}
            }
            while !feed.hasSubscribers { await Task.yield() }
            var second: AsyncStream<ChangeSet>? = cache.changes()
            #expect(isListening() && cache.hasListenersFile)
            first.cancel()
            await first.value
            #expect(isListening())
            withExtendedLifetime(second) {}
            second = nil
            feed.queue.sync {}
            #expect(!isListening() && !feed.hasSubscribers)
        }
    }

    @Test("Closing a cache ends its sequences after what waits for them, and its listening")
    func closing() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        let streams = (0..<3).map { _ in cache.changes() }
        try await cache.set(Person("p:1", "Anna")).committed
        let waiting = Task { [stream = cache.changes()] in
            await stream.reduce(0) { count, _ in count + 1 }
        }
        cache.close()
        for stream in streams {
            #expect(await stream.reduce(into: []) { $0.append($1.written) } == [["p:1"]])
        }
        #expect(await waiting.value <= 1)
        let again = try scratch.open()
        #expect(try again.listenersWord() & 1 == 0)
        again.close()
    }

    @Test("Nobody looks while nobody else commits, and no timer runs")
    func idle() async throws {
        try await withCache { cache in
            let stream = cache.changes()
            let feed = cache.engine.changeSets
            #expect(feed.isPolling == false)
            feed.queue.sync {}
            let looks = feed.looks
            for number in 0..<100 {
                try await cache.set(Person("p:\(number)", "Anna")).committed
                _ = await cache.read(Person.self, "p:\(number)")
            }
            feed.queue.sync {}
            // Opening the cache and its first commit take the lock of the guard file.
            #expect(feed.looks - looks <= 5)
            withExtendedLifetime(stream) {}
        }
    }

    @Test("Without another process that listens, no commit writes to the ring")
    func silent() async throws {
        try await withCache { cache in
            let stream = cache.changes()
            try await cache.set(Person("p:1", "Anna")).committed
            let entries = try cache.readStorage { try $0.statistics(of: $1.changes).entries }
            #expect(entries == 0)
            withExtendedLifetime(stream) {}
        }
    }

    @Test("A repair removes entries of the ring that can't be read")
    func repair() async throws {
        try await withCache { cache in
            try await cache.set(Person("p:1", "Anna")).committed
            try cache.tamper { transaction, keyspaces in
                try transaction.put(keyspaces.changes, ChunkKey(1, 0), [1, 2, 3])
            }
            #expect(try !cache.verify().isClean)
            try await cache.repair().committed
            try expectClean(cache)
        }
    }

    @Test("A forked child gets an empty sequence, and takes nothing from its parent")
    func forked() async throws {
        guard Fork.isAvailable else { return }
        try await withCache { cache in
            var changes = cache.changes().makeAsyncIterator()
            let status = Fork.run {
                _ = cache.changes()
                return 0
            }
            #expect(status == 0)
            try await cache.set(Person("p:1", "Anna")).committed
            #expect(await changes.next()?.written == ["p:1"])
            #expect(try cache.listenersWord() & 1 == 1)
        }
    }

    @Test("A read-only cache looks by a timer, and learns that something has changed")
    func readOnly() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try await cache.set(Person("p:1", "Anna")).committed
        cache.close()
        var configuration = Configuration.forTests
        configuration.isReadOnly = true
        let reader = try scratch.open(configuration)
        var changes = reader.changes().makeAsyncIterator()
        #expect(reader.engine.changeSets.isPolling == true)
        let directory = scratch.directory
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            let cache = try NormalizedCache(directory: directory, configuration: .forTests)
            try cache.set(Person("p:1", "Ben")).wait()
            cache.close()
        }
        #expect(await changes.next()?.isReset == true)
        reader.close()
    }

    @Test("When the directory is removed, subscribers receive a reset without any call")
    func removed() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        var changes = cache.changes().makeAsyncIterator()
        try FileManager.default.removeItem(atPath: scratch.directory)
        #expect(await changes.next()?.isReset == true)
        // The writer begins anew, and from then on changes arrive again.
        while await changes.next()?.origin != .thisProcess {}
        try await cache.set(Person("p:1", "Anna")).committed
        #expect(await changes.next()?.written == ["p:1"])
        #expect(try cache.listenersWord() & 1 == 1)
        cache.close()
    }
}

extension NormalizedCache {
    private var listenersPath: String {
        "\(engine.directory.path)/\(ChangeListeners.fileName)"
    }

    fileprivate var hasListenersFile: Bool {
        FileManager.default.fileExists(atPath: listenersPath)
    }

    /// The word of the guard file that says whether a process listens.
    fileprivate func listenersWord() throws -> UInt64 {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: engine.directory.guardPath))
        return bytes[48..<56].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

/// Exit tests run their bodies in other processes, which share the cache directory of the parent.
@Suite("Several processes with one full cache")
struct EvictionProcessTests {
    private static let configuration = Configuration.forTests(budget: .mebibytes(1))

    @Test(
        "A process that is killed while it evicts leaves a clean cache within its budget",
        arguments: 0..<5)
    func killed(directory number: Int) async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration)
        try cache.overfill(budgets: 1)
        cache.close()
        for round in 0..<20 {
            let delay = Int.random(in: 0..<30_000)
            let directory = scratch.directory
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [directory = directory as String, round = round as Int, delay = delay as Int] in
                try EvictionPeer.writeUntilKilled(directory, round: round, after: delay)
            }
            let cache = try scratch.open(Self.configuration)
            try expectClean(cache)
            #expect(try cache.statistics().directoryBytes <= cache.budget)
            // The cache is as usable as before.
            let message = Message("m:after", from: Person("p:after", "round \(round)"))
            try cache.set(message).wait()
            #expect(await cache.read(Message.self, "m:after") == message)
            cache.close()
        }
    }

    @Test("Two processes that write at once both evict, and no write is lost")
    func together() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration)
        let directory = scratch.directory
        let generation = try cache.generation.name
        let watch = SizeWatch(directory)
        async let peer: Void = runWriter(directory)
        var failures: [CacheError.Code] = []
        for number in 0..<600 {
            let feed = Feed(
                "f:\(number)", messages: EvictionPeer.messages("m:\(number)", by: "parent"))
            if let code = code(cache.set(feed)) { failures.append(code) }
            switch await cache.readOutcome(
                Feed.self, "f:\(max(0, number - 3))", consistency: .snapshot)
            {
            case .hit(let hit): #expect(hit.value.messages.count == 10)
            case .miss(let reason): #expect(reason == .notFound)
            }
        }
        await peer
        #expect(failures == [])
        #expect(watch.stop() <= cache.budget)
        #expect(try cache.generation.name == generation)
        #expect(try cache.statistics().evictions.records > 1_000)
        let dropped = try cache.statistics().droppedWrites
        #expect(dropped == [:])
        try expectClean(cache)
        cache.close()
    }

    private func runWriter(_ directory: String) async {
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            try EvictionPeer.write(directory, feeds: 600)
        }
    }

    /// ```
    /// other process        this process
    /// begins a read
    ///                      writes far more than the budget: some writes fail at once
    ///                      reads
    /// ends its read
    ///                      writes
    /// ```
    @Test(
        "While one process reads, writes of another that do not fit fail at once, and reads go on"
    )
    func stuckReader() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration)
        try cache.overfill(budgets: 1)
        let feed = Feed("f:1", messages: [Message("m:1", from: Person("p:1", "Anna"))])
        try cache.set(feed).wait()
        let signals = Signals(scratch)
        let watch = SizeWatch(scratch.directory)
        async let reader: Void = runReader(scratch.directory, signals.root)
        try signals.wait(for: "reading")
        let text = String(repeating: "y", count: 3_000)
        var codes: [CacheError.Code?] = []
        for number in 0..<400 where codes.suffix(3) != [.pagesHeld, .pagesHeld, .pagesHeld] {
            codes.append(code(cache.set(Person("y:\(number)", text))))
        }
        #expect(codes.suffix(3) == [.pagesHeld, .pagesHeld, .pagesHeld])
        #expect(Set(codes).isSubset(of: [nil, .pagesHeld]))
        let start = ContinuousClock.now
        for number in 0..<40 {
            #expect(code(cache.set(Person("z:\(number)", text))) == .pagesHeld)
            #expect(await cache.read(Feed.self, "f:1") == feed)
            #expect(await cache.read(Feed.self, "f:1", consistency: .snapshot) == feed)
        }
        // All writes together take ten seconds if each waits for the reader.
        #expect(.now - start < .seconds(5))
        let failed = codes.count { $0 == .pagesHeld } + 40
        #expect(try cache.statistics().droppedWrites == ["pagesHeld": failed])
        #expect(try cache.statistics().oldestReader != nil)
        signals.send("end")
        await reader
        try cache.overfill(budgets: 1.5, prefix: "w") {
            #expect(cache.read(Feed.self, "f:1") == feed)
        }
        #expect(watch.stop() <= cache.budget)
        #expect(try cache.statistics().droppedWrites == ["pagesHeld": failed])
        try expectClean(cache)
        cache.close()
    }

    private func runReader(_ directory: String, _ root: String) async {
        await #expect(processExitsWith: .success) {
            [directory = directory as String, root = root as String] in
            try EvictionPeer.read(directory, Signals(root: root))
        }
    }

    @Test("A process that dies while it reads holds no pages")
    func deadReader() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration)
        try cache.overfill(budgets: 1)
        let directory = scratch.directory
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String] in
            let cache = try EvictionPeer.open(directory)
            try cache.engine.withTransaction { _, _ in _ = kill(getpid(), SIGKILL) }
        }
        try cache.overfill(budgets: 2, prefix: "y")
        #expect(try cache.statistics().droppedWrites == [:])
        try expectClean(cache)
        cache.close()
    }

    @Test(
        "Reads of snapshots complete while the writer of another process is suspended in a commit"
    )
    func suspendedWriter() async throws {
        let scratch = try Scratch()
        var configuration = Self.configuration
        configuration.writeDeadline = .seconds(60)
        let cache = try scratch.open(configuration)
        let names = try cache.overfill(budgets: 0.3)
        let signals = Signals(scratch)
        async let writer: Void = runSuspended(scratch.directory, signals.root)
        let process = try #require(Int32(try signals.wait(for: "writing")))
        let ticket = cache.set(Person("p:1", "parent"))
        for name in names.prefix(200) {
            #expect(await cache.read(Person.self, name, consistency: .snapshot) != nil)
            #expect(await cache.read(Person.self, name, consistency: .snapshot) != nil)
        }
        #expect(try cache.statistics().nodes == names.count)
        #expect(ticket.result == nil)
        // More than once: the process may have told of its write, and stopped only now.
        let waker = Task {
            while !Task.isCancelled {
                kill(process, SIGCONT)
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
        await writer
        waker.cancel()
        #expect(code(ticket) == nil)
        #expect(await cache.read(Person.self, "p:1") != nil)
        try expectClean(cache)
        cache.close()
    }

    private func runSuspended(_ directory: String, _ root: String) async {
        await #expect(processExitsWith: .success) {
            [directory = directory as String, root = root as String] in
            try EvictionPeer.suspendWhileWriting(directory, Signals(root: root))
        }
    }

    @Test("A process keeps what another process has pinned, and both share one limit")
    func pins() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration)
        for number in 0..<4 {
            let box = box("b:\(number)", of: 200, bytes: 400)
            try cache.set(box).wait()
            try cache.pin(box.id).wait()
        }
        let directory = scratch.directory
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            try EvictionPeer.overfillPinned(directory)
        }
        for number in 0..<4 {
            #expect(
                await cache.read(Box<[Person]>.self, "b:\(number)")?.value.count
                    == (number == 0 ? 0 : 200))
        }
        #expect(code(cache.evict("b:1")) == .referenced)
        #expect(code(cache.evict("b:2")) == nil)
        try expectClean(cache)
        cache.close()
    }
}

/// Messages between processes: files beside the cache.
struct Signals: Sendable {
    let root: String

    init(_ scratch: Scratch) { root = scratch.root }

    init(root: String) { self.root = root }

    func send(_ word: String, _ text: String = "") {
        try? Data(text.utf8).write(to: URL(fileURLWithPath: "\(root)/\(word)"), options: .atomic)
    }

    /// Waits for a message. Returns its text.
    @discardableResult
    func wait(for word: String) throws -> String {
        for _ in 0..<60_000 {
            if let data = try? Data(contentsOf: URL(fileURLWithPath: "\(root)/\(word)")) {
                return String(decoding: data, as: UTF8.self)
            }
            Thread.sleep(forTimeInterval: 0.001)
        }
        throw Missing()
    }
}

/// The work of the other process.
enum EvictionPeer {
    static func open(_ directory: String) throws -> NormalizedCache {
        try NormalizedCache(directory: directory, configuration: .forTests(budget: .mebibytes(1)))
    }

    static func killLater(after microseconds: Int) {
        Thread.detachNewThread {
            usleep(UInt32(microseconds))
            kill(getpid(), SIGKILL)
        }
    }

    static func writeUntilKilled(_ directory: String, round: Int, after microseconds: Int) throws {
        let cache = try open(directory)
        var isKilled = false
        for number in 0..<1_000_000 {
            let messages = (0..<20).map {
                Message(
                    "m:\(round)-\(number)-\($0)",
                    from: Person("p:\(number * 7 % 50 + $0)", "Person"))
            }
            cache.set(Feed("f:\(round)-\(number)", messages: messages))
            cache.append(
                [Person("e:\(round)-\(number)", "element")], toCollection: "c:\(number % 3)")
            cache.set(
                Ring(
                    "r:\(number % 20)",
                    left: Ring("s:\(round)-\(number)", left: Ring("r:\(number % 20)"))))
            if number % 50 == 49 { cache.deleteCollection(forKey: "c:\(number % 3)") }
            if number % 4 == 3 { try cache.set(Person("last:\(number)", "")).wait() }
            guard !isKilled, try cache.statistics().evictions.runs > 0 else { continue }
            isKilled = true
            killLater(after: microseconds)
        }
    }

    /// Returns messages of senders that all have. The readers have long names, so that few records
    /// fill the cache.
    static func messages(_ identifier: String, by name: String) -> [Message] {
        (0..<10).map {
            Message(
                "\(identifier)-\($0)", from: Person("p:\($0)", name),
                to: Person("\(identifier)-r\($0)", String(repeating: "x", count: 400)))
        }
    }

    static func write(_ directory: String, feeds: Int) throws {
        let cache = try open(directory)
        for number in 0..<feeds {
            let messages = messages("n:\(number)", by: "child")
            try cache.set(Feed("g:\(number)", messages: messages)).wait()
        }
        cache.close()
    }

    static func read(_ directory: String, _ signals: Signals) throws {
        let cache = try open(directory)
        try cache.engine.withTransaction { _, _ in
            signals.send("reading")
            try signals.wait(for: "end")
        }
        cache.close()
    }

    static func suspendWhileWriting(_ directory: String, _ signals: Signals) throws {
        let cache = try open(directory)
        let generation = try cache.generation
        try generation.environment.write { transaction in
            try transaction.put(generation.keyspaces.info, [UInt8]("test".utf8), [1])
            signals.send("writing", "\(getpid())")
            raise(SIGSTOP)
        }
        cache.close()
    }

    static func overfillPinned(_ directory: String) throws {
        let cache = try open(directory)
        for number in 0..<1_500 {
            cache.set(Person("x:\(number)", String(repeating: "x", count: 600)))
            if number % 100 == 99 { try cache.set(Person("last", "\(number)")).wait() }
        }
        for number in 0..<4
        where cache.read(Box<[Person]>.self, "b:\(number)", access: .peek)?.value.count != 200 {
            exit(10)
        }
        let more = box("more", of: 150, bytes: 600).value
        guard code(cache.set(Box("b:0", more + box("b:0", of: 40).value))) != nil else { exit(12) }
        try cache.set(Box<[Person]>("b:0", [])).wait()
        try cache.unpin("b:2").wait()
        guard try cache.verify().isClean else { exit(11) }
        cache.close()
    }
}

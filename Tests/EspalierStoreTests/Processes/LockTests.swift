import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("Locks that another process holds")
struct LockTests {
    private static func configuration() -> Configuration {
        var configuration = Configuration.forTests
        configuration.writeDeadline = .milliseconds(100)
        return configuration
    }

    @Test("Every write that waits for a stopped process fails with busy, and later ones succeed")
    func writer() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration())
        try cache.set(Person("p:0", "before")).wait()
        let other = try ForeignLock(
            scratch.directory + "/" + (try cache.generation.name) + "/data.mdb")
        let tickets = (0..<300).map { cache.set(Person("p:\($0)", "lost")) }
        let codes = tickets.map { code($0) }
        #expect(codes == Array(repeating: .busy, count: 300))
        #expect(try cache.statistics().droppedWrites == ["busy": 300])
        #expect(cache.read(Person.self, "p:0")?.name == "before")
        other.release()
        try cache.set(Person("p:1", "after")).wait()
        #expect(cache.read(Person.self, "p:1")?.name == "after")
        try expectClean(cache)
        cache.close()
    }

    @Test("Closing does not wait for a stopped process longer than the deadline")
    func closing() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration())
        let other = try ForeignLock(
            scratch.directory + "/" + (try cache.generation.name) + "/data.mdb")
        let tickets = (0..<1_000).map { cache.set(Person("p:\($0)", "lost")) }
        cache.close()
        #expect(tickets.allSatisfy { code($0) == .busy })
        other.release()
    }

    @Test("Opening a cache that another process opens throws busy after the deadline")
    func opening() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let other = try ForeignLock(scratch.directory + "/guard")
        #expect(code { _ = try scratch.open(Self.configuration()) } == .busy)
        other.release()
        try scratch.open(Self.configuration()).close()
    }

    @Test("A cache that is closed and opened again while a read runs works at once")
    func reopening() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try cache.set(Person("p:1", "before")).wait()
        let (isReading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? cache.engine.withTransaction { _, _ in
                isReading.signal()
                mayEnd.wait()
            }
            ended.signal()
        }
        isReading.wait()
        cache.close()
        let again = try scratch.open()
        #expect(again.read(Person.self, "p:1")?.name == "before")
        try again.set(Person("p:1", "after")).wait()
        mayEnd.signal()
        ended.wait()
        #expect(again.read(Person.self, "p:1")?.name == "after")
        try expectClean(again)
        again.close()
    }

    @Test("A write removes the generation that a killed process was filling")
    func unfinished() throws {
        try withCache { cache in
            try cache.set(Person("p:1", "before")).wait()
            let orphan = cache.engine.directory.path + "/new-1234"
            try FileManager.default.createDirectory(
                atPath: orphan, withIntermediateDirectories: false)
            try Data(count: 100_000).write(to: URL(fileURLWithPath: orphan + "/data.mdb"))
            let other = try ForeignLock(cache.engine.directory.path + "/guard")
            try cache.set(Person("p:1", "after")).wait()
            // Some process has the guard's lock: it may be the one that fills the generation.
            #expect(FileManager.default.fileExists(atPath: orphan))
            other.release()
            try cache.set(Person("p:1", "again")).wait()
            #expect(!FileManager.default.fileExists(atPath: orphan))
            #expect(cache.read(Person.self, "p:1")?.name == "again")
        }
    }

    @Test("A forked child fails at once with its parent's cache, and can open its own")
    func forked() async {
        await #expect(processExitsWith: .success) { try Self.fork() }
    }

    private static func fork() throws -> Never {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try cache.set(Person("p:1", "parent")).wait()
        let status = Fork.run {
            guard code(cache.set(Person("p:1", "child"))) == .closed else { return 10 }
            guard cache.readOutcome(Person.self, "p:1").reason != nil else { return 11 }
            cache.close()
            guard let own = try? scratch.open() else { return 12 }
            guard own.read(Person.self, "p:1")?.name == "parent" else { return 13 }
            guard code(own.set(Person("p:2", "child"))) == nil else { return 14 }
            own.close()
            return 0
        }
        guard status == 0 else { exit(status) }
        try cache.set(Person("p:3", "parent")).wait()
        exit(cache.read(Person.self, "p:2")?.name == "child" ? 0 : 20)
    }
}

import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("The directory is removed or renamed while the cache is open")
struct MissingDirectoryTests {
    /// More than a second, the time for which writes may succeed without a look at the files.
    private static let pause = 1.1

    /// Writes a person, damages the directory with `body`, and waits until the next write looks.
    private func afterLosing(
        _ scratch: Scratch, _ body: () throws -> Void, then check: (NormalizedCache) throws -> Void
    ) throws {
        let cache = try scratch.open()
        try cache.set(Person("p:1", "Anna")).wait()
        try cache.flushAndWait()
        try body()
        Thread.sleep(forTimeInterval: Self.pause)
        try check(cache)
        cache.close()
    }

    @Test(
        "No write into a directory that is gone succeeds, and an empty cache takes its place",
        arguments: ["removed", "renamed", "replaced", "generation", "data", "guard"])
    func gone(how: String) throws {
        let scratch = try Scratch()
        let files = FileManager.default
        try afterLosing(scratch) {
            let generation = try files.contentsOfDirectory(atPath: scratch.directory).first {
                $0.hasPrefix("g-")
            }
            let path = scratch.directory + "/" + (generation ?? "")
            switch how {
            case "removed": try files.removeItem(atPath: scratch.directory)
            case "generation": try files.removeItem(atPath: path)
            case "data": try files.removeItem(atPath: path + "/data.mdb")
            case "guard": try files.removeItem(atPath: scratch.directory + "/guard")
            default:
                try files.moveItem(atPath: scratch.directory, toPath: scratch.root + "/elsewhere")
                guard how == "replaced" else { return }
                try files.createDirectory(
                    atPath: scratch.directory, withIntermediateDirectories: false)
            }
        } then: { cache in
            #expect(code(cache.set(Person("p:2", "Bert"))) == .directoryGone)
            let isKept = how == "guard"
            #expect(cache.read(Person.self, "p:1")?.name == (isKept ? "Anna" : nil))
            #expect(code(cache.set(Person("p:3", "Cleo"))) == nil)
            #expect(cache.read(Person.self, "p:3")?.name == "Cleo")
            #expect(try cache.statistics().generationsReplaced["directoryGone"] == 1)
            #expect(try cache.statistics().droppedWrites["directoryGone"] == 1)
            // Another object of this process finds the same cache.
            let second = try scratch.open()
            #expect(second.engine === cache.engine)
            second.close()
            try expectClean(cache)
        }
        // Everything is in the directory of that name.
        let cache = try scratch.open()
        #expect(cache.read(Person.self, "p:3")?.name == "Cleo")
        try expectClean(cache)
        cache.close()
        guard how == "renamed" || how == "replaced" else { return }
        let moved = try NormalizedCache(
            directory: scratch.root + "/elsewhere", configuration: .forTests)
        #expect(moved.read(Person.self, "p:1")?.name == "Anna")
        #expect(moved.read(Person.self, "p:3") == nil)
        moved.close()
    }

    @Test("A flush looks at once, and fails for what was written into a directory that is gone")
    func flush() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try FileManager.default.removeItem(atPath: scratch.directory)
        let write = cache.set(Person("p:1", "Anna"))
        #expect(code { try cache.flushAndWait() } == .directoryGone)
        _ = write
        try cache.set(Person("p:2", "Bert")).wait()
        try cache.flushAndWait()
        #expect(cache.read(Person.self, "p:2")?.name == "Bert")
        cache.close()
    }

    @Test("The idle writer notices the loss, tells of it, and begins anew")
    func idle() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        let events = cache.events()
        let changes = cache.changes()
        try FileManager.default.removeItem(atPath: scratch.directory)
        try await Task.sleep(for: .seconds(Self.pause))
        cache.engine.queue.wakeWriter()
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == .generationReplaced(reason: "directoryGone"))
        var resets = changes.makeAsyncIterator()
        #expect(await resets.next()?.isReset == true)
        try await cache.set(Person("p:1", "Anna")).committed
        #expect(FileManager.default.fileExists(atPath: scratch.directory + "/current"))
        cache.close()
    }

    @Test("While the directory can't be made, every write fails; when it can, the cache goes on")
    func withoutParent() throws {
        let scratch = try Scratch()
        try afterLosing(scratch) {
            try FileManager.default.removeItem(atPath: scratch.root)
        } then: { cache in
            for _ in 0..<3 { #expect(code(cache.set(Person("p:2", "Bert"))) == .directoryGone) }
            try FileManager.default.createDirectory(
                atPath: scratch.root, withIntermediateDirectories: true)
            // The writer may have made the directory anew before this write, as it looks once more
            // after the last one.
            let failure = code(cache.set(Person("p:2", "Bert")))
            #expect(failure == nil || failure == .directoryGone)
            if failure == nil { #expect(cache.read(Person.self, "p:2")?.name == "Bert") }
            #expect(code(cache.set(Person("p:2", "Bert"))) == nil)
            #expect(cache.read(Person.self, "p:2")?.name == "Bert")
        }
    }

    @Test("A cache that another object has opened in its place is left alone")
    func secondCache() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try FileManager.default.removeItem(atPath: scratch.directory)
        let second = try scratch.open()
        try second.set(Person("p:1", "Anna")).wait()
        Thread.sleep(forTimeInterval: Self.pause)
        for _ in 0..<2 { #expect(code(cache.set(Person("p:2", "Bert"))) == .directoryGone) }
        cache.close()
        #expect(second.read(Person.self, "p:1")?.name == "Anna")
        try expectClean(second)
        second.close()
    }

    @Test("A tool that creates nothing reports the loss and creates nothing")
    func existing() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let cache = try NormalizedCache.existing(
            directory: scratch.directory, configuration: .forTests)
        try FileManager.default.removeItem(atPath: scratch.directory)
        Thread.sleep(forTimeInterval: Self.pause)
        #expect(code(cache.set(Person("p:1", "Anna"))) == .directoryGone)
        cache.close()
        #expect(!FileManager.default.fileExists(atPath: scratch.directory))
    }
}

extension NormalizedCache {
    fileprivate func flushAndWait() throws {
        try submit(isDroppable: false) { _ in .barrier }.wait()
    }
}

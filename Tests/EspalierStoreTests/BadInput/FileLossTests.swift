import EspalierRecords
import Foundation
import Testing

@testable import EspalierLMDB
@testable import EspalierStore

@Suite("Lost and failing files")
struct FileLossTests {
    private func makeCache() throws -> Scratch {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try cache.set(Person("p:1", "Anna")).wait()
        cache.close()
        return scratch
    }

    private func generation(_ scratch: Scratch) throws -> String {
        let name = try String(contentsOfFile: scratch.directory + "/current", encoding: .utf8)
        return scratch.directory + "/" + name.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func expectReplaced(_ scratch: Scratch, _ reason: String) throws {
        let cache = try scratch.open()
        #expect(try cache.statistics().generationsReplaced == [reason: 1])
        #expect(cache.read(Person.self, "p:1") == nil)
        try cache.set(Person("p:1", "Anna")).wait()
        #expect(cache.read(Person.self, "p:1") != nil)
        cache.close()
        let reopened = try scratch.open()
        #expect(try reopened.statistics().generationsReplaced == [reason: 1])
        #expect(reopened.read(Person.self, "p:1") != nil)
        reopened.close()
    }

    @Test("An empty data file counts as a replaced generation", arguments: [true, false])
    func emptyFile(isThere: Bool) throws {
        let scratch = try makeCache()
        let path = try generation(scratch) + "/data.mdb"
        if isThere {
            try Data().write(to: URL(fileURLWithPath: path))
        } else {
            try FileManager.default.removeItem(atPath: path)
        }
        try expectReplaced(scratch, "emptyFile")
    }

    @Test("Two generations without a name of the live one count as replaced")
    func unnamed() throws {
        let scratch = try makeCache()
        try FileManager.default.copyItem(
            atPath: generation(scratch), toPath: scratch.directory + "/g-1")
        try FileManager.default.removeItem(atPath: scratch.directory + "/current")
        try expectReplaced(scratch, "unnamed")
    }

    @Test("A generation with files of others keeps its records, and the files stay")
    func filesOfOthers() throws {
        let scratch = try makeCache()
        let old = try generation(scratch)
        try Data([1]).write(to: URL(fileURLWithPath: old + "/notes"))
        let cache = try scratch.open()
        #expect(cache.read(Person.self, "p:1") != nil)
        #expect(try cache.statistics().generationsReplaced == [:])
        // Nothing but these files stays of a generation that is replaced.
        try cache.removeAll().wait()
        #expect(try FileManager.default.contentsOfDirectory(atPath: old) == ["notes"])
        #expect(try generation(scratch) != old)
        try cache.set(Person("p:1", "Anna")).wait()
        cache.close()
        let reopened = try scratch.open()
        #expect(reopened.read(Person.self, "p:1") != nil)
        reopened.close()
    }

    @Test("A directory with files of others only counts as a generation that is lost")
    func unreadable() throws {
        let scratch = try makeCache()
        let old = try generation(scratch)
        try FileManager.default.removeItem(atPath: old + "/data.mdb")
        try FileManager.default.removeItem(atPath: old + "/lock.mdb")
        try Data([1]).write(to: URL(fileURLWithPath: old + "/notes"))
        try expectReplaced(scratch, "unreadable")
        #expect(FileManager.default.fileExists(atPath: old + "/notes"))
    }

    @Test("A generation of mode 0000 gets its mode back, and keeps its records")
    func mode() throws {
        let scratch = try makeCache()
        let path = try generation(scratch)
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        let cache = try scratch.open()
        #expect(cache.read(Person.self, "p:1") != nil)
        #expect(try cache.statistics().generationsReplaced == [:])
        cache.close()
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o700)
    }

    @Test("The first generation of a cache, and one killed while it is created, replace none")
    func first() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.directory, withIntermediateDirectories: false)
        try FileManager.default.createDirectory(
            atPath: scratch.directory + "/g-1", withIntermediateDirectories: false)
        let cache = try scratch.open()
        #expect(try cache.statistics().generationsReplaced == [:])
        cache.close()
    }

    @Test("An error of the disk has a code and a message of its own")
    func deviceError() {
        let error = CacheError(
            LMDBError(LMDBCalls.code(5, .commit, systemError: 5), .commit))
        #expect(error.code == .ioFailure)
        #expect(error.message.contains("the disk reported an input/output error".dropFirst(4)))
        #expect(error.writeFailure == ("ioFailure", true))
        let full = CacheError(LMDBError(LMDBCalls.code(5, .commit, systemError: 0), .commit))
        #expect(full.code == .diskFull)
    }
}

@Suite("Pages that turn bad")
struct BadPageTests {
    /// Fills a cache with more than two mebibytes, so that it is not checked at each opening.
    private func fill(_ cache: NormalizedCache) throws {
        for number in 0..<4_000 {
            cache.set(Person("p:\(number)", String(repeating: "x", count: 700)))
        }
        try cache.engine.queue.waitForEarlierWrites()
    }

    /// Writes to the pages of an open cache, as a failing drive may. Each page loses its kind.
    private func spoil(_ cache: NormalizedCache, pages: Range<UInt64>? = nil) throws {
        let path = cache.engine.directory.generationPath(try cache.generation.name) + "/data.mdb"
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        for page in try pages ?? 2..<file.seekToEnd() / 4_096 {
            try file.seek(toOffset: page * 4_096 + 10)
            try file.write(contentsOf: Data([0, 0]))
        }
        try file.close()
    }

    private func wait(until isTrue: () throws -> Bool) throws -> Bool {
        for _ in 0..<500 {
            if try isTrue() { return true }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return false
    }

    @Test("A read that meets a bad page makes the cache start a new generation")
    func read() throws {
        try withCache(.uncompressed, isDamaged: true) { cache in
            try fill(cache)
            try spoil(cache)
            #expect(cache.read(Person.self, "p:1") == nil)
            // Statistics are read from the file, too.
            try #expect(
                wait { (try? cache.statistics())?.generationsReplaced == ["damaged": 1] })
            #expect(cache.readOutcome(Person.self, "p:1").reason == .notFound)
            try cache.set(Person("p:1", "new")).wait()
            #expect(cache.read(Person.self, "p:1")?.name == "new")
            try expectClean(cache)
        }
    }

    @Test("A write that meets a bad page starts a new generation and succeeds")
    func write() throws {
        try withCache(.uncompressed, isDamaged: true) { cache in
            try fill(cache)
            try spoil(cache)
            try cache.set(Person("p:1", "new")).wait()
            #expect(try cache.statistics().generationsReplaced == ["damaged": 1])
            #expect(cache.read(Person.self, "p:1")?.name == "new")
            try expectClean(cache)
        }
    }

    @Test("The idle cache checks its file in parts, and replaces it before a read meets the damage")
    func idle() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.uncompressed)
        let events = cache.events()
        try fill(cache)
        let number = try cache.generation.number
        cache.engine.committer.makeStructureCheckDue()
        cache.engine.queue.wakeWriter()
        try await Task.sleep(for: .milliseconds(500))
        #expect(try cache.generation.number == number)
        #expect(try cache.statistics().generationsReplaced == [:])
        try spoil(cache, pages: 100..<110)
        try #expect(
            wait {
                // The check that runs may have passed these pages before.
                cache.engine.committer.makeStructureCheckDue()
                cache.engine.queue.wakeWriter()
                return try cache.generation.number != number
            })
        try #expect(wait { try cache.statistics().generationsReplaced == ["damaged": 1] })
        try expectClean(cache)
        cache.close()
        var found = false
        for await event in events where event == .generationReplaced(reason: "damaged") {
            found = true
        }
        #expect(found)
    }

    @Test("After a doubtful opening the cache repairs its records, and a repair can be asked for")
    func repair() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        try damageRecords(cache)
        #expect(try !cache.verify().isClean)
        try cache.repair().wait()
        try expectClean(cache)
        #expect(cache.read(Person.self, "p:5") != nil)
        #expect(cache.readOutcome(Person.self, "p:1").reason != nil)
        try damageRecords(cache)
        cache.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.directory + "/guard"))
        try file.seek(toOffset: 8)
        try file.write(contentsOf: Data(count: 8))
        try file.close()
        cache = try scratch.open()
        try #expect(wait { try cache.verify().isClean })
        #expect(try cache.statistics().generationsReplaced == [:])
        #expect(cache.read(Person.self, "p:5") != nil)
        cache.close()
    }

    private func damageRecords(_ cache: NormalizedCache) throws {
        for number in 0..<10 {
            try cache.set(Message("m:\(number)", from: Person("p:\(number)", "Anna"))).wait()
        }
        for number in 1...3 { try cache.damage("p:\(number)") }
        try cache.damage("m:4")
    }
}

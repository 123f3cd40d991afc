import EspalierModels
import EspalierRecords
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("The dates of writes")
struct WriteTimeTests {
    private struct Note: Codable, Equatable, NormalizedModel {
        let id: String
        let text: String
        var modelIdentifier: String? { "Note:\(id)" }
    }

    private struct Board: Codable, Equatable, NormalizedModel {
        let id: String
        let notes: [Note]
        var modelIdentifier: String? { "Board:\(id)" }
    }

    /// A clock that the test sets.
    private final class Clock: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        var now: Date { date.withLock { $0 } }
        func advance(_ seconds: Double) { date.withLock { $0 += seconds } }
    }

    private let clock = Clock()

    private var configuration: Configuration {
        var configuration = Configuration.forTests
        configuration.clock = WallClock(of: clock) { $0.now }
        return configuration
    }

    private func hit<Value>(_ outcome: ReadOutcome<Value>) throws -> Hit<Value> {
        guard case .hit(let hit) = outcome else {
            throw try #require(outcome.reason)
        }
        return hit
    }

    private func hit(_ cache: NormalizedCache, _ identifier: String) throws -> Hit<Note> {
        try hit(cache.readOutcome(Note.self, identifier))
    }

    @Test("While a clock returns NaN, the time of the cache stands still")
    func clockWithoutTime() throws {
        final class Broken: Sendable {
            let time = Mutex(Double.nan)
        }
        let broken = Broken()
        var configuration = Configuration.forTests
        configuration.clock = WallClock(of: broken) {
            Date(timeIntervalSince1970: $0.time.withLock { $0 })
        }
        try withCache(configuration) { cache in
            try cache.set(Note(id: "1", text: "before")).wait()
            broken.time.withLock { $0 = 2_000_000_000 }
            try cache.set(Note(id: "2", text: "with a time")).wait()
            broken.time.withLock { $0 = .nan }
            try cache.set(Note(id: "3", text: "again")).wait()
            let date = Date(timeIntervalSince1970: 2_000_000_000)
            #expect(try hit(cache, "Note:2").writtenAt == date)
            #expect(try hit(cache, "Note:3").writtenAt == date)
            // A step back is noticed all the same.
            broken.time.withLock { $0 = 1_999_999_000 }
            try cache.set(Note(id: "4", text: "earlier")).wait()
            #expect(try hit(cache, "Note:4").writtenAt == date)
            try expectClean(cache)
        }
    }

    @Test("A hit tells when its model was written by itself; reads and other writes change nothing")
    func ownWrites() throws {
        try withCache(configuration) { cache in
            let start = clock.now
            let note = Note(id: "1", text: "a")
            try cache.set(Board(id: "1", notes: [note])).wait()
            let board = try hit(cache.readOutcome(Board.self, "Board:1"))
            #expect(board.writtenAt == start && board.age == .zero)
            // The note was only ever written as a part of the board.
            #expect(try hit(cache, "Note:1").writtenAt == nil)
            #expect(try hit(cache, "Note:1").age == nil)

            clock.advance(60)
            try cache.set(note).wait()
            clock.advance(30)
            for _ in 0..<3 { _ = cache.read(Board.self, "Board:1") }
            try cache.set(Board(id: "2", notes: [Note(id: "1", text: "b")])).wait()
            #expect(try hit(cache, "Note:1").writtenAt == start + 60)
            #expect(try hit(cache, "Note:1").age == .seconds(30))
            #expect(
                try hit(cache.readOutcome(Board.self, "Board:1")).age == .seconds(90))

            // A write that changes nothing says that the content is still right.
            try cache.set(Note(id: "1", text: "b")).wait()
            #expect(try hit(cache, "Note:1").age == .zero)
        }
    }

    @Test("Keys and collections have dates of their own, which edits move on")
    func keysAndCollections() throws {
        try withCache(configuration) { cache in
            let start = clock.now
            let notes = [Note(id: "1", text: "a"), Note(id: "2", text: "b")]
            try cache.setCollection(notes, forKey: "all").wait()
            clock.advance(5)
            try cache.setModel(notes[0], forKey: "first").wait()
            #expect(
                try hit(cache.collectionOutcome(of: Note.self, forKey: "all")).writtenAt == start)
            #expect(
                try hit(cache.modelOutcome(Note.self, forKey: "first")).writtenAt == start + 5)
            clock.advance(5)
            try cache.append([Note(id: "3", text: "c")], toCollection: "all").wait()
            let range = try hit(
                cache.collectionOutcome(of: Note.self, forKey: "all", range: 1..<2))
            #expect(range.writtenAt == start + 10 && range.value == [notes[1]])
        }
    }

    @Test("A date stays over a compaction and a restart, and goes with its record")
    func lifetime() throws {
        let scratch = try Scratch()
        let start = clock.now
        var cache = try scratch.open(configuration)
        try cache.set(Note(id: "1", text: "a")).wait()
        try cache.set(Board(id: "1", notes: [Note(id: "1", text: "a")])).wait()
        clock.advance(7)
        _ = try cache.compact().wait()
        cache.close()
        cache = try scratch.open(configuration)
        defer { cache.close() }
        #expect(try hit(cache, "Note:1").writtenAt == start)
        #expect(try hit(cache, "Note:1").age == .seconds(7))

        // The record comes back as a part of a board, under the handle that it had.
        try cache.delete("Note:1").wait()
        try cache.set(Board(id: "1", notes: [Note(id: "1", text: "c")])).wait()
        #expect(try hit(cache, "Note:1").writtenAt == nil)
        try expectClean(cache)
    }

    @Test("After the clock was set back, ages go on from where they were")
    func clockSetBack() throws {
        try withCache(configuration) { cache in
            try cache.set(Note(id: "1", text: "a")).wait()
            clock.advance(60)
            #expect(try hit(cache, "Note:1").age == .seconds(60))
            clock.advance(-3_600)
            #expect(try hit(cache, "Note:1").age == .seconds(60))
            clock.advance(60)
            #expect(try hit(cache, "Note:1").age == .seconds(120))
            clock.advance(-1e9)
            try cache.set(Note(id: "1", text: "a")).wait()
            #expect(try hit(cache, "Note:1").age == .zero)
        }
    }

    @Test("Threads that read the clock in another order do not let the time run ahead")
    func order() {
        let time = SteadyClock(configuration.clock)
        let start = time.now
        for _ in 0..<1_000 {
            clock.advance(-0.5)
            #expect(time.now == start)
            clock.advance(0.5)
            #expect(time.now == start)
        }
        clock.advance(1)
        #expect(time.now == start + 1)
    }

    @Test("Many threads that let the time go on from a stored one add the difference once")
    func raised() {
        for _ in 0..<50 {
            let time = SteadyClock(configuration.clock)
            let stored = Int64(clock.now.timeIntervalSince1970) + 3_600
            DispatchQueue.concurrentPerform(iterations: 8) { _ in time.raise(to: stored) }
            #expect(time.now.timeIntervalSince1970 < Double(stored) + 1)
            #expect(time.now.timeIntervalSince1970 >= Double(stored))
        }
    }

    @Test("A date before 2026 is its beginning, and no date is too late")
    func datesOutOfRange() throws {
        clock.advance(-1e9)
        try withCache(configuration) { cache in
            try cache.set(Note(id: "1", text: "a")).wait()
            #expect(
                try hit(cache, "Note:1").writtenAt == Date(timeIntervalSince1970: 1_767_225_600))
            clock.advance(1e30)
            try cache.set(Note(id: "1", text: "a")).wait()
            #expect(try #require(hit(cache, "Note:1").age) > .zero)
        }
    }
}

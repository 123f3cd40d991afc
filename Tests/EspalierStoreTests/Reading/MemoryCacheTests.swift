import Foundation
import Testing

@testable import EspalierStore

@Suite("Caches in memory")
struct MemoryCacheTests {
    @Test("A cache in memory stores and evicts, and leaves nothing behind")
    func life() throws {
        let path: String
        do {
            let cache = try NormalizedCache(
                inMemory: Configuration(budget: .mebibytes(1), compression: .none))
            path = cache.directory.path
            for number in 0..<500 {
                cache.set(Person("p:\(number)", String(repeating: "\(number) ", count: 900)))
            }
            try cache.set(Person("last", "")).wait()
            #expect(cache.read(Person.self, "last") != nil)
            #expect(try cache.statistics().evictions.records > 0)
            #expect(FileManager.default.fileExists(atPath: path))
            cache.close()
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: path + ".lock"))
    }

    @Test("Two caches in memory share nothing")
    func two() throws {
        let first = try NormalizedCache(inMemory: Configuration())
        let second = try NormalizedCache(inMemory: Configuration())
        defer {
            first.close()
            second.close()
        }
        try first.set(Person("p", "")).wait()
        #expect(second.read(Person.self, "p") == nil)
    }

    @Test("A place that somebody else has taken is not used, and no place is an opening failure")
    func takenPlace() throws {
        let scratch = try Scratch()
        let taken = scratch.root + "/taken"
        try FileManager.default.createSymbolicLink(
            atPath: taken, withDestinationPath: NSTemporaryDirectory())
        let memory = try MemoryDirectory(in: [taken, scratch.root + "/own"])
        defer { memory.remove() }
        #expect(memory.path.hasPrefix(scratch.root + "/own/"))
        let error = #expect(throws: CacheError.self) { try MemoryDirectory(in: [taken]) }
        #expect(error?.code == .badDirectory && error?.message.contains(taken) == true)
    }

    @Test("The place of this process alone stays until its last cache is closed")
    func lastPlace() throws {
        let place = MemoryDirectory.lastContainer
        let caches = [try MemoryDirectory(in: [place]), try MemoryDirectory(in: [place])]
        for cache in caches {
            try FileManager.default.createDirectory(
                atPath: cache.path, withIntermediateDirectories: false)
        }
        caches[0].remove()
        #expect(!FileManager.default.fileExists(atPath: caches[0].path))
        #expect(FileManager.default.fileExists(atPath: caches[1].path))
        caches[1].remove()
        #expect(!FileManager.default.fileExists(atPath: place))
    }

    @Test("A cache that is not closed is removed by the next one")
    func abandoned() throws {
        let path: String
        do {
            let directory = try MemoryDirectory()
            path = directory.path
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
            let other = try MemoryDirectory()
            defer { other.remove() }
            #expect(FileManager.default.fileExists(atPath: path))
        }
        try MemoryDirectory().remove()
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}

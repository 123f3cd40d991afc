import EspalierModels
import EspalierRecords
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("The memory of decompressed blocks", .timeLimit(.minutes(2)))
struct BlockCacheTests {
    @Test("A read does not wait for a thread that holds the memory of blocks")
    func heldLock() throws {
        try withCache(.withoutMemory) { cache in
            let people = (0..<200).map { Person("p:\($0)", "person \($0)") }
            try cache.setCollection(people, forKey: "all").wait()
            let blocks = try cache.generation.blocks
            #expect(cache.collection(of: Person.self, forKey: "all") == people)
            let before = blocks.statistics
            // The look-ups of this thread find the lock held, as those of another one would.
            let read = blocks.state.withLock { _ in
                cache.collection(of: Person.self, forKey: "all")
            }
            #expect(read == people)
            let meanwhile = blocks.statistics
            #expect(meanwhile.hits == before.hits && meanwhile.blocks == before.blocks)
            #expect(cache.collection(of: Person.self, forKey: "all") == people)
            #expect(blocks.statistics.hits > before.hits)
            #expect(blocks.statistics.misses == before.misses)
        }
    }

    @Test("Many threads that read the same tree all get it, most of it from memory")
    func manyThreads() throws {
        try withCache(.withoutMemory) { cache in
            let people = (0..<60).map { Person("p:\($0)", "person \($0)") }
            try cache.setCollection(people, forKey: "all").wait()
            let wrong = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                for _ in 0..<50 {
                    guard cache.collection(of: Person.self, forKey: "all") != people else {
                        continue
                    }
                    wrong.add(1, ordering: .relaxed)
                }
            }
            #expect(wrong.load(ordering: .relaxed) == 0)
            let blocks = try cache.statistics().blocks
            #expect(blocks.hits > blocks.misses)
        }
    }
}

import Foundation
import Testing

@testable import EspalierLMDB

@Suite("Structure check")
struct StructureTests {
    @Test("The check accepts each kind of intact file", arguments: Shape.allCases)
    func intact(shape: Shape) throws {
        for seed in UInt64(1)...3 {
            let scratch = try Scratch()
            try shape.build(in: scratch, seed: seed).close()
            try scratch.check()
        }
    }

    @Test("The check accepts a file after each of many commits")
    func everyCommit() throws {
        let scratch = try Scratch()
        var random = PageTests.Sequence(state: 7)
        let environment = try scratch.open(mapSize: 16 << 20)
        for _ in 0..<150 {
            try Shape.churn(environment, rounds: 1, &random)
            try scratch.check()
        }
        // The reader pins the pages that are freed meanwhile.
        try environment.read { _ in
            for _ in 0..<50 {
                try Shape.churn(environment, rounds: 1, &random)
                try scratch.check()
            }
        }
    }

    @Test("The check refuses a file if any used page is zeroed, moved or cut off")
    func everyPage() throws {
        let scratch = try Scratch()
        let environment = try scratch.open(mapSize: 8 << 20)
        var random = PageTests.Sequence()
        try Shape.churn(environment, rounds: 4, &random)
        environment.close()
        let image = try scratch.image()
        let free = try freePages(scratch)
        #expect(free.count >= 3 && image.count > 60 * 4_096)
        for page in 2..<image.count / 4_096 where !free.contains(page) {
            var damaged = image
            damaged.replaceSubrange(page * 4_096..<(page + 1) * 4_096, with: Data(count: 4_096))
            #expect(code { try scratch.check(damaged) } == .corrupted, "page \(page) zeroed")
            damaged = image
            damaged[page * 4_096] ^= 1
            #expect(code { try scratch.check(damaged) } == .corrupted, "page \(page) renumbered")
            #expect(
                code { try scratch.check(image.prefix(page * 4_096)) } != nil,
                "cut off before page \(page)")
            #expect(
                code { try scratch.check(image.prefix(page * 4_096 + 4_000)) } != nil,
                "cut off in page \(page)")
        }
    }

    /// Returns the pages on the free list, whose content has no meaning.
    private func freePages(_ scratch: Scratch) throws -> Set<Int> {
        let environment = try scratch.open(mapSize: 8 << 20)
        defer { environment.close() }
        return try environment.read { transaction in
            var cursor = try Cursor(transaction.openTransaction, index: Keyspace.freeListIndex)
            var pages: Set<Int> = []
            while try cursor.next() {
                cursor.withEntry { _, list in
                    for index in 1...max(1, unsafe list.unsafeLoadUnaligned(as: Int.self)) {
                        pages.insert(
                            unsafe list.unsafeLoadUnaligned(fromByteOffset: index * 8, as: Int.self)
                        )
                    }
                }
            }
            return pages
        }
    }

    @Test("A damaged file cannot be opened and throws .corrupted")
    func refused() throws {
        let scratch = try Scratch()
        try Shape.churned.build(in: scratch).close()
        var image = try scratch.image()
        let page = image.count / 8_192 * 4_096
        image.replaceSubrange(page..<page + 8_192, with: Data(count: 8_192))
        try scratch.replace(by: image)
        do {
            _ = try scratch.open(mapSize: 8 << 20)
            Issue.record("a damaged file was opened")
        } catch { #expect(error == LMDBError(.corrupted, .prepareFiles)) }
    }

    @Test("A damaged file is refused or does no harm", arguments: 0..<6)
    func damaged(batch: Int) async {
        await #expect(processExitsWith: .success) { [batch = batch as Int] in
            try DamagedFiles.run(seeds: batch * 100..<(batch + 1) * 100)
        }
    }

    @Test("Without the check a damaged file would kill the process")
    func unchecked() async {
        await #expect(processExitsWith: .failure) { try DamagedFiles.runUnchecked() }
    }
}

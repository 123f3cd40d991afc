import EspalierLMDB
import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("What a commit costs in pages")
struct CopiedPagesTests {
    private struct Cost {
        /// What was foretold at most, and counted.
        var most = 0
        var counted = 0
        /// What LMDB then took.
        var taken = 0
    }

    /// Commits operations one by one, and looks at what each has taken from the file.
    private final class Meter {
        private let scratch: Scratch
        let generation: Generation
        private let holder: GenerationHolder
        private var tables: WriterTables?
        private var usedBefore = 0

        init(budget: ByteCount) throws {
            scratch = try Scratch()
            let directory = CacheDirectory(scratch.directory)
            _ = try directory.prepare(create: true)
            holder = try GenerationHolder(directory, .forTests(budget: budget), create: true)
            generation = try holder.current()
            usedBefore = try lastCommit().used
        }

        deinit { holder.close() }

        /// Pages that the last commit freed, and pages in use.
        private func lastCommit() throws -> (freed: Int, used: Int) {
            try generation.environment.read {
                (try $0.freePages(oldestReader: nil).recent, try $0.pages().used)
            }
        }

        func commit(_ operations: [WriteOperation]) throws -> Cost {
            let environment = generation.environment
            var cost = Cost()
            let base = try environment.beginRead()
            let commit = try environment.write { transaction in
                let commit = try CommitTransaction(
                    generation, transaction, tables, RecordCompressor(.standard))
                for operation in operations {
                    commit.tick()
                    try commit.apply(operation, in: &transaction)
                }
                cost.most = CopiedPages.most(for: commit)
                var copied = try CopiedPages(base.snapshot, commit.keyspaces)
                try copied.note(commit)
                cost.counted = try copied.count(in: transaction)
                _ = try commit.flush(&transaction)
                return commit
            }
            commit.reach.settle(commit.pinned)
            tables = WriterTables(
                shapes: commit.shapes, dictionaries: commit.dictionaries, reach: commit.reach,
                names: commit.names)
            let (freed, used) = try lastCommit()
            // What is new to the file, and a page for each that was copied.
            cost.taken = freed + used - usedBefore
            usedBefore = used
            return cost
        }
    }

    private func set(_ people: [Person]) throws -> WriteOperation {
        let flattener = Flattener()
        let entries = try people.map { person in
            try flattener.value { try ModelStorage.encode(person, into: $0) }.children[0]
        }
        return .nodes(flattener.finish(), entries: entries, policy: .replace)
    }

    @Test(
        "is never more than was counted, nor that more than the most there can be, whatever is written and deleted"
    )
    func costs() throws {
        let meter = try Meter(budget: .mebibytes(16))
        var random = SeededGenerator(quietly: 5)
        var names: [String] = []
        for step in 0..<150 {
            let size = [10, 60, 300, 1_500, 3_000, 9_000].randomElement(using: &random) ?? 10
            let count = Int.random(in: 1...max(2, 40_000 / (size + 100)), using: &random)
            let operation: WriteOperation
            switch step % 5 {
            case 0, 1:
                let people = (0..<count).map {
                    Person("p:\(step)-\($0)", String(repeating: "x", count: size))
                }
                names += people.map(\.id)
                operation = try set(people)
            case 2, 3:
                names.shuffle(using: &random)
                operation = try set(
                    names.prefix(count).map {
                        Person($0, String(repeating: "\(step % 10)", count: size))
                    })
            default:
                names.shuffle(using: &random)
                let deleted = names.prefix(count / 2)
                names.removeFirst(deleted.count)
                operation = .delete(deleted.map { .init(nameSpace: .node, identifier: $0) })
            }
            let cost = try meter.commit([operation])
            #expect(cost.taken <= cost.counted, "step \(step), \(count) of \(size) bytes: \(cost)")
            #expect(cost.taken <= cost.most, "step \(step), \(count) of \(size) bytes: \(cost)")
            // Nor is it so much more that eviction would stop for nothing.
            #expect(
                cost.counted <= 2 * cost.taken + 40,
                "step \(step), \(count) of \(size) bytes: \(cost)")
        }
    }

    @Test("is at most two pages an edit and what new values fill")
    func most() throws {
        let meter = try Meter(budget: .mebibytes(1))
        let nothing = try meter.commit([])
        #expect(nothing.taken <= nothing.most)
        #expect(nothing.most < 24)
        let one = try meter.commit([set([Person("p:1", "")])])
        #expect(one.most > nothing.most)
        #expect(one.most < nothing.most + 24)
    }

    @Test(
        "is a page for each value over half of one, and for others what they fill with their keys")
    func newPages() {
        var edits = Edits()
        for _ in 0..<3 { edits.note(newBytes: 2_039) }
        #expect(edits.newPages == 3)
        edits.note(newBytes: 2_038)
        #expect(edits.newPages == 3)
        edits.note(newBytes: 2_038)
        #expect(edits.newPages == 4)
        var small = Edits()
        for _ in 0..<1_000 { small.note(newBytes: 84) }
        #expect(small.newPages == 1_000 * 108 / 4_080)
    }
}

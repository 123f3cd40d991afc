import EspalierLMDB
import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The forecast of the pages that a commit copies")
struct CopiedPagesTests {
    private struct Cost {
        /// The upper bound, and the forecast.
        var most = 0
        var counted = 0
        /// The forecast before the containers were written, with the pages allowed for packing.
        var forecast = 0
        /// The pages that LMDB then used.
        var taken = 0
    }

    /// Commits operations one by one, and measures the pages that each has used.
    private final class Meter {
        private let scratch: Scratch
        let generation: Generation
        private let holder: GenerationHolder
        private var tables: CommittedTables?
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

        /// Returns the pages that the last commit freed, and the pages in use.
        private func lastCommit() throws -> (freed: Int, used: Int) {
            try generation.environment.read {
                (try $0.freePages(oldestReader: nil).recent, try $0.pages().used)
            }
        }

        /// - Parameter packingLimit: The most pages that packing may write.
        func commit(
            _ operations: [WriteOperation], packingLimit: Int = .max
        ) throws -> Cost {
            let environment = generation.environment
            var cost = Cost()
            let base = try environment.beginRead()
            let commit = try environment.write { transaction in
                let commit = try CommitTransaction(
                    generation, transaction, tables, BlockCompressor(.standard))
                for operation in operations {
                    commit.states.tick()
                    try commit.apply(operation, in: &transaction)
                }
                var copied = try CopiedPages(base.snapshot, commit.keyspaces)
                try copied.addEdits(of: commit)
                let packs = packingLimit == .max
                cost.forecast =
                    try copied.count(in: transaction, packing: packs) + (packs ? 0 : packingLimit)
                try commit.applyPending(in: &transaction, packingLimit: packingLimit)
                cost.most = CopiedPages.upperBound(for: commit)
                try copied.addEdits(of: commit)
                cost.counted = try copied.count(in: transaction, packing: true)
                _ = try commit.flush(&transaction)
                return commit
            }
            commit.pins.publish()
            tables = CommittedTables(
                shapes: commit.shapes, dictionaries: commit.dictionaries,
                pinned: commit.pins.known, lifetime: commit.lifetime,
                verified: commit.index.verified, layers: commit.layers)
            let (freed, used) = try lastCommit()
            // The pages that are new in the file, and a page for each page that was copied.
            cost.taken = freed + used - usedBefore
            usedBefore = used
            return cost
        }
    }

    private func set(_ people: [Person]) throws -> WriteOperation {
        let flattener = Flattener()
        let roots = try people.map { person in
            try flattener.value { try ModelStorage.encode(person, into: $0) }.children[0]
        }
        return .nodes(flattener.finish(), roots: roots)
    }

    @Test(
        "A commit never copies more pages than were counted for it, nor more than the upper bound"
    )
    func costs() throws {
        let meter = try Meter(budget: .mebibytes(16))
        var random = SeededGenerator(quietly: 5)
        var names: [String] = []
        for step in 0..<200 {
            let size = [10, 60, 300, 1_500, 3_000, 9_000].randomElement(using: &random) ?? 10
            let count = Int.random(in: 1...max(2, 40_000 / (size + 100)), using: &random)
            let operation: WriteOperation
            // Random text makes long frames, which do not fill their containers.
            let letters = Array("0123456789abcdefghijklmnopqrstuvwxyz")
            func text(_ size: Int) -> String {
                guard step % 2 == 0 else { return String(repeating: "\(step % 10)", count: size) }
                return String((0..<size).map { _ in letters.randomElement(using: &random) ?? "x" })
            }
            switch step % 5 {
            case 0, 1:
                let people = (0..<count).map {
                    Person("p:\(step)-\($0)", text(size))
                }
                names += people.map(\.id)
                operation = try set(people)
            case 2, 3:
                names.shuffle(using: &random)
                operation = try set(
                    names.prefix(count).map {
                        // Records of the same size grow by a little.
                        Person($0, text(size + Int.random(in: 0..<200, using: &random)))
                    })
            default:
                names.shuffle(using: &random)
                let deleted = names.prefix(count / 2)
                names.removeFirst(deleted.count)
                operation = .delete(deleted.map { .init(.node, $0) })
            }
            let packingLimit = [0, 4, .max].randomElement(using: &random) ?? 0
            let cost = try meter.commit([operation], packingLimit: packingLimit)
            #expect(cost.taken <= cost.counted, "step \(step), \(count) of \(size) bytes: \(cost)")
            // New records may be compressed worse than those before. The pages that are reserved
            // for eviction, 20 at least, are enough for that.
            let excess = step % 5 < 2 ? 10 : 0
            #expect(
                cost.taken <= cost.forecast + excess,
                "step \(step), \(count) of \(size) bytes: \(cost)")
            #expect(cost.taken <= cost.most, "step \(step), \(count) of \(size) bytes: \(cost)")
            // A forecast that is far too high would stop the evictor for nothing.
            #expect(
                cost.counted <= 2 * cost.taken + 40,
                "step \(step), \(count) of \(size) bytes: \(cost)")
        }
    }

    @Test(
        "The upper bound of a commit is two pages for each edit and the pages that new values fill")
    func most() throws {
        let meter = try Meter(budget: .mebibytes(1))
        let nothing = try meter.commit([])
        #expect(nothing.taken <= nothing.most)
        #expect(nothing.most < 24)
        let one = try meter.commit([set([Person("p:1", "")])])
        #expect(one.most > nothing.most)
        #expect(one.most < nothing.most + 24)
    }

    @Test("New values over half a page fill a page each, and others what they take with their keys")
    func newPages() {
        var pages = NewPages()
        for _ in 0..<3 { pages.add(2_039) }
        #expect(pages.count == 3)
        pages.add(2_038)
        #expect(pages.count == 3)
        pages.add(2_038)
        #expect(pages.count == 4)
        var small = NewPages()
        for _ in 0..<1_000 { small.add(84) }
        #expect(small.count == 1_000 * 108 / 4_080)
    }
}

@Suite("The plan of pages")
struct PagePlanTests {
    /// Capacities from the smallest budget to the largest: all up to 4,096 pages, then some.
    private static var capacities: [Int] {
        var capacities = Array(250...4_096)
        while let last = capacities.last, last < 16_777_215 {
            capacities.append(min(last + last / 512, 16_777_215))
        }
        return capacities
    }

    private static func capacity(mebibytes: Int) -> Int {
        // LMDB never uses the last page.
        Generation.mapSize(for: .mebibytes(mebibytes)) / 4_096 - 1
    }

    @Test("Eviction begins above the pages at which it ends, and both leave more than the reserve")
    func order() {
        for capacity in Self.capacities {
            let plan = PagePlan(capacity: capacity)
            let isInOrder =
                0 < plan.lowWatermark && plan.lowWatermark < plan.highWatermark
                && plan.highWatermark + plan.reserve < capacity
            #expect(isInOrder, "\(capacity) pages")
            if !isInOrder { return }
        }
    }

    @Test("The pages that an eviction frees fit one page of LMDB's list")
    func limits() {
        for capacity in Self.capacities {
            let plan = PagePlan(capacity: capacity)
            guard (24...400).contains(plan.evictionLimit), (16...96).contains(plan.reserve),
                (16 << 10...1 << 20).contains(plan.groupBytes)
            else {
                Issue.record("\(capacity) pages: \(plan)")
                return
            }
        }
    }

    @Test("A larger cache is never filled with fewer pages than a smaller one")
    func growth() {
        var before = PagePlan(capacity: 249)
        for capacity in 250...70_000 {
            let plan = PagePlan(capacity: capacity)
            guard plan.highWatermark >= before.highWatermark, plan.reserve >= before.reserve,
                plan.groupBytes >= before.groupBytes
            else {
                Issue.record("\(before), \(plan)")
                return
            }
            before = plan
        }
    }

    @Test("A group has as many writes as copy its share of the pages, and at least one")
    func groupCount() {
        for capacity in Self.capacities {
            let plan = PagePlan(capacity: capacity)
            let share = max(24, capacity / 16)
            #expect(plan.groupCount(after: 10, copying: nil, of: 0) == WriterThread.groupLimit)
            #expect(plan.groupCount(after: 1, copying: capacity, of: capacity) == 1)
            #expect(plan.groupCount(after: 0, copying: 12, of: capacity) == 1)
            // The file has been full, and most records were deleted.
            #expect(
                plan.groupCount(after: 1, copying: capacity, of: capacity / 8)
                    == WriterThread.groupLimit)
            for pages in [11, share / 2, share, 2 * share, 8 * share] {
                let count = plan.groupCount(after: 64, copying: pages, of: capacity)
                #expect((1...WriterThread.groupLimit).contains(count))
                // Each transaction copies ten pages besides those of its writes.
                #expect(count == 1 || (pages - 10) * count <= (share - 10) * 64)
            }
        }
    }

    @Test(
        "Caches can be filled to the shares that are documented",
        arguments: [(1, 81), (4, 92), (8, 94), (16, 96), (50, 98), (1_024, 98)])
    func shares(mebibytes: Int, percent: Int) {
        let plan = PagePlan(capacity: Self.capacity(mebibytes: mebibytes))
        #expect(plan.highWatermark * 100 / plan.capacity == percent)
    }

    @Test(
        "Eviction keeps caches nearly as full as they can be",
        arguments: [(1, 0.8), (4, 0.91), (8, 0.94), (16, 0.96), (50, 0.98), (1_024, 0.98)])
    func kept(mebibytes: Int, share: Double) {
        let plan = PagePlan(capacity: Self.capacity(mebibytes: mebibytes))
        #expect(Double(plan.lowWatermark) >= share * Double(plan.capacity))
    }
}

import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The list of records that may be evicted")
struct RecencyTests {
    private struct Group {
        let key: KeyPair?
        let byteCount: Int
    }

    private func groups(
        _ keyspaces: Keyspaces, in transaction: borrowing WriteTransaction
    ) throws -> [Group] {
        var groups: [Group] = []
        try transaction.forEach(in: keyspaces.recency) { key, value in
            groups.append(Group(key: KeyPair(key), byteCount: value.byteCount))
            return true
        }
        return groups
    }

    private func entries(
        _ keyspaces: Keyspaces, from start: RecencyEntry = .first,
        in transaction: borrowing WriteTransaction
    ) throws -> [RecencyEntry] {
        var entries: [RecencyEntry] = []
        try transaction.forEachRecencyEntry(keyspaces, from: start) { entry in
            entries.append(entry)
            return true
        }
        return entries
    }

    @Test(
        "Records that enter, leave and move are listed in order, in groups that fit",
        arguments: 1...6 as ClosedRange<UInt64>)
    func moves(seed: UInt64) throws {
        try withCache { cache in
            try cache.tamper { transaction, keyspaces in
                var random = SeededGenerator(seed: seed)
                var stamps: [Handle: Stamp] = [:]
                for round in 1...60 as ClosedRange<UInt64> {
                    var moves: [Recency.Move] = []
                    for _ in 0..<Int.random(in: 1...200, using: &random) {
                        // Some handles are far apart, and some stamps are 0, 1 or the last.
                        let number = UInt64.random(in: 0..<500, using: &random)
                        let handle = Handle(number % 7 == 0 ? .max - number : number)
                        guard !moves.contains(where: { $0.handle == handle }) else { continue }
                        let stamp = [Stamp(0), Stamp(1), Stamp(.max), Stamp(round * 1_000)]
                            .randomElement(using: &random)
                        let isRemoved = Int.random(in: 0..<10, using: &random) < 4
                        let new = isRemoved ? nil : stamp
                        guard stamps[handle] != new else { continue }
                        moves.append(.init(handle: handle, from: stamps[handle], to: new))
                        stamps[handle] = new
                    }
                    #expect(try Recency(keyspaces).apply(moves, in: &transaction))
                    let expected = stamps.map { RecencyEntry(stamp: $1, handle: $0) }.sorted()
                    #expect(try entries(keyspaces, in: transaction) == expected)
                    #expect(try transaction.recencyCount(keyspaces) == expected.count)
                    if let start = expected.randomElement(using: &random) {
                        #expect(
                            try entries(keyspaces, from: start, in: transaction)
                                == expected.filter { $0 >= start })
                    }
                    #expect(
                        try groups(keyspaces, in: transaction).allSatisfy {
                            $0.key != nil && $0.byteCount <= 456
                        })
                }
                let all = stamps.map { Recency.Move(handle: $0, from: $1, to: nil) }
                try Recency(keyspaces).apply(all, in: &transaction)
                #expect(try groups(keyspaces, in: transaction).isEmpty)
            }
        }
    }

    @Test("Groups are full in the order of age, and more than three fifths full after random reads")
    func fill() throws {
        try withCache(isDamaged: true) { cache in
            try cache.tamper { transaction, keyspaces in
                let count = 20_000
                var stamps: [Stamp] = []
                for start in stride(from: 0, to: count, by: 100) {
                    let moves = (start..<start + 100).map { number in
                        Recency.Move(
                            handle: Handle(UInt64(number)), to: Stamp(UInt64(number + 1)))
                    }
                    try Recency(keyspaces).apply(moves, in: &transaction)
                    stamps += moves.compactMap(\.to)
                }
                func share() throws -> Double {
                    let groups = try groups(keyspaces, in: transaction)
                    return Double(groups.reduce(0) { $0 + $1.byteCount })
                        / Double(456 * groups.count)
                }
                #expect(try share() > 0.97)
                var random = SeededGenerator(seed: 1)
                for round in 0..<100 {
                    var moves: [Recency.Move] = []
                    for step in 0..<200 {
                        let number = Int.random(in: 0..<count, using: &random)
                        let handle = Handle(UInt64(number))
                        guard !moves.contains(where: { $0.handle == handle }) else { continue }
                        let new = Stamp(UInt64(count + round * 1_000 + step))
                        moves.append(.init(handle: handle, from: stamps[number], to: new))
                        stamps[number] = new
                    }
                    try Recency(keyspaces).apply(moves, in: &transaction)
                }
                #expect(try share() > 0.6)
            }
        }
    }

    @Test("An eviction that meets a damaged group lists all records anew, and goes on")
    func damage() throws {
        let scratch = try Scratch()
        var configuration = Configuration.uncompressed
        configuration.budget = .mebibytes(1)
        let cache = try scratch.open(configuration)
        defer { cache.close() }
        let names = try cache.overfill(budgets: 0.7)
        try cache.tamper { transaction, keyspaces in
            var damaged: [([UInt8], [UInt8])] = []
            try transaction.forEach(in: keyspaces.recency) { key, value in
                var value = [UInt8](copying: value)
                value[value.count / 2] ^= 1
                damaged.append(([UInt8](copying: key), value))
                return true
            }
            for (key, value) in damaged { try transaction.put(keyspaces.recency, key, value) }
        }
        #expect(try !cache.verify().isClean)
        for number in 0..<600 {
            try cache.set(Person("new:\(number)", String(repeating: "x", count: 600))).wait()
        }
        #expect(try cache.verify().isClean)
        let statistics = try cache.statistics()
        #expect(statistics.evictions.records > 100 && statistics.fill < 1)
        // The oldest are gone, and the newest are there.
        #expect(cache.read(Person.self, names[0], access: .peek) == nil)
        #expect(cache.read(Person.self, "new:599") != nil)
    }
}

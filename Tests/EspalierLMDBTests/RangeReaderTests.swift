import EspalierLMDB
import Testing

@Suite("Range reader")
struct RangeReaderTests {
    let environment: Environment
    let nodes: Keyspace

    init() throws {
        environment = try Scratch().open()
        nodes = environment.nodes
        try environment.write { transaction in
            for number in Self.keys { try transaction.append(nodes, number, Self.value(number)) }
        }
    }

    private static let keys = (UInt64(10)...4_000).filter { $0 % 7 == 3 || $0 % 50 < 3 }

    private static func value(_ number: UInt64) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Int(20 + number % 30))
    }

    private func find(_ number: UInt64, _ reader: RangeReader) throws -> (UInt64, [UInt8])? {
        try reader.withValue(around: number) { key, value in (key, copy(value)) }
    }

    private func check(_ number: UInt64, _ reader: RangeReader) throws {
        let key = Self.keys.last { $0 <= number }
        let found = try find(number, reader)
        #expect(found?.0 == key)
        #expect(found?.1 == key.map(Self.value))
    }

    @Test(
        "A range reader finds the last key at or before a number, in runs and elsewhere",
        arguments: 1...10 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        try environment.read { transaction in
            let reader = try RangeReader(transaction.snapshot, nodes)
            var state = seed &* 0x9E37_79B9_7F4A_7C15
            var runs: [UInt64] = [1, 2_000, 3_000]
            for _ in 0..<1_000 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let choice = Int(state >> 60)
                guard choice < 12 else {
                    try check(state >> 33 & 4_095, reader)
                    continue
                }
                runs[choice % 3] += 1
                try check(runs[choice % 3], reader)
            }
            try check(0, reader)
            try check(.max, reader)
        }
    }

    @Test("A range reader of a write transaction sees what the transaction has written")
    func writing() throws {
        try environment.write { transaction in
            let reader = try RangeReader(transaction.snapshot, nodes)
            #expect(try find(5_000, reader)?.0 == Self.keys.last)
            try transaction.put(nodes, UInt64(4_900), [1])
            #expect(try find(5_000, reader)?.0 == 4_900)
            #expect(try find(5_000, reader)?.1 == [1])
            try transaction.delete(nodes, UInt64(4_900))
            #expect(try find(5_000, reader)?.0 == Self.keys.last)
        }
    }

    @Test("A range reader that outlives its transaction throws")
    func stale() throws {
        let reader = try environment.read { try RangeReader($0.snapshot, nodes) }
        #expect(throws: LMDBError.self) { try find(20, reader) }
    }

    @Test("An empty keyspace has no ranges")
    func empty() throws {
        try environment.read { transaction in
            let reader = try RangeReader(transaction.snapshot, environment.index)
            #expect(try find(1, reader) == nil)
        }
    }
}

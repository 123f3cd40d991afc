import EspalierLMDB
import Testing

@Suite("a reader of keys that stand near each other")
struct NearbyReaderTests {
    let environment: Environment
    let nodes: Keyspace

    init() throws {
        environment = try Scratch().open()
        nodes = environment.nodes
        try environment.write { transaction in
            // Runs with gaps between them, and now and then a longer key behind one, as chunks have.
            for number in UInt64(1)...4_000 where number % 50 < 40 {
                try transaction.append(nodes, number, Self.value(number))
                if number % 97 == 0 { try transaction.append(nodes, Self.chunk(of: number), [7]) }
            }
        }
    }

    private static func value(_ number: UInt64) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Int(20 + number % 30))
    }

    private static func chunk(of number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } + [0, 1]
    }

    private func find(_ key: UInt64, _ reader: NearbyReader) throws -> [UInt8]? {
        var found: [UInt8]?
        let isFound = try reader.withValue(key) { found = copy($0) }
        #expect(isFound == (found != nil))
        return found
    }

    @Test(
        "finds what there is and nothing else, along runs and wherever it looks between",
        arguments: 1...20 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        try environment.read { transaction in
            let reader = try NearbyReader(transaction.snapshot, nodes)
            var state = seed &* 0x9E37_79B9_7F4A_7C15
            var runs: [UInt64] = [1, 2_000, 3_000]
            for _ in 0..<4_000 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let choice = Int(state >> 60)
                let key: UInt64
                if choice < 12 {
                    runs[choice % 3] += 1
                    key = runs[choice % 3]
                } else {
                    key = state >> 33 & 4_095
                    if choice == 15 { runs[Int(key) % 3] = key }
                }
                let isThere = (1...4_000).contains(key) && key % 50 < 40
                #expect(try find(key, reader) == (isThere ? Self.value(key) : nil))
            }
        }
    }

    @Test("sees what its write transaction does, and is of no use after it")
    func writing() throws {
        let ended = try environment.write { transaction in
            let reader = try NearbyReader(transaction.snapshot, nodes)
            #expect(try find(10, reader) == Self.value(10))
            #expect(try find(2_000, reader) == Self.value(2_000))
            try transaction.put(nodes, UInt64(11), [1])
            try transaction.delete(nodes, UInt64(12))
            #expect(try find(11, reader) == [1])
            #expect(try find(12, reader) == nil)
            #expect(try find(2_001, reader) == Self.value(2_001))
            for number in UInt64(5_000)...6_000 { try transaction.append(nodes, number, Self.value(number)) }
            #expect(try find(13, reader) == Self.value(13))
            #expect(try find(6_000, reader) == Self.value(6_000))
            return reader
        }
        #expect(code { _ = try find(10, ended) } == .transactionEnded)
    }
}

import EspalierLMDB
import Testing

@Suite("Sequential reader")
struct SequentialReaderTests {
    let environment: Environment
    let nodes: Keyspace

    init() throws {
        environment = try Scratch().open()
        nodes = environment.nodes
        try environment.write { transaction in
            // Runs of keys with gaps between them. Longer keys, like those of chunks, follow some.
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

    private func find(_ key: UInt64, _ reader: SequentialReader) throws -> [UInt8]? {
        var found: [UInt8]?
        let isFound = try reader.withValue(key) { found = copy($0) }
        #expect(isFound == (found != nil))
        return found
    }

    @Test(
        "A sequential reader finds exactly the existing keys, in runs and elsewhere",
        arguments: 1...20 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        try environment.read { transaction in
            let reader = try SequentialReader(transaction.snapshot, nodes)
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

    @Test("A sequential reader sees the changes of its write transaction and ends with it")
    func writing() throws {
        let ended = try environment.write { transaction in
            let reader = try SequentialReader(transaction.snapshot, nodes)
            #expect(try find(10, reader) == Self.value(10))
            #expect(try find(2_000, reader) == Self.value(2_000))
            try transaction.put(nodes, UInt64(11), [1])
            try transaction.delete(nodes, UInt64(12))
            #expect(try find(11, reader) == [1])
            #expect(try find(12, reader) == nil)
            #expect(try find(2_001, reader) == Self.value(2_001))
            for number in UInt64(5_000)...6_000 {
                try transaction.append(nodes, number, Self.value(number))
            }
            #expect(try find(13, reader) == Self.value(13))
            #expect(try find(6_000, reader) == Self.value(6_000))
            return reader
        }
        #expect(code { _ = try find(10, ended) } == .transactionEnded)
    }

    @Test(
        "A sequential reader sees exactly its commit, whatever was read of earlier ones",
        arguments: 1...10 as ClosedRange<UInt64>)
    func commits(seed: UInt64) throws {
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        func random(_ count: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % count
        }
        var model: [UInt64: [UInt8]] = [:]
        for number in UInt64(1)...4_000 where number % 50 < 40 {
            model[number] = Self.value(number)
        }
        for step in 0..<60 {
            // Two readers at once, of an older and a newer commit. Each has a cache of its own.
            try environment.read { first in
                let older = model
                let reader = try SequentialReader(first.snapshot, nodes)
                for _ in 0..<100 {
                    let key = random(5_000)
                    #expect(try find(key, reader) == older[key])
                }
                try environment.write { transaction in
                    for _ in 0..<random(20) {
                        let key = 1 + random(5_000)
                        let value =
                            random(4) == 0
                            ? nil : [UInt8](repeating: UInt8(step), count: Int(random(3_000)))
                        model[key] = value
                        if let value {
                            try transaction.put(nodes, key, value)
                        } else {
                            try transaction.delete(nodes, key)
                        }
                    }
                }
                try environment.read { second in
                    let newer = try SequentialReader(second.snapshot, nodes)
                    for _ in 0..<100 {
                        let key = random(5_000)
                        #expect(try find(key, newer) == model[key])
                        #expect(try find(key, reader) == older[key])
                    }
                }
            }
            if step == 30 { try environment.resize(mapSize: 16 << 20, deadline: .seconds(5)) }
        }
    }

    @Test("A sequential reader does not confuse keys of two keyspaces or long keys")
    func otherKeyspace() throws {
        try environment.write { transaction in
            try transaction.put(environment.index, UInt64(5), [9])
            try transaction.put(nodes, UInt64(5) | 1 << 40, [8])
        }
        for _ in 0..<3 {
            try environment.read { transaction in
                let reader = try SequentialReader(transaction.snapshot, nodes)
                #expect(try find(5, reader) == Self.value(5))
                #expect(try find(5 | 1 << 40, reader) == [8])
                let other = try SequentialReader(transaction.snapshot, environment.index)
                #expect(try find(5, other) == [9])
                #expect(try find(6, other) == nil)
            }
        }
    }
}

import EspalierLMDB
import Foundation

/// Kinds of intact files.
enum Shape: CaseIterable, Sendable {
    case new, oneEntry, emptied, manySmall, longKeys, overflow, appended, churned, largeFreeList,
        aborted, fullMap,
        shrunkValues

    /// Fills a new environment and leaves it open.
    func build(in scratch: Scratch, seed: UInt64 = 42) throws -> Environment {
        let environment = try scratch.open(mapSize: self == .fullMap ? 512 << 10 : 8 << 20)
        let nodes = environment.nodes
        var random = PageTests.Sequence(state: seed)
        func put(_ count: UInt64, size: Range<Int>, keys: Range<UInt64> = 0..<UInt64.max) throws {
            try environment.write { transaction in
                for _ in 0..<count {
                    let key = UInt64.random(in: keys, using: &random)
                    let value = [UInt8](repeating: 7, count: Int.random(in: size, using: &random))
                    try transaction.put(nodes, key, value)
                }
            }
        }
        switch self {
        case .new: break
        case .oneEntry: try put(1, size: 3..<4)
        case .emptied:
            try put(500, size: 0..<3_000, keys: 0..<1_000)
            try environment.write { transaction in
                for key in 0..<UInt64(1_000) { try transaction.delete(nodes, key) }
            }
        case .manySmall: for _ in 0..<5 { try put(3_000, size: 0..<30) }
        case .longKeys: try Self.longKeys(environment, &random)
        case .overflow: for _ in 0..<4 { try put(150, size: 1_900..<4_081) }
        case .appended:
            try environment.write { transaction in
                for key in 0..<UInt64(5_000) {
                    try transaction.append(nodes, key, [UInt8](repeating: 1, count: 40))
                }
            }
        case .churned: try Self.churn(environment, rounds: 60, &random)
        case .largeFreeList:
            for _ in 0..<5 { try put(300, size: 2_500..<4_081, keys: 0..<2_000) }
            for start in stride(from: UInt64(0), to: 2_000, by: 200) {
                try environment.write { transaction in
                    for key in start..<start + 199 { try transaction.delete(nodes, key) }
                }
            }
        case .aborted:
            for _ in 0..<10 {
                try put(50, size: 0..<3_000, keys: 0..<400)
                var transaction = try environment.beginWrite()
                for key in 0..<UInt64(300) {
                    try transaction.put(nodes, key, [UInt8](repeating: 9, count: 2_000))
                }
                transaction.abort()
            }
        case .fullMap:
            for _ in 0..<20 {
                do { try put(40, size: 0..<3_000) } catch let error as LMDBError
                    where error.code == .mapFull
                {}
            }
        case .shrunkValues:
            for size in [4_080, 3_000, 2_100, 5] {
                try put(200, size: size..<size + 1, keys: 0..<150)
            }
        }
        return environment
    }

    private static func longKeys(_ environment: Environment, _ random: inout PageTests.Sequence)
        throws
    {
        for _ in 0..<8 {
            try environment.write { transaction in
                for _ in 0..<150 {
                    let size = Int.random(in: 1...511, using: &random)
                    let key = (0..<size).map { _ in UInt8.random(in: 0...3, using: &random) }
                    try transaction.put(environment.index, key, [1, 2, 3])
                    if Bool.random(using: &random) {
                        try transaction.delete(environment.index, Array(key.prefix(1)))
                    }
                }
            }
        }
    }

    static func churn(_ environment: Environment, rounds: Int, _ random: inout PageTests.Sequence)
        throws
    {
        for _ in 0..<rounds {
            try environment.write { transaction in
                for _ in 0..<60 {
                    let key = UInt64.random(in: 0..<800, using: &random)
                    let size = Int.random(in: 0...4_080, using: &random)
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0, 1:
                        try transaction.put(
                            environment.nodes, key, [UInt8](repeating: 1, count: size))
                    case 2:
                        try transaction.put(
                            environment.index, key, [UInt8](repeating: 2, count: size / 40))
                    case 3: try transaction.delete(environment.index, key)
                    default: try transaction.delete(environment.nodes, key)
                    }
                }
            }
        }
    }
}

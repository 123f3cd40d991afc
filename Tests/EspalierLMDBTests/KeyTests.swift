import EspalierLMDB
import Testing

@Suite("Keys")
struct KeyTests {
    func bytes<Key: KeyspaceKey>(_ key: Key) -> [UInt8] { key.withBytes { copy($0) } }

    @Test("Numbers in keys are big-endian, so that bytes sort like numbers")
    func layout() {
        #expect(bytes(UInt64(0x0102_0304_0506_0708)) == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(bytes(KeyPair(1, 2)) == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2])
        #expect(bytes(ChunkKey(1, 2)) == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2])
        #expect(bytes([UInt8]()) == [])
        let edges: [UInt64] = [0, 1, 255, 256, 1 << 32, .max - 1, .max]
        for (small, large) in zip(edges, edges.dropFirst()) {
            #expect(bytes(small).lexicographicallyPrecedes(bytes(large)))
            #expect(bytes(KeyPair(small, .max)).lexicographicallyPrecedes(bytes(KeyPair(large, 0))))
            #expect(bytes(ChunkKey(small, .max)).lexicographicallyPrecedes(bytes(large)))
            #expect(bytes(small).lexicographicallyPrecedes(bytes(ChunkKey(small, 0))))
        }
    }

    @Test("Composite keys can be read back, and bytes of another length are refused")
    func readBack() {
        let pair = KeyPair(.max - 3, 9)
        let chunk = ChunkKey(77, .max)
        #expect(pair.withBytes { KeyPair($0) } == pair)
        #expect(chunk.withBytes { ChunkKey($0) } == chunk)
        #expect(chunk.withBytes { KeyPair($0) } == nil)
        #expect(pair.withBytes { ChunkKey($0) } == nil)
    }

    @Test("Keys of different types with equal bytes find the same entry")
    func interchangeable() throws {
        let environment = try Scratch().open()
        let nodes = environment.nodes
        try environment.write { transaction in
            try transaction.put(nodes, KeyPair(1, 2), [1])
            try transaction.put(nodes, ChunkKey(1, 2), [2])
            try transaction.put(nodes, UInt64(1), [3])
        }
        try environment.read { transaction in
            try #expect(transaction.value(nodes, bytes(KeyPair(1, 2))) == [1])
            try #expect(transaction.value(nodes, bytes(ChunkKey(1, 2))) == [2])
            let one = bytes(UInt64(1))
            try #expect(transaction.value(nodes, one) == [3])
            let found = try UInt64(1).withBytes { key in try transaction.value(nodes, key) }
            #expect(found == [3])
        }
    }
}

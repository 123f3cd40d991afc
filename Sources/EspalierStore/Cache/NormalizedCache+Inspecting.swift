import EspalierLMDB
import EspalierRecords

// What tools see: bytes and numbers, not models.
extension NormalizedCache {
    /// Every record as stored, in the order of handles. Costs a copy of all of them.
    package func rawRecords() throws -> [(handle: UInt64, bytes: [UInt8])] {
        try engine.inspect { transaction, generation in
            var records: [(handle: UInt64, bytes: [UInt8])] = []
            try transaction.forEach(in: generation.keyspaces.nodes) { key, value in
                try ByteReader.reading(key) { key in
                    let handle = try key.integer(UInt64.self)
                    guard key.isAtEnd else { return }
                    try ByteReader.reading(value) { records.append((handle, try $0.bytes(count: $0.end))) }
                }
                return true
            }
            return records
        }
    }

    /// The handle of the node `identifier`.
    package func handle(of identifier: String) throws -> UInt64? {
        try engine.inspect { transaction, generation in
            try transaction.handle(generation.keyspaces, .node, identifier)?.rawValue
        }
    }
}

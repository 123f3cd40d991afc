import EspalierLMDB
import EspalierRecords

/// A part of what a generation holds: entries of one keyspace, in their order.
struct GenerationPart {
    let keyspace: String
    var entries: [(key: [UInt8], value: [UInt8])] = []
    var byteCount = 0
}

extension GenerationPart {
    private static let size = 4 << 20

    /// Hands all that `transaction` sees to `body`, some megabytes at a time.
    static func forEach(
        in transaction: borrowing WriteTransaction, of environment: Environment,
        _ body: (GenerationPart) throws -> Void
    ) throws {
        for name in Keyspaces.names {
            var part = GenerationPart(keyspace: name)
            try transaction.forEach(in: environment.keyspace(name)) { key, value in
                let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
                let value = try ByteReader.reading(value) { try $0.bytes(count: $0.end) }
                part.byteCount += key.count + value.count
                part.entries.append((key, value))
                if part.byteCount >= size {
                    try body(part)
                    part = GenerationPart(keyspace: name)
                }
                return true
            }
            if !part.entries.isEmpty { try body(part) }
        }
    }

    /// Appends the entries to a keyspace that has none after them: pages get full.
    func append(to environment: Environment) throws {
        let keyspace = environment.keyspace(keyspace)
        try environment.write { transaction in
            for entry in entries { try transaction.append(keyspace, entry.key, entry.value) }
        }
    }
}

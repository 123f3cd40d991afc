import EspalierLMDB
import EspalierRecords

extension ReadableTransaction where Self: ~Copyable {
    /// What the cache has done; nothing where that is not stored, or damaged.
    func lifetimeCounters(_ keyspaces: Keyspaces) throws -> LifetimeCounters {
        do {
            return try withValue(keyspaces.info, LifetimeCounters.key) { span in
                try ByteReader.reading(span) { try LifetimeCounters(reading: &$0) }
            } ?? LifetimeCounters()
        } catch is FormatError {
            return LifetimeCounters()
        }
    }

    /// The records of each type, as the shapes have them; a damaged entry is left out.
    func types(_ keyspaces: Keyspaces) throws -> [TypeStatistics] {
        var counts: [Identifier: Int] = [:]
        try forEach(in: keyspaces.shapes) { key, value in
            try? ByteReader.reading(value) { reader in
                let number = try ByteReader.reading(key) { try $0.integer(UInt64.self) }
                let (types, records) = try StoredShape.types(reading: &reader, number: number)
                for type in types { counts[Identifier(type), default: 0] += Int(clamping: records) }
            }
            return true
        }
        return counts.map { TypeStatistics(name: $0.key.string, records: $0.value) }
            .sorted { ($1.records, $0.name) < ($0.records, $1.name) }
    }
}

extension StoredShape {
    /// What of an entry the statistics need: fields take most of the time to read.
    fileprivate static func types(
        reading reader: inout ByteReader, number: UInt64
    ) throws(FormatError) -> (types: [String], records: UInt64) {
        _ = try reader.verifiedEnd(seed: number)
        let records = try reader.varint()
        var types: [String] = []
        for _ in 0..<(try reader.count()) {
            types.append(try reader.string(count: try reader.count()))
        }
        return (types, records)
    }
}

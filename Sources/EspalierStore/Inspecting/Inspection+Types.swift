import EspalierRecords

/// What the records of a type take: before compression, and as stored.
package struct TypeBytes: Sendable, Hashable {
    package fileprivate(set) var raw = 0
    package fileprivate(set) var stored = 0
}

extension Inspection {
    /// The bytes of the nodes of each type. Like the counts of the statistics, a record that
    /// several types have written is each one's. Costs a walk of the cache; what can't be read has
    /// no type.
    package func bytesByType() throws -> [String: TypeBytes] {
        var bytes: [Identifier: TypeBytes] = [:]
        try forEachRecord { handle, stored in
            guard case .record(let record) = stored, record.nameSpace == .node else { return true }
            let storedBytes = try storedByteCount(of: handle) ?? 0
            for type in record.shape.types {
                bytes[Identifier(type), default: .init()].raw += record.rawByteCount
                bytes[Identifier(type), default: .init()].stored += storedBytes
            }
            return true
        }
        return Dictionary(
            bytes.map { ($0.key.string, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

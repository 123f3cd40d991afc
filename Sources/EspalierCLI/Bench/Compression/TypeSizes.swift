import EspalierRecords
import EspalierStore

/// What the records of a type take, raw and as stored.
struct TypeSizes {
    let type: String
    var records = 0
    var raw = 0
    var stored = 0

    var ratio: Double { Double(stored) / Double(max(1, raw)) }

    /// Largest first, and all of them together as the last.
    static func measure(_ inspection: Inspection) throws -> [TypeSizes] {
        var types: [String: TypeSizes] = [:]
        var all = TypeSizes(type: "all")
        try inspection.forEachRecord { _, stored in
            guard case .record(let record) = stored else { return true }
            let type = record.shape.types.first ?? "\(record.nameSpace)"
            types[type, default: TypeSizes(type: type)].add(record)
            all.add(record)
            return true
        }
        return types.values.sorted { ($0.raw, $0.type) > ($1.raw, $1.type) } + [all]
    }

    private mutating func add(_ record: Record) {
        records += 1
        raw += record.rawByteCount
        stored += record.storedByteCount
    }
}

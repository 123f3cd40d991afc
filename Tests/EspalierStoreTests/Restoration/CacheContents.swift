import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

/// The contents of a cache without handles, stamps and counts.
struct CacheContents {
    /// The records in the order of their handles.
    private(set) var records: [RestoredRecord] = []
    private var numbers: [Handle: Int] = [:]

    init(of cache: NormalizedCache) throws {
        try cache.inspect { inspection in
            try inspection.forEachRecord { _, stored in
                guard case .record(let record) = stored, record.nameSpace != .segment else {
                    return true
                }
                records.append(
                    RestoredRecord(record.identifier, try content(of: record, in: inspection)))
                return true
            }
        }
    }

    private mutating func content(
        of record: Record, in inspection: Inspection
    ) throws -> RestoredRecord.Content {
        switch record.nameSpace {
        case .collection, .segment:
            return .collection(
                try record.segments().flatMap { segment -> [RestoredValue] in
                    guard case .record(let segment) = try inspection.record(segment.handle) else {
                        throw Missing()
                    }
                    return try SegmentContent.decode(segment).map { element in
                        let content = try SegmentContent.encoded(element)
                        return try value(content.values, content.children, in: inspection)
                    }
                })
        case .key: return .key(try value(record.values, record.children, in: inspection))
        case .node:
            let isOnCycle =
                try inspection.state(of: record.handle)?.flags.contains(.onCycle) ?? false
            return .node(
                record.shape, try value(record.values, record.children, in: inspection),
                isOnCycle: isOnCycle)
        }
    }

    private mutating func value(
        _ bytes: [UInt8], _ children: [Handle], in inspection: Inspection
    ) throws -> RestoredValue {
        let references = try children.map { child -> RecordReference in
            let stored = try inspection.record(child)
            if case .record(let record) = stored { return .node(record.identifier) }
            let number = numbers[child] ?? numbers.count
            numbers[child] = number
            if case .deleted = stored { return .deleted(number) }
            return .lost(number)
        }
        return RestoredValue(bytes: bytes, references: references)
    }
}

extension CacheContents {
    /// The contents of each record, by kind and identifier, without flags and without the numbers
    /// of deleted and lost records.
    var byName: [String: String] {
        Dictionary(
            uniqueKeysWithValues: records.map {
                ("\($0.nameSpace) \($0.identifier)", Self.text($0.content))
            })
    }

    private static func text(_ content: RestoredRecord.Content) -> String {
        switch content {
        case .node(let shape, let value, _): "\(shape.types) \(shape.fields) \(text(value))"
        case .key(let value): text(value)
        case .collection(let elements), .moreElements(let elements, _): "\(elements.map(text))"
        }
    }

    private static func text(_ value: RestoredValue) -> String {
        let references = value.references.map { reference in
            switch reference {
            case .node(let identifier): identifier
            case .deleted: "(deleted)"
            case .lost: "(lost)"
            }
        }
        return "\(value.bytes) \(references)"
    }
}

extension NormalizedCache {
    /// Restores `records` in writes of `size` records, and checks all invariants after each write.
    func restore(_ records: [RestoredRecord], inPartsOf size: Int) throws {
        let restoration = Restoration()
        for start in stride(from: 0, to: records.count, by: size) {
            let part = Array(records[start..<min(start + size, records.count)])
            try restore(part, as: restoration).wait()
            try expectClean(self)
        }
    }
}

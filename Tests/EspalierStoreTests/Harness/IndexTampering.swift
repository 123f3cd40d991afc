import EspalierLMDB
import EspalierRecords

@testable import EspalierStore

/// Changes names in the index behind the engine's back.
struct IndexTampering {
    fileprivate enum Change {
        case remove
        case set(Handle, isWhole: Bool)
        case setToRecord(String)
        case flipBit
    }

    fileprivate var changes: [(nameSpace: NameSpace, identifier: String, change: Change)] = []

    /// Removes a name.
    mutating func remove(_ identifier: String, in nameSpace: NameSpace = .node) {
        changes.append((nameSpace, identifier, .remove))
    }

    /// Lets a name lead to a handle.
    mutating func set(
        _ identifier: String, in nameSpace: NameSpace = .node, to handle: Handle,
        isWhole: Bool = true
    ) {
        changes.append((nameSpace, identifier, .set(handle, isWhole: isWhole)))
    }

    /// Lets the name of a node lead to the record of another one.
    mutating func set(_ identifier: String, toRecordOf other: String) {
        changes.append((.node, identifier, .setToRecord(other)))
    }

    /// Flips a bit in the group that holds a name.
    mutating func damageGroup(of identifier: String, in nameSpace: NameSpace = .node) {
        changes.append((nameSpace, identifier, .flipBit))
    }
}

extension NormalizedCache {
    func tamperIndex(_ body: (inout IndexTampering) throws -> Void) throws {
        var tampering = IndexTampering()
        try body(&tampering)
        let generation = try generation
        try tamper { transaction, keyspaces in
            for (nameSpace, identifier, change) in tampering.changes {
                let key = keyspaces.indexKey(nameSpace, identifier)
                if case .flipBit = change {
                    try Self.flipBit(key, &transaction, keyspaces)
                } else {
                    try Self.apply(change, key, &transaction, generation)
                }
            }
        }
    }

    private static func flipBit(
        _ key: [UInt8], _ transaction: inout WriteTransaction, _ keyspaces: Keyspaces
    ) throws {
        let group: (key: [UInt8], value: [UInt8])? = try transaction.withCursor(keyspaces.index) {
            guard try $0.seek(atOrBefore: key) else { return nil }
            return try $0.withEntry { key, value in
                (
                    try ByteReader.reading(key) { try $0.bytes(count: $0.end) },
                    try ByteReader.reading(value) { try $0.bytes(count: $0.end) }
                )
            }
        }
        guard var group else { throw Missing() }
        // The count of intervals: reads notice it without a look at the check.
        group.value[0] ^= 0x40
        try transaction.put(keyspaces.index, group.key, group.value)
    }

    private static func apply(
        _ change: IndexTampering.Change, _ key: [UInt8], _ transaction: inout WriteTransaction,
        _ generation: Generation
    ) throws {
        let keyspaces = generation.keyspaces
        func name(_ handle: Handle, _ snapshot: Snapshot) throws -> [UInt8]? {
            let stored = try StoredRecords(snapshot, generation)
            let record = (try? stored.record(handle)) ?? nil
            return record.map { keyspaces.indexKey($0.nameSpace, $0.identifier) }
        }
        var groups = IndexGroups(
            keyspaces.index, limit: generation.environment.maximumValueSize)
        let snapshot = transaction.snapshot
        let match = try groups.search(key, in: snapshot) { _ in }
        var removals: [IndexChange] = []
        if let match, try match.isWhole || name(match.handle, snapshot).map({ $0 == key }) != false
        {
            removals.append(IndexChange(key: key, handle: match.handle))
        }
        var additions: [IndexChange] = []
        if case .set(let handle, let isWhole) = change {
            additions.append(IndexChange(key: key, handle: handle, mayBeCut: !isWhole))
        }
        if case .setToRecord(let other) = change {
            let other = keyspaces.indexKey(.node, other)
            guard let target = try groups.search(other, in: snapshot, damaged: { _ in }) else {
                throw Missing()
            }
            additions.append(IndexChange(key: key, handle: target.handle, mayBeCut: false))
        }
        _ = try groups.apply(
            removals: removals, additions: additions, in: &transaction, name: name)
    }
}

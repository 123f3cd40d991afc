import EspalierLMDB
package import EspalierRecords

extension Inspection {
    /// Visits the entries of a name space in the order of their bytes, those too long for a key
    /// last, until `body` returns `false`. With a prefix, costs only the entries found.
    ///
    /// Visits damaged entries and those of damaged records, too: `record(of:)` tells them apart.
    package func forEachEntry(
        of nameSpace: NameSpace, startingWith prefix: String = "",
        _ body: (IndexEntry) throws -> Bool
    ) throws {
        for start in IndexKey.ranges(nameSpace, startingWith: prefix) {
            var continues = true
            try snapshot.forEach(in: keyspaces.index, from: start) { key, value in
                let bytes = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
                guard bytes.starts(with: start) else { return false }
                let entry = try entry(key: bytes, nameSpace, value)
                // Where the identifier is cut off, the rest of the prefix may match or not.
                guard !entry.isWhole || entry.identifier.utf8.starts(with: prefix.utf8) else {
                    return true
                }
                continues = try body(entry)
                return continues
            }
            guard continues else { return }
        }
    }

    private func entry(key: [UInt8], _ nameSpace: NameSpace, _ value: RawSpan) throws -> IndexEntry
    {
        let handle =
            value.byteCount == 8 ? try Handle(stored: value) : Handle(0)
        if key[0] != IndexKey.longMark {
            let identifier = String(decoding: key.dropFirst(), as: UTF8.self)
            return IndexEntry(
                nameSpace: nameSpace, identifier: identifier, handle: handle, isWhole: true)
        }
        // Only the record has the whole identifier, if the entry leads to the right one.
        if case .record(let record) = try record(handle),
            IndexKey.bytes(nameSpace, record.identifier) == key
        {
            return IndexEntry(
                nameSpace: nameSpace, identifier: record.identifier, handle: handle, isWhole: true,
                longKey: key)
        }
        return IndexEntry(
            nameSpace: nameSpace, identifier: IndexKey.beginning(ofLong: key), handle: handle,
            isWhole: false,
            longKey: key)
    }

    /// Visits every record, segments included, in the order of handles until `body` returns
    /// `false`.
    package func forEachRecord(_ body: (Handle, StoredRecord) throws -> Bool) throws {
        try snapshot.forEach(in: keyspaces.nodes) { key, _ in
            // The keys of a record's further chunks are longer.
            guard key.byteCount == 8 else { return true }
            let handle = try Handle(stored: key)
            // Of records whose removal is pending, parts are gone, and nothing leads to them.
            if (try? state(of: handle))??.flags.contains(.pendingRemoval) == true { return true }
            return try body(handle, try record(handle))
        }
    }

    /// Visits the roots and the records on cycles, least recently accessed first, until `body`
    /// returns `false`.
    package func forEachRoot(_ body: (Handle, Stamp) throws -> Bool) throws {
        try snapshot.forEach(in: keyspaces.recency) { key, _ in
            guard let pair = KeyPair(key) else { return true }
            if pair.first == 0,
                (try? state(of: Handle(pair.second)))??.flags.contains(.pendingRemoval) == true
            {
                return true
            }
            return try body(Handle(pair.second), Stamp(pair.first))
        }
    }

    // MARK: - Sums and reads

    /// Returns the bytes of the nodes of each type. A node that several types have written counts
    /// for each of them, as in the statistics. Costs a walk of the cache. Records that can't be
    /// read have no type.
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

    /// Reads an entry from this snapshot as `NormalizedCache` would: a key without an entry stands
    /// for the node of that identifier. The read is no access, and no statistics count it.
    package func outcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ nameSpace: NameSpace, _ identifier: String, limits: TreeLimits
    ) throws -> ReadOutcome<[Model]> {
        let reader = SnapshotReader(generation: generation, snapshot: snapshot, limits: limits)
        do {
            return try ReadScope.run {
                switch nameSpace {
                case .collection: return try reader.collection(type, forKey: identifier)
                case .key: return try reader.model(type, forKey: identifier).asArray
                case .node, .segment: return try reader.node(type, identifier).asArray
                }
            }
        } catch let reason as MissReason {
            return .miss(reason)
        }
    }
}

extension ReadOutcome {
    fileprivate var asArray: ReadOutcome<[Value]> {
        switch self {
        case .hit(let hit):
            .hit(Hit(value: [hit.value], isCut: hit.isCut, recordCount: hit.recordCount))
        case .miss(let reason): .miss(reason)
        }
    }
}

/// The bytes of the records of a type, before compression and as stored.
package struct TypeBytes: Sendable, Hashable {
    package fileprivate(set) var raw = 0
    package fileprivate(set) var stored = 0
}

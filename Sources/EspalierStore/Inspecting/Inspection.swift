import EspalierLMDB
package import EspalierRecords

/// One snapshot of a cache as records instead of models: what tools walk, show and compare.
///
/// ```swift
/// let names = try cache.inspect { inspection in
///     var names: [String] = []
///     try inspection.forEachEntry(of: .node, startingWith: "User:") { entry in
///         names.append(entry.identifier)
///         return names.count < 20
///     }
///     return names
/// }
/// ```
///
/// Changes nothing and counts as no access. While one is open no page of its snapshot can be used again, which in a full
/// cache stops a writer: copy what is needed, and print it afterwards. Confined to the thread and the call that lent it.
package final class Inspection {
    let snapshot: Snapshot
    let keyspaces: Keyspaces
    private let source: SnapshotSource

    init(_ snapshot: Snapshot, of generation: Generation) throws {
        self.snapshot = snapshot
        keyspaces = generation.keyspaces
        source = try SnapshotSource(snapshot, of: generation)
    }

    /// The number of the last commit: what stamps count in.
    package var commit: Stamp {
        get throws { Stamp(try snapshot.counters(keyspaces).stamp) }
    }

    // MARK: One record

    /// The handle an identifier, a key or a collection's key has; nil when there is none, or damage in its place.
    package func handle(of identifier: String, in nameSpace: NameSpace) throws -> Handle? {
        guard !identifier.isEmpty else { return nil }
        do {
            return try snapshot.handle(keyspaces, nameSpace, identifier)
        } catch is FormatError {
            return nil
        }
    }

    /// What stands under a handle.
    package func record(_ handle: Handle) throws -> StoredRecord {
        do {
            if let record = try snapshot.record(keyspaces, handle, shapes: { try source.shape($0) }) {
                return .record(record)
            }
        } catch let error as FormatError {
            return .damaged("\(error)")
        }
        let flags = try state(of: handle).flags
        if flags.contains(.tombstone) { return .deleted }
        return flags.contains(.lost) ? .lost : .nothing
    }

    /// References, stamp and flags of a record; the default where the entry is damaged.
    package func state(of handle: Handle) throws -> StateEntry {
        do {
            return try snapshot.state(keyspaces, of: handle) ?? .default
        } catch is FormatError {
            return .default
        }
    }

    /// The bytes of a record as stored; nil if there is none.
    package func bytes(of handle: Handle) throws -> [UInt8]? {
        let joined: [UInt8]?? = try snapshot.withValue(keyspaces.nodes, handle.rawValue) { span -> [UInt8]? in
            guard try Chunks.count(span) == nil else { return nil }
            return try ByteReader.reading(span) { try $0.bytes(count: $0.end) }
        }
        guard let joined else { return nil }
        if let joined { return joined }
        let count = try snapshot.withValue(keyspaces.nodes, handle.rawValue) { try Chunks.count($0) }
        return try snapshot.joinedRecord(keyspaces.nodes, handle, chunkCount: count.flatMap { $0 } ?? 1)
    }

    // MARK: Walking

    /// Visits the entries of a name space in the order of their bytes, those too long for a key last, until `body` returns
    /// `false`. With a prefix costs only what is found.
    package func forEachEntry(
        of nameSpace: NameSpace, startingWith prefix: String = "", _ body: (IndexEntry) throws -> Bool
    ) throws {
        for start in IndexKey.ranges(nameSpace, startingWith: prefix) {
            var goesOn = true
            try snapshot.forEach(in: keyspaces.index, from: start) { key, value in
                let bytes = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
                guard bytes.starts(with: start) else { return false }
                guard let entry = try entry(key: bytes, nameSpace, value),
                    entry.identifier.utf8.starts(with: prefix.utf8)
                else { return true }
                goesOn = try body(entry)
                return goesOn
            }
            guard goesOn else { return }
        }
    }

    private func entry(key: [UInt8], _ nameSpace: NameSpace, _ value: RawSpan) throws -> IndexEntry? {
        guard value.byteCount == 8 else { return nil }
        let handle = Handle(try ByteReader.reading(value) { try $0.integer(UInt64.self) })
        if key[0] != IndexKey.longMark {
            let identifier = String(decoding: key.dropFirst(), as: UTF8.self)
            return IndexEntry(nameSpace: nameSpace, identifier: identifier, handle: handle)
        }
        // Only the record has all of it.
        guard case .record(let record) = try record(handle) else { return nil }
        return IndexEntry(nameSpace: nameSpace, identifier: record.identifier, handle: handle)
    }

    /// Visits every record, segments included, in the order of handles until `body` returns `false`.
    package func forEachRecord(_ body: (Handle, StoredRecord) throws -> Bool) throws {
        try snapshot.forEach(in: keyspaces.nodes) { key, _ in
            // The keys of further chunks are longer.
            guard key.byteCount == 8 else { return true }
            let handle = Handle(try ByteReader.reading(key) { try $0.integer(UInt64.self) })
            return try body(handle, try record(handle))
        }
    }

    /// Visits the roots and the records on cycles, least recently used first, until `body` returns `false`.
    package func forEachRoot(_ body: (Handle, Stamp) throws -> Bool) throws {
        try snapshot.forEach(in: keyspaces.recency) { key, _ in
            guard let pair = KeyPair(key) else { return true }
            return try body(Handle(pair.second), Stamp(pair.first))
        }
    }
}

/// A name of the index and the record it leads to.
package struct IndexEntry: Sendable, Hashable {
    package let nameSpace: NameSpace
    package let identifier: String
    package let handle: Handle
}

/// What an inspection finds under a handle.
package enum StoredRecord {
    case record(Record)
    /// A tombstone: deleted, and still referred to.
    case deleted
    /// Found damaged earlier: its place is kept.
    case lost
    /// Its bytes can't be taken apart.
    case damaged(_ detail: String)
    /// No record: a reference to it dangles.
    case nothing
}

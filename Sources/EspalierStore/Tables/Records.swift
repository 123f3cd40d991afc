import EspalierConfinement
package import EspalierLMDB
package import EspalierRecords

/// The `nodes` keyspace as one transaction changes it: the bytes of records, cut into chunks if
/// they do not fit in one value of LMDB.
///
/// A record is written to LMDB when it is stored, not at the end of the commit. `edited` lists the
/// records that the transaction has rewritten or removed. Confined to the thread that commits.
final class RecordTable {
    // immutable
    private let keyspace: Keyspace
    private let counters: CounterTable
    /// The most bytes that one value of LMDB holds.
    let chunkLimit: Int

    // confined to the thread that commits
    private struct State: ~Copyable {
        /// The highest handle that the keyspace may hold. Records above it are appended, which
        /// keeps pages full.
        var highest: UInt64
        var edited: [Handle] = []
        var newPages = NewPages()
    }
    private let state: Confined<State>

    init(_ keyspaces: Keyspaces, _ counters: CounterTable, chunkLimit: Int) {
        keyspace = keyspaces.nodes
        self.counters = counters
        self.chunkLimit = chunkLimit
        state = Confined(State(highest: counters.value.nextHandle &- 1))
    }

    /// The records that were rewritten or removed.
    var edited: [Handle] { state.value.edited }

    var editedCount: Int { state.value.edited.count }

    /// An estimate of the pages that written records fill.
    var newPages: Int { state.value.newPages.count }

    /// Counts the pages of a new value in another keyspace.
    func addNewPages(for byteCount: Int) { state.value.newPages.add(byteCount) }

    /// Returns whether a record is stored in several values.
    func isChunked(_ record: Record) -> Bool { record.storedByteCount > chunkLimit }

    func contains(_ handle: Handle, in transaction: borrowing WriteTransaction) throws -> Bool {
        try transaction.contains(keyspace, handle.rawValue)
    }

    /// Replaces the bytes of `old` by those of a record. `rawByteCount` is the number of bytes
    /// before compression.
    func store(
        _ bytes: [UInt8], rawByteCount: Int, at handle: Handle, over old: Record?,
        in transaction: inout WriteTransaction
    ) throws {
        var chunkCount = 1
        if bytes.count <= chunkLimit {
            try storeFirst(bytes, at: handle, in: &transaction)
        } else {
            let chunks = Chunks.split(bytes, handle: handle, limit: chunkLimit)
            chunkCount = chunks.count
            try storeFirst(chunks[0], at: handle, in: &transaction)
            for (number, chunk) in chunks.enumerated().dropFirst() {
                try transaction.put(keyspace, ChunkKey(handle.rawValue, UInt32(number)), chunk)
                countStored(chunk)
            }
        }
        counters.value.rawBytes += UInt64(rawByteCount)
        counters.value.bytesWritten += UInt64(bytes.count)
        guard let old else { return }
        state.value.edited.append(handle)
        let before = Chunks.layout(of: old.storedByteCount, limit: chunkLimit)
        counters.value.recordBytes -= min(
            counters.value.recordBytes, UInt64(before.storedBytes))
        counters.value.rawBytes -= min(counters.value.rawBytes, UInt64(old.rawByteCount))
        for number in stride(from: chunkCount, to: before.count, by: 1) {
            try transaction.delete(keyspace, ChunkKey(handle.rawValue, UInt32(number)))
        }
    }

    /// Writes a whole record, or its first chunk.
    private func storeFirst(
        _ value: [UInt8], at handle: Handle, in transaction: inout WriteTransaction
    ) throws {
        if handle.rawValue > state.value.highest, try append(value, at: handle, in: &transaction) {
            state.value.highest = handle.rawValue
        } else {
            try transaction.put(keyspace, handle.rawValue, value)
        }
        countStored(value)
    }

    private func countStored(_ value: [UInt8]) {
        counters.value.recordBytes += UInt64(value.count)
        state.value.newPages.add(value.count)
    }

    /// Appends a value. Returns false where damage has left a key above all given-out handles.
    private func append(
        _ value: [UInt8], at handle: Handle, in transaction: inout WriteTransaction
    ) throws -> Bool {
        do throws(LMDBError) {
            try transaction.append(keyspace, handle.rawValue, value)
            return true
        } catch {
            guard error.code == .outOfOrder else { throw error }
            return false
        }
    }

    /// Removes the bytes of a record.
    func erase(_ record: Record, in transaction: inout WriteTransaction) throws {
        let layout = Chunks.layout(of: record.storedByteCount, limit: chunkLimit)
        try transaction.delete(keyspace, record.handle.rawValue)
        for number in stride(from: 1, to: layout.count, by: 1) {
            try transaction.delete(keyspace, ChunkKey(record.handle.rawValue, UInt32(number)))
        }
        state.value.edited.append(record.handle)
        counters.value.recordBytes -= min(
            counters.value.recordBytes, UInt64(layout.storedBytes))
    }

    /// Removes the last value of a record, so that the remaining values are still its beginning.
    /// Returns whether any value is left.
    func eraseLastChunk(of handle: Handle, in transaction: inout WriteTransaction) throws -> Bool {
        guard let last = try lastChunk(of: handle, in: transaction) else { return false }
        counters.value.recordBytes -= min(counters.value.recordBytes, UInt64(last.bytes))
        try transaction.delete(keyspace, last.key)
        state.value.edited.append(handle)
        return last.key.count > 8
    }

    private func lastChunk(
        of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> (key: [UInt8], bytes: Int)? {
        try transaction.withCursor(keyspace) { cursor in
            let isBehind = try cursor.seek(atOrAfter: handle.rawValue + 1)
            guard try isBehind ? cursor.previous() : cursor.last() else { return nil }
            return try cursor.withEntry { key, value in
                try ByteReader.reading(key) { reader in
                    guard try reader.integer(UInt64.self) == handle.rawValue else { return nil }
                    reader.position = 0
                    return (try reader.bytes(count: reader.end), value.byteCount)
                }
            }
        }
    }

    /// Removes every value under a handle, whatever it contains. Returns whether there was any.
    /// Does not update the counters, so a recount has to follow.
    func eraseUnreadable(_ handle: Handle, in transaction: inout WriteTransaction) throws -> Bool {
        var keys: [[UInt8]] = []
        try transaction.forEach(in: keyspace, from: handle.rawValue) { key, _ in
            try ByteReader.reading(key) { reader in
                guard try reader.integer(UInt64.self) == handle.rawValue else { return false }
                reader.position = 0
                keys.append(try reader.bytes(count: reader.end))
                return true
            }
        }
        guard !keys.isEmpty else { return false }
        state.value.edited.append(handle)
        for key in keys { try transaction.delete(keyspace, key) }
        return true
    }

    /// Removes chunks whose record is gone.
    func eraseLooseChunks(_ keys: [[UInt8]], in transaction: inout WriteTransaction) throws {
        for key in keys { try transaction.delete(keyspace, key) }
    }
}

/// Where a record goes, and the record that is there.
struct RecordSlot {
    let handle: Handle
    let old: Record?
}

/// The content of a record to be written.
struct RecordContent {
    let nameSpace: NameSpace
    let identifier: String
    var shape: Shape = .none
    let children: [Handle]
    let values: ArraySlice<UInt8>

    var payload: [UInt8] { Record.payload(identifier: identifier, values: values) }

    func isSame(as old: Record) -> Bool {
        shape == old.shape && children == old.children && values == old.values[...]
            && Identifier(identifier) == Identifier(old.identifier)
    }
}

// MARK: - Look-ups

extension ReadableTransaction where Self: ~Copyable {
    /// Returns the record of `handle`, decompressed; nil if there is none. Damage throws a
    /// `FormatError`.
    package func record(
        _ keyspaces: Keyspaces, _ handle: Handle, by decompressor: RecordDecompressor,
        shapes: (UInt64) throws -> Shape?
    ) throws -> Record? {
        try withRecord(keyspaces, handle) { stored in
            decompressor.arena.removeAll()
            let decompressed = try RecordLayout.decompress(
                stored, by: decompressor, in: decompressor.arena)
            return try Record(
                reading: decompressed, storedAs: stored.end, handle: handle, shapes: shapes)
        }
    }

    /// Returns the handles that a record refers to, from its header alone and unchecked. For
    /// searches in which a wrong answer does no harm.
    func children(_ keyspaces: Keyspaces, of handle: Handle) throws -> [Handle] {
        var children: [Handle] = []
        _ = try withRecord(keyspaces, handle) { reader in
            try RecordLayout(reading: &reader).readChildren(&reader, of: handle, into: &children)
        }
        return children
    }

    /// Returns the header of a record, unchecked, and the number of the record's bytes.
    package func layout(
        _ keyspaces: Keyspaces, of handle: Handle
    ) throws -> (layout: RecordLayout, byteCount: Int)? {
        try withRecord(keyspaces, handle) { (try RecordLayout(reading: &$0), $0.end) }
    }

    /// Returns the bytes of a record that stands in `chunkCount` chunks.
    package func joinedRecord(_ nodes: Keyspace, _ handle: Handle, chunkCount: Int) throws
        -> [UInt8]
    {
        var writer = ByteWriter()
        for number in 0..<chunkCount {
            let join = { (span: RawSpan) throws -> Void in
                try ByteReader.reading(span) {
                    try Chunks.join(&$0, number: number, handle: handle, into: &writer)
                }
            }
            let found: Void? =
                number == 0
                ? try withValue(nodes, handle.rawValue, join)
                : try withValue(nodes, ChunkKey(handle.rawValue, UInt32(number)), join)
            guard found != nil else { throw FormatError.truncated }
        }
        return writer.bytes
    }

    /// Calls `body` with the bytes of a record, its chunks joined. Returns nil, without a call, if
    /// there is none.
    private func withRecord<R>(
        _ keyspaces: Keyspaces, _ handle: Handle, _ body: (inout ByteReader) throws -> R
    ) throws -> R? {
        var chunkCount: Int?
        var result: R?
        _ = try withValue(keyspaces.nodes, handle.rawValue) { span in
            chunkCount = try Chunks.count(span)
            guard chunkCount == nil else { return }
            result = try ByteReader.reading(span, body)
        }
        guard let chunkCount else { return result }
        return try ByteReader.reading(
            try joinedRecord(keyspaces.nodes, handle, chunkCount: chunkCount), body)
    }
}

extension Record {
    /// Returns whether the record is the one that `identifier` names.
    func isNamed(_ identifier: String, in nameSpace: NameSpace) -> Bool {
        self.nameSpace == nameSpace && Identifier(self.identifier) == Identifier(identifier)
    }

    /// Checks the values of the record one by one.
    ///
    /// - Throws: A `FormatError` unless every value has a known kind, there are as many values as
    ///   fields, and the values name every child of the record and no other.
    func checkValues() throws {
        let count = nameSpace == .node ? shape.count : 1
        var splicer = ValueSplicer()
        try ByteReader.reading(values) { reader in
            for _ in 0..<count { try reader.skipValue() }
            guard reader.isAtEnd else { throw FormatError.malformed("more values than fields") }
            reader.position = 0
            while !reader.isAtEnd {
                if try reader.kind() == .string {
                    _ = try reader.readString()
                } else {
                    try reader.skipHead()
                }
            }
        }
        // The children of a collection are its segments. Its values are their counts.
        guard nameSpace != .collection else { return _ = try SegmentList(self) }
        try splicer.append(values, children: children)
        guard splicer.children.count == children.count else {
            throw FormatError.malformed("a child that no value names")
        }
    }
}

import EspalierLMDB
import EspalierRecords

// The keyspaces as typed look-ups. Damage in an entry throws a `FormatError`.
extension ReadableTransaction where Self: ~Copyable {
    func handle(_ keyspaces: Keyspaces, _ nameSpace: NameSpace, _ identifier: String) throws
        -> Handle?
    {
        try withValue(keyspaces.index, IndexKey.bytes(nameSpace, identifier)) {
            try Handle(stored: $0)
        }
    }

    func state(_ keyspaces: Keyspaces, of handle: Handle) throws -> StateEntry? {
        try withValue(keyspaces.state, handle.rawValue) { span in
            try ByteReader.reading(span) { try StateEntry(reading: &$0, for: handle) }
        }
    }

    /// What is pinned. A damaged entry is left out.
    func pinnedHandles(_ keyspaces: Keyspaces) throws -> [Handle] {
        var handles: [Handle] = []
        try forEach(in: keyspaces.pins) { _, value in
            if let handle = try? Handle(stored: value) { handles.append(handle) }
            return true
        }
        return handles
    }

    /// A generation begins with some: none are damage, and counting from 1 again would give records
    /// the handles of others.
    func counters(_ keyspaces: Keyspaces) throws -> Counters {
        let counters = try withValue(keyspaces.info, Counters.key) { span in
            try ByteReader.reading(span) { try Counters(reading: &$0) }
        }
        guard let counters else { throw FormatError.truncated }
        return counters
    }

    func storedShape(_ keyspaces: Keyspaces, _ number: UInt64) throws -> StoredShape? {
        try withValue(keyspaces.shapes, number) { span in
            try ByteReader.reading(span) { try StoredShape(reading: &$0, number: number) }
        }
    }

    /// The record of `handle`, which has `chunkCount` chunks.
    func joinedRecord(_ nodes: Keyspace, _ handle: Handle, chunkCount: Int) throws -> [UInt8] {
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

    /// What a record refers to, by its header alone and unchecked: for a search that a wrong answer
    /// does no harm.
    func children(_ keyspaces: Keyspaces, of handle: Handle) throws -> [Handle] {
        var children: [Handle] = []
        _ = try withRecord(keyspaces, handle) { reader in
            try RecordLayout(reading: &reader).readChildren(&reader, of: handle, into: &children)
        }
        return children
    }

    /// A record's header, unchecked, and how many bytes the record has.
    func layout(_ keyspaces: Keyspaces, of handle: Handle) throws -> (
        layout: RecordLayout, byteCount: Int
    )? {
        try withRecord(keyspaces, handle) { (try RecordLayout(reading: &$0), $0.end) }
    }

    /// The record of `handle`, decompressed and taken apart; nil if there is none.
    func record(
        _ keyspaces: Keyspaces, _ handle: Handle, by decompressor: RecordDecompressor,
        shapes: (UInt64) throws -> Shape?
    ) throws -> Record? {
        try withRecord(keyspaces, handle) { stored in
            decompressor.arena.removeAll()
            let decompressed = try RecordLayout.decompress(
                stored, by: decompressor, in: decompressor.arena)
            return try Record(
                reading: decompressed, storedAs: stored.end,
                handle: handle, shapes: shapes)
        }
    }

    /// Lends the bytes of a record, its chunks joined; nil, without `body`, if there is none.
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

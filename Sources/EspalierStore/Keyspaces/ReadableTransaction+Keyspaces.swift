import EspalierLMDB
import EspalierRecords

// The keyspaces as typed look-ups. Damage in an entry throws a `FormatError`.
extension ReadableTransaction where Self: ~Copyable {
    func handle(_ keyspaces: Keyspaces, _ nameSpace: NameSpace, _ identifier: String) throws -> Handle? {
        try withValue(keyspaces.index, IndexKey.bytes(nameSpace, identifier)) { span in
            try ByteReader.reading(span) { Handle(try $0.integer(UInt64.self)) }
        }
    }

    func state(_ keyspaces: Keyspaces, of handle: Handle) throws -> StateEntry? {
        try withValue(keyspaces.state, handle.rawValue) { span in
            try ByteReader.reading(span) { try StateEntry(reading: &$0, for: handle) }
        }
    }

    func counters(_ keyspaces: Keyspaces) throws -> Counters {
        try withValue(keyspaces.info, Counters.key) { span in
            try ByteReader.reading(span) { try Counters(reading: &$0) }
        } ?? Counters()
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
                try ByteReader.reading(span) { try Chunks.join(&$0, number: number, handle: handle, into: &writer) }
            }
            let found: Void? =
                number == 0
                ? try withValue(nodes, handle.rawValue, join)
                : try withValue(nodes, ChunkKey(handle.rawValue, UInt32(number)), join)
            guard found != nil else { throw FormatError.truncated }
        }
        return writer.bytes
    }

    /// What a record refers to, by its header alone and unchecked: for a search that a wrong answer does no harm.
    func children(_ keyspaces: Keyspaces, of handle: Handle) throws -> [Handle] {
        var children: [Handle] = []
        var chunkCount: Int?
        _ = try withValue(keyspaces.nodes, handle.rawValue) { span in
            chunkCount = try Chunks.count(span)
            guard chunkCount == nil else { return }
            try ByteReader.reading(span) {
                try RecordLayout(reading: &$0).readChildren(&$0, of: handle, into: &children)
            }
        }
        guard let chunkCount else { return children }
        let joined = try joinedRecord(keyspaces.nodes, handle, chunkCount: chunkCount)
        try ByteReader.reading(joined) { try RecordLayout(reading: &$0).readChildren(&$0, of: handle, into: &children) }
        return children
    }

    /// The record of `handle`, taken apart; nil if there is none.
    func record(
        _ keyspaces: Keyspaces, _ handle: Handle, shapes: (UInt64) throws -> Shape?
    ) throws -> Record? {
        var chunkCount: Int?
        var record: Record?
        _ = try withValue(keyspaces.nodes, handle.rawValue) { span in
            chunkCount = try Chunks.count(span)
            guard chunkCount == nil else { return }
            record = try ByteReader.reading(span) { try Record(reading: &$0, handle: handle, shapes: shapes) }
        }
        guard let chunkCount else { return record }
        let joined = try joinedRecord(keyspaces.nodes, handle, chunkCount: chunkCount)
        return try ByteReader.reading(joined) { try Record(reading: &$0, handle: handle, shapes: shapes) }
    }
}

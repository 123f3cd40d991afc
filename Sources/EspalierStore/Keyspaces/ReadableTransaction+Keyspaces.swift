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

    /// Runs `body` with the record of `handle`, its chunks joined; not at all, and the answer is false, if there is none.
    @inline(__always)
    func withRecord(_ keyspaces: Keyspaces, _ handle: Handle, _ body: (RawSpan) throws -> Void) throws -> Bool {
        var chunkCount: Int?
        let found: Void? = try withValue(keyspaces.nodes, handle.rawValue) { span in
            chunkCount = try ByteReader.reading(span) { try Chunks.count($0) }
            if chunkCount == nil { try body(span) }
        }
        guard found != nil else { return false }
        if let chunkCount {
            try joinedRecord(keyspaces, handle, chunkCount: chunkCount).withSpan(body)
        }
        return true
    }

    private func joinedRecord(_ keyspaces: Keyspaces, _ handle: Handle, chunkCount: Int) throws -> ByteWriter {
        var writer = ByteWriter()
        for number in 0..<chunkCount {
            let join = { (span: RawSpan) throws -> Void in
                try ByteReader.reading(span) { try Chunks.join(&$0, number: number, handle: handle, into: &writer) }
            }
            let found: Void? =
                number == 0
                ? try withValue(keyspaces.nodes, handle.rawValue, join)
                : try withValue(keyspaces.nodes, ChunkKey(handle.rawValue, UInt32(number)), join)
            guard found != nil else { throw FormatError.truncated }
        }
        return writer
    }

    /// The record of `handle`, taken apart.
    func record(
        _ keyspaces: Keyspaces, _ handle: Handle, shapes: (UInt64) throws -> Shape?
    ) throws -> Record? {
        var record: Record?
        let found = try withRecord(keyspaces, handle) { span in
            record = try ByteReader.reading(span) { try Record(reading: &$0, handle: handle, shapes: shapes) }
        }
        return found ? record : nil
    }
}

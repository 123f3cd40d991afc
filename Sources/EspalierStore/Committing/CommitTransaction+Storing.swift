import EspalierLMDB
import EspalierRecords

// A record's bytes on their way into the keyspace, and the books that are kept of them.
extension CommitTransaction {
    /// `payload` is the content's.
    func store(
        _ content: Content, _ payload: [UInt8], _ shape: RecordLayout.ShapeReference,
        _ compressed: RecordLayout.CompressedPayload?, at handle: Handle, over old: Record?,
        in transaction: inout WriteTransaction
    ) throws {
        let bytes = RecordLayout.build(
            handle: handle, nameSpace: content.nameSpace, shape: shape, children: content.children,
            payload: payload,
            compressed: compressed)
        if let compressed { dictionaries.retain(compressed.dictionary.number) }
        let rawPayload = RecordLayout.payload(payload, shape: shape).count
        counters.noteWritten(
            payload: rawPayload, stored: rawPayload - (compressed?.savedBytes ?? 0))
        let rawByteCount = bytes.count + (compressed?.savedBytes ?? 0)
        try store(bytes, rawByteCount: rawByteCount, at: handle, over: old, in: &transaction)
    }

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
                try transaction.put(
                    keyspaces.nodes, ChunkKey(handle.rawValue, UInt32(number)), chunk)
                note(stored: chunk)
            }
        }
        counters.rawBytes += UInt64(rawByteCount)
        counters.bytesWritten += UInt64(bytes.count)
        guard let old else { return }
        edits.nodes.append(handle)
        let before = Chunks.layout(of: old.storedByteCount, limit: chunkLimit)
        counters.recordBytes -= min(counters.recordBytes, UInt64(before.storedBytes))
        counters.rawBytes -= min(counters.rawBytes, UInt64(old.rawByteCount))
        for number in stride(from: chunkCount, to: before.count, by: 1) {
            try transaction.delete(keyspaces.nodes, ChunkKey(handle.rawValue, UInt32(number)))
        }
    }

    /// A whole record, or its first chunk.
    private func storeFirst(
        _ value: [UInt8], at handle: Handle, in transaction: inout WriteTransaction
    ) throws {
        if handle.rawValue > highest, try append(value, at: handle, in: &transaction) {
            highest = handle.rawValue
        } else {
            try transaction.put(keyspaces.nodes, handle.rawValue, value)
        }
        note(stored: value)
    }

    private func note(stored value: [UInt8]) {
        counters.recordBytes += UInt64(value.count)
        edits.note(newBytes: value.count)
    }

    /// False where damage has left a key above all handles that were given out.
    private func append(
        _ record: [UInt8], at handle: Handle, in transaction: inout WriteTransaction
    ) throws -> Bool {
        do throws(LMDBError) {
            try transaction.append(keyspaces.nodes, handle.rawValue, record)
            return true
        } catch {
            guard error.code == .outOfOrder else { throw error }
            return false
        }
    }
}

/// Long records, cut into chunks: LMDB stores a value that does not fit a page on pages that have
/// to be contiguous.
///
///     under handle       first chunk = version, flags with bit 7 set, count of chunks (varint),
///                                      slice, check
///     under handle, k    chunk k     = slice, check
///
/// The slices joined are the record, with its own check. The check of a chunk is seeded with handle
/// and chunk number.
package enum Chunks {
    /// Returns the values to store: the record itself if it fits in `limit`, else its chunks in
    /// order.
    package static func split(_ record: [UInt8], handle: Handle, limit: Int) -> [[UInt8]] {
        precondition(
            limit > RecordLayout.checkSize + 12,
            "a value of \(limit) bytes leaves no room for a slice")
        guard record.count > limit else { return [record] }
        // Ten bytes are the most that the first chunk's count can take.
        let slice = limit - RecordLayout.checkSize - 12
        let starts = Array(stride(from: 0, to: record.count, by: slice))
        return starts.enumerated().map { number, start in
            var writer = ByteWriter(capacity: limit)
            if number == 0 {
                writer.append(RecordLayout.version)
                writer.append(RecordLayout.Flag.chunked)
                writer.append(varint: UInt64(starts.count))
            }
            writer.append(record[start..<min(start + slice, record.count)])
            let check = writer.check(seed: seed(handle, number))
            writer.append(integer: check)
            return writer.bytes
        }
    }

    /// Returns how a record of `byteCount` bytes is stored: the number of values, and their bytes
    /// together.
    package static func layout(of byteCount: Int, limit: Int) -> (count: Int, storedBytes: Int) {
        guard byteCount > limit else { return (1, byteCount) }
        let slice = limit - RecordLayout.checkSize - 12
        let count = (byteCount + slice - 1) / slice
        var head = ByteWriter()
        head.append(varint: UInt64(count))
        return (count, byteCount + count * RecordLayout.checkSize + 2 + head.count)
    }

    /// Returns the number of chunks if `first` is the first of several; nil if it is a whole
    /// record.
    package static func count(_ first: RawSpan) throws -> Int? {
        try ByteReader.reading(first) { try count(&$0) }
    }

    /// Returns whether a value is the first of several chunks, by its flags alone.
    @inline(__always)
    package static func isFirst(_ value: ByteReader) throws(FormatError) -> Bool {
        var ahead = value
        guard try ahead.byte() == RecordLayout.version else { return false }
        return try ahead.byte() & RecordLayout.Flag.chunked != 0
    }

    package static func count(_ reader: inout ByteReader) throws(FormatError) -> Int? {
        guard try reader.byte() == RecordLayout.version,
            try reader.byte() & RecordLayout.Flag.chunked != 0
        else {
            return nil
        }
        let count = try reader.varint()
        guard count > 1, count <= UInt64(UInt32.max) else {
            throw .malformed("a count of chunks out of range")
        }
        return Int(count)
    }

    /// Verifies the check of chunk `number` and appends its slice to `record`.
    package static func join(
        _ chunk: inout ByteReader, number: Int, handle: Handle, into record: inout ByteWriter
    ) throws(FormatError) {
        let end = try chunk.verifiedEnd(seed: seed(handle, number))
        if number == 0 {
            try chunk.skip(2)
            _ = try chunk.varint()
        }
        guard chunk.position <= end else { throw .truncated }
        chunk.copy(chunk.position..<end, into: &record)
    }

    private static func seed(_ handle: Handle, _ number: Int) -> UInt64 {
        RecordLayout.seed(handle: handle, shape: UInt64(number) &+ 1)
    }
}

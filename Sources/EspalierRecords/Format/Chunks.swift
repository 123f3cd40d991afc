/// Long frames, cut into chunks: LMDB stores a value that does not fit a page on pages that have to
/// be contiguous.
///
///     under handle, 0    first chunk = version, count of chunks (varint), slice, check
///     under handle, k    chunk k     = slice, check
///
/// The slices joined are the frame of one record, with a check of its own. The check of a chunk is
/// seeded with handle and chunk number.
package enum Chunks {
    /// The version of chunks and containers.
    package static let version: UInt8 = 2
    /// The bytes of a chunk beside its slice, at most: version, count, check.
    private static let overhead = RecordLayout.checkSize + 12

    /// Returns the chunks of a frame, in order, each of at most `limit` bytes.
    package static func split(_ frame: ByteReader, handle: Handle, limit: Int) -> [[UInt8]] {
        precondition(limit > overhead, "a value of \(limit) bytes leaves no room for a slice")
        let slice = limit - overhead
        let starts = Array(stride(from: 0, to: max(frame.end, 1), by: slice))
        return starts.enumerated().map { number, start in
            var writer = ByteWriter(capacity: limit)
            if number == 0 {
                writer.append(version)
                writer.append(varint: UInt64(starts.count))
            }
            frame.copy(start..<min(start + slice, frame.end), into: &writer)
            let check = writer.check(seed: seed(handle, number))
            writer.append(integer: check)
            return writer.bytes
        }
    }

    /// Returns the number of chunks that the first one names.
    package static func count(_ first: RawSpan) throws(FormatError) -> Int {
        var reader = ByteReader(lent: first)
        return try count(&reader)
    }

    private static func count(_ reader: inout ByteReader) throws(FormatError) -> Int {
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        let count = try reader.varint()
        guard count > 0, count <= UInt64(UInt32.max) else {
            throw .malformed("a count of chunks out of range")
        }
        return Int(count)
    }

    /// Verifies the check of chunk `number` and appends its slice to `frame`.
    package static func join(
        _ chunk: inout ByteReader, number: Int, handle: Handle, into frame: inout ByteWriter
    ) throws(FormatError) {
        let end = try chunk.verifiedEnd(seed: seed(handle, number))
        if number == 0 { _ = try count(&chunk) }
        guard chunk.position <= end else { throw .truncated }
        chunk.copy(chunk.position..<end, into: &frame)
    }

    private static func seed(_ handle: Handle, _ number: Int) -> UInt64 {
        RecordLayout.seed(handle: handle, shape: UInt64(number) &+ 1)
    }
}

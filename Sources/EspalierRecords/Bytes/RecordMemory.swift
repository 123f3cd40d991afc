import EspalierConfinement

/// Memory for decompressed records. A record stays in place until the arena is freed or all records
/// are removed.
///
/// A read decompresses hundreds of small records and uses them until it ends. One allocation for
/// many of them costs a tenth of one for each. Not `Sendable`.
@safe
package final class RecordArena {
    private static let blockSize = 32 << 10

    @safe
    private struct Blocks {
        var all: [UnsafeMutableRawBufferPointer] = unsafe []
        /// The bytes in use and free in the last block.
        var used = 0
        var free = 0
    }

    // confined to the thread that reads
    private let blocks = Confined(Blocks())

    package init() {}

    deinit {
        while unsafe !blocks.value.all.isEmpty { unsafe blocks.value.all.removeLast().deallocate() }
    }

    /// Returns a copy of `bytes` with `count` other bytes, which `fill` writes, in place of
    /// `range`.
    func copy(
        _ bytes: ByteReader, with count: Int, inPlaceOf range: Range<Int>,
        _ fill: (inout MutableRawSpan) throws -> Void
    ) throws -> ByteReader {
        let start = range.lowerBound
        let room = unsafe allocate(bytes.end - range.count + count)
        unsafe bytes.copy(0..<start, to: room, at: 0)
        unsafe bytes.copy(range.upperBound..<bytes.end, to: room, at: start + count)
        var gap = unsafe MutableRawSpan(
            _unsafeBytes: UnsafeMutableRawBufferPointer(rebasing: room[start..<start + count]))
        try fill(&gap)
        return unsafe ByteReader(UnsafeRawBufferPointer(room))
    }

    /// Returns memory for `count` bytes, of any content.
    private func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if count > blocks.value.free {
            let block = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(count, Self.blockSize), alignment: 8)
            unsafe blocks.value.all.append(block)
            blocks.value.used = 0
            blocks.value.free = block.count
        }
        let start = blocks.value.used
        blocks.value.used += count
        blocks.value.free -= count
        let block = unsafe blocks.value.all[blocks.value.all.count - 1]
        return unsafe UnsafeMutableRawBufferPointer(rebasing: block[start..<start + count])
    }

    /// Removes all records. No reader of one may be used from here on.
    package func removeAll() {
        guard blocks.value.used > 0 else { return }
        while unsafe blocks.value.all.count > 1
            || blocks.value.all.last.map({ $0.count > Self.blockSize }) == true
        {
            unsafe blocks.value.all.removeLast().deallocate()
        }
        blocks.value.used = 0
        unsafe blocks.value.free = blocks.value.all.last?.count ?? 0
    }
}

/// A record's bytes in memory of their own: joined from chunks, decompressed, or made by a test.
@safe
package final class RecordBuffer {
    private let bytes: UnsafeMutableRawBufferPointer

    package init(_ copied: [UInt8]) {
        unsafe bytes = .allocate(byteCount: copied.count, alignment: 8)
        unsafe bytes.copyBytes(from: copied)
    }

    deinit { unsafe bytes.deallocate() }

    /// A reader of the bytes, valid as long as the buffer lives.
    package var reader: ByteReader { unsafe ByteReader(UnsafeRawBufferPointer(bytes)) }
}

import EspalierConfinement

/// Memory for decompressed records: each stays where it is until the arena goes, or all of them are
/// removed.
///
/// A read expands hundreds of small records, which are of use until it ends: one allocation for
/// many costs a tenth of one for each. Not `Sendable`.
@safe
package final class RecordArena {
    private static let blockSize = 32 << 10

    @safe
    private struct Blocks {
        var all: [UnsafeMutableRawBufferPointer] = unsafe []
        /// Of the last block.
        var used = 0
        var free = 0
    }
    private let blocks = Confined(Blocks())

    package init() {}

    deinit {
        while unsafe !blocks.value.all.isEmpty { unsafe blocks.value.all.removeLast().deallocate() }
    }

    /// A copy of `bytes` with `count` others, which `fill` writes, in place of `range`.
    func copy(
        _ bytes: ByteReader, with count: Int, inPlaceOf range: Range<Int>,
        _ fill: (inout MutableRawSpan) throws -> Void
    ) throws -> ByteReader {
        let start = range.lowerBound
        let room = unsafe make(bytes.end - range.count + count)
        unsafe bytes.copy(0..<start, to: room, at: 0)
        unsafe bytes.copy(range.upperBound..<bytes.end, to: room, at: start + count)
        var gap = unsafe MutableRawSpan(
            _unsafeBytes: UnsafeMutableRawBufferPointer(rebasing: room[start..<start + count]))
        try fill(&gap)
        return unsafe ByteReader(UnsafeRawBufferPointer(room))
    }

    /// Room for `count` bytes, of any content.
    private func make(_ count: Int) -> UnsafeMutableRawBufferPointer {
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

    /// From here on nothing may read what was in it.
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

/// Memory for expanded records: each stays where it is until the arena goes, or all of them are removed.
///
/// A read expands hundreds of small records, which are of use until it ends: one allocation for many costs a tenth of one
/// for each. Not `Sendable`.
@safe
package final class RecordArena {
    private static let blockSize = 32 << 10

    private var blocks: [UnsafeMutableRawBufferPointer] = unsafe []
    /// Of the last block.
    private var used = 0

    package init() {}

    deinit { while unsafe !blocks.isEmpty { unsafe blocks.removeLast().deallocate() } }

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
        let free = unsafe blocks.last.map { $0.count - used } ?? 0
        if count > free {
            unsafe blocks.append(.allocate(byteCount: max(count, Self.blockSize), alignment: 8))
            used = 0
        }
        let block = unsafe blocks[blocks.count - 1]
        defer { used += count }
        return unsafe UnsafeMutableRawBufferPointer(rebasing: block[used..<used + count])
    }

    /// From here on nothing may read what was in it.
    package func removeAll() {
        guard used > 0 else { return }
        while unsafe blocks.count > 1 || blocks.last.map({ $0.count > Self.blockSize }) == true {
            unsafe blocks.removeLast().deallocate()
        }
        used = 0
    }
}

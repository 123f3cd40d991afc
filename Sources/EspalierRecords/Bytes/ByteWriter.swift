/// Writes the byte forms of the format into memory of its own.
///
/// It is no array: appending a few bytes to an array costs a call and a check for other references,
/// which took half of the cost of a text.
@safe
@usableFromInline
package struct ByteWriter: ~Copyable {
    // Sound, because the pointer does not outlive a call: `init` and `grow` allocate the memory,
    // and `deinit` frees it, once, because the writer can't be copied. The first `count` bytes are
    // initialised, and `makeRoom` precedes everything that adds bytes.
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    @usableFromInline package internal(set) var count = 0

    package init(capacity: Int = 0) {
        self.capacity = max(capacity, 32)
        unsafe base = .allocate(byteCount: self.capacity, alignment: 1)
    }

    deinit { unsafe base.deallocate() }

    /// A copy of the bytes written.
    package var bytes: [UInt8] { unsafe Array(written) }

    /// Returns a copy of the bytes from a position on.
    func bytes(from start: Int) -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(rebasing: written[start...]))
    }

    /// Valid until the next change.
    private var written: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base, count: count)
    }

    @inlinable
    @inline(__always)
    mutating func makeRoom(for more: Int) {
        if more > capacity - count { grow(by: more) }
    }

    @inline(never)
    @usableFromInline
    mutating func grow(by more: Int) {
        let larger = max(capacity * 2, count + more)
        let room = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 1)
        unsafe room.copyMemory(from: base, byteCount: count)
        unsafe base.deallocate()
        unsafe base = room
        capacity = larger
    }

    /// Stores a value in memory that `makeRoom` has reserved.
    @inlinable
    @inline(__always)
    mutating func store<T: BitwiseCopyable>(_ value: T) {
        unsafe base.storeBytes(of: value, toByteOffset: count, as: T.self)
        count += MemoryLayout<T>.size
    }

    @inlinable
    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        store(byte)
    }

    @inlinable
    @inline(__always)
    package mutating func append(_ run: UnsafeRawBufferPointer) {
        guard let start = run.baseAddress else { return }
        makeRoom(for: run.count)
        unsafe (base + count).copyMemory(from: start, byteCount: run.count)
        count += run.count
    }

    package mutating func append(_ run: [UInt8]) {
        unsafe run.withUnsafeBytes { unsafe append($0) }
    }

    package mutating func append(_ run: ArraySlice<UInt8>) {
        unsafe run.withUnsafeBytes { unsafe append($0) }
    }

    package mutating func append(_ other: borrowing ByteWriter) { unsafe append(other.written) }

    /// Appends a big-endian integer.
    @inlinable
    @inline(__always)
    package mutating func append<I: FixedWidthInteger & BitwiseCopyable>(integer value: I) {
        makeRoom(for: MemoryLayout<I>.size)
        store(value.bigEndian)
    }

    /// Appends `head` and a big-endian integer.
    @inline(__always)
    package mutating func append<I: FixedWidthInteger & BitwiseCopyable>(
        head: UInt8, integer value: I
    ) {
        makeRoom(for: 1 + MemoryLayout<I>.size)
        store(head)
        store(value.bigEndian)
    }

    // In one piece: appending byte by byte, through the view, is most of the cost of a short text.
    @inline(__always)
    package mutating func append(utf8 string: String) {
        let isDone: Void? = unsafe string.utf8.withContiguousStorageIfAvailable {
            unsafe append(UnsafeRawBufferPointer($0))
        }
        if isDone == nil { append(scattered: string) }
    }

    /// Appends text that came from Objective-C. Inlined, this would retain every text.
    @inline(never)
    private mutating func append(scattered string: String) { append(Array(string.utf8)) }

    @inlinable
    @inline(__always)
    package mutating func append(varint value: UInt64) {
        makeRoom(for: 10)
        var rest = value
        while rest >= 0x80 {
            store(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        store(UInt8(truncatingIfNeeded: rest))
    }

    @inlinable
    @inline(__always)
    package mutating func append(signedVarint value: Int64) {
        append(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// Appends a string behind its length.
    package mutating func append(string: String) {
        append(varint: UInt64(string.utf8.count))
        append(utf8: string)
    }

    /// Appends the bytes to `array`.
    func copy(to array: inout [UInt8]) { unsafe array.append(contentsOf: written) }

    /// Runs `body` with a reader of the bytes, without copying them.
    func reading<R>(_ body: (inout ByteReader) throws -> R) rethrows -> R {
        var reader = unsafe ByteReader(written)
        return try body(&reader)
    }

    /// Lends the bytes written.
    package func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
        try unsafe body(RawSpan(_unsafeBytes: written))
    }

    /// Returns a reader of the bytes of `range`, valid until the next change.
    package func lend(_ range: Range<Int>) -> ByteReader {
        unsafe ByteReader(written).slice(range)
    }

    /// Returns a copy of the bytes, which stays in place.
    package func copyToBuffer() -> RecordBuffer {
        unsafe RecordBuffer(ByteReader(written), 0..<count)
    }

    @inlinable
    @inline(__always)
    package mutating func removeAll() { count = 0 }

    package mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= self.count)
        self.count = count
    }

    /// Replaces the bytes of `range` by those of `run`.
    package mutating func replace(_ range: Range<Int>, with run: borrowing ByteWriter) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        let rest = count - range.upperBound
        makeRoom(for: run.count)
        unsafe (base + range.lowerBound + run.count).copyMemory(
            from: base + range.upperBound, byteCount: rest)
        unsafe (base + range.lowerBound).copyMemory(from: run.base, byteCount: run.count)
        count += run.count - range.count
    }

    package mutating func overwrite(at position: Int, with byte: UInt8) {
        precondition(position >= 0 && position < count)
        unsafe base.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
    }

    /// Returns the check of the bytes from `start` on.
    package func check(from start: Int = 0, seed: UInt64) -> UInt64 {
        precondition(start >= 0 && start <= count)
        return unsafe XXHash64.hash(UnsafeRawBufferPointer(rebasing: written[start...]), seed: seed)
    }
}

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads the byte forms of the format from memory that it does not own. Checks every length first.
///
/// A reader is valid only as long as the owner of the bytes keeps them in place. The types that
/// carry a reader to users' code are `~Copyable`, or check that their value is still being decoded.
@safe
@usableFromInline
package struct ByteReader {
    // `@inlinable`, because other modules would otherwise call a function for each byte, and an
    // unspecialised one for each integer: a third of the instructions of writing a new feed.
    @usableFromInline let base: UnsafeRawPointer
    @usableFromInline package var position: Int
    @usableFromInline package let end: Int

    @inlinable
    package init(_ bytes: UnsafeRawBufferPointer) {
        // An empty buffer may have no address. With `end == 0` no access reaches the placeholder.
        unsafe base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
        position = 0
        end = bytes.count
    }

    @inlinable
    @inline(__always)
    package var remaining: Int { end - position }

    @inlinable
    @inline(__always)
    package var isAtEnd: Bool { position >= end }

    /// Returns a reader of the same bytes up to `end`.
    package func limited(to end: Int) -> ByteReader {
        precondition(end <= self.end && end >= position)
        return unsafe ByteReader(base: base, position: position, end: end)
    }

    /// Returns a reader of the bytes of `range` alone, whose positions count from there.
    @inlinable
    @inline(__always)
    package func slice(_ range: Range<Int>) -> ByteReader {
        precondition(range.lowerBound >= 0 && range.upperBound <= end)
        return unsafe ByteReader(base: base + range.lowerBound, position: 0, end: range.count)
    }

    @inlinable
    init(base: UnsafeRawPointer, position: Int, end: Int) {
        unsafe self.base = unsafe base
        self.position = position
        self.end = end
    }

    /// Reads bytes that their owner keeps in place as long as the reader is used: a record of an
    /// open snapshot.
    @inlinable
    package init(lent span: RawSpan) {
        self = unsafe span.withUnsafeBytes { unsafe ByteReader($0) }
    }

    /// Runs `body` with a reader over `span`. The reader must not leave the closure.
    @inline(__always)
    package static func reading<R>(_ span: RawSpan, _ body: (inout ByteReader) throws -> R) rethrows
        -> R
    {
        try unsafe span.withUnsafeBytes { bytes in
            var reader = unsafe ByteReader(bytes)
            return try body(&reader)
        }
    }

    @inline(__always)
    package static func reading<R>(_ bytes: [UInt8], _ body: (inout ByteReader) throws -> R)
        rethrows -> R
    {
        try unsafe bytes.withUnsafeBytes { bytes in
            var reader = unsafe ByteReader(bytes)
            return try body(&reader)
        }
    }

    @inline(__always)
    package static func reading<R>(
        _ bytes: ArraySlice<UInt8>, _ body: (inout ByteReader) throws -> R
    ) rethrows -> R {
        try unsafe bytes.withUnsafeBytes { bytes in
            var reader = unsafe ByteReader(bytes)
            return try body(&reader)
        }
    }

    // MARK: Fixed width

    @inlinable
    @inline(__always)
    package func peek() throws(FormatError) -> UInt8 {
        guard position < end else { throw .truncated }
        return unsafe base.load(fromByteOffset: position, as: UInt8.self)
    }

    @inlinable
    @inline(__always)
    package mutating func byte() throws(FormatError) -> UInt8 {
        guard position < end else { throw .truncated }
        let byte = unsafe base.load(fromByteOffset: position, as: UInt8.self)
        position += 1
        return byte
    }

    /// Reads a big-endian integer.
    @inlinable
    @inline(__always)
    package mutating func integer<I: FixedWidthInteger & BitwiseCopyable>(_ type: I.Type = I.self)
        throws(FormatError) -> I
    {
        guard end - position >= MemoryLayout<I>.size else { throw .truncated }
        let value = unsafe base.loadUnaligned(fromByteOffset: position, as: I.self)
        position += MemoryLayout<I>.size
        return I(bigEndian: value)
    }

    @inlinable
    @inline(__always)
    package mutating func skip(_ count: Int) throws(FormatError) {
        guard count >= 0, end - position >= count else { throw .truncated }
        position += count
    }

    /// Moves past the next bytes if they are the same as those of `range`. Returns whether they
    /// are.
    package mutating func skip(copyOf range: Range<Int>) -> Bool {
        let count = range.count
        guard range.lowerBound >= 0, range.upperBound <= end, end - position >= count else {
            return false
        }
        func word(_ offset: Int) -> UInt64 {
            unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        if count >= 8, count <= 16 {
            // Two words, which overlap.
            let isSame =
                word(position) == word(range.lowerBound)
                && word(position + count - 8) == word(range.upperBound - 8)
            if isSame { position += count }
            return isSame
        }
        guard unsafe memcmp(base + position, base + range.lowerBound, count) == 0 else {
            return false
        }
        position += count
        return true
    }

    // MARK: Variable width

    /// Reads an unsigned LEB128 integer of at most 64 bits, in its shortest form.
    @inlinable
    @inline(__always)
    package mutating func varint() throws(FormatError) -> UInt64 {
        let first = try byte()
        if first < 0x80 { return UInt64(first) }
        return try longVarint(first)
    }

    @usableFromInline
    mutating func longVarint(_ first: UInt8) throws(FormatError) -> UInt64 {
        var result = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while true {
            let byte = try byte()
            if shift == 63, byte > 1 { throw .malformed("a variable-length integer over 64 bits") }
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                if byte == 0 {
                    throw .malformed("a variable-length integer not in its shortest form")
                }
                return result
            }
            shift += 7
            if shift > 63 { throw .malformed("a variable-length integer over 64 bits") }
        }
    }

    @inlinable
    @inline(__always)
    package mutating func signedVarint() throws(FormatError) -> Int64 {
        let raw = try varint()
        return Int64(bitPattern: (raw >> 1) ^ (0 &- (raw & 1)))
    }

    /// Reads a variable-length count. Throws if the bytes left have no room for so many things of
    /// at least `width` bytes.
    @inlinable
    @inline(__always)
    package mutating func count(ofAtLeast width: Int = 1) throws(FormatError) -> Int {
        let raw = try varint()
        guard raw <= UInt64(remaining / max(width, 1)) else { throw .truncated }
        return Int(raw)
    }

    // MARK: Runs of bytes

    @inline(__always)
    package mutating func string(count: Int) throws(FormatError) -> String {
        guard count >= 0, end - position >= count else { throw .truncated }
        let start = unsafe (base + position).assumingMemoryBound(to: UInt8.self)
        let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
        // `String(validating:as:)` looks generic metadata up each time, which took 7 % of reading a
        // feed. `String(decoding:as:)` repairs invalid text, whose bytes then differ.
        let string = unsafe String(decoding: bytes, as: UTF8.self)
        guard unsafe isASCII(bytes) || string.utf8.elementsEqual(bytes) else {
            throw .malformed("text that is not UTF-8")
        }
        position += count
        return string
    }

    @inline(__always)
    private func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(bytes)
        guard raw.count >= 8 else {
            var union: UInt8 = 0
            for index in 0..<raw.count { union |= unsafe raw[index] }
            return union < 0x80
        }
        var union: UInt64 = 0
        var offset = 0
        while offset + 8 <= raw.count {
            union |= unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        // The last word, which overlaps the one before.
        union |= unsafe raw.loadUnaligned(fromByteOffset: raw.count - 8, as: UInt64.self)
        return union & 0x8080_8080_8080_8080 == 0
    }

    /// Copies `count` bytes at the position into `output` and moves past them, if they are ASCII
    /// text that stands in a JSON string as it is. Returns false, and does nothing, otherwise.
    mutating func copyPlainText(count: Int, to output: inout [UInt8]) throws(FormatError) -> Bool {
        guard count >= 0, end - position >= count else { throw .truncated }
        let text = unsafe UnsafeRawBufferPointer(start: base + position, count: count)
        guard unsafe isPlain(text) else { return false }
        unsafe output.append(contentsOf: text)
        position += count
        return true
    }

    /// Returns whether all bytes are ASCII, and none is a control character, a quotation mark or a
    /// backslash. Looks at eight bytes at a time: the formulas are those of "Determine if a word
    /// has a byte less than n" in https://graphics.stanford.edu/~seander/bithacks.html.
    private func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        func others(_ word: UInt64) -> UInt64 {
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let found =
                ((word &- ones &* 0x20) & ~word) | ((quote &- ones) & ~quote)
                | ((backslash &- ones) & ~backslash) | word
            return found & (ones &* 0x80)
        }
        guard text.count >= 8 else {
            // Spaces fill the word.
            var word = ones &* 0x20
            for index in 0..<text.count { word = word << 8 | UInt64(unsafe text[index]) }
            return others(word) == 0
        }
        var (found, offset): (UInt64, Int) = (0, 0)
        while offset + 8 <= text.count {
            found |= unsafe others(text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        // The last word, which overlaps the one before.
        let last = unsafe text.loadUnaligned(fromByteOffset: text.count - 8, as: UInt64.self)
        return found | others(last) == 0
    }

    package mutating func bytes(count: Int) throws(FormatError) -> [UInt8] {
        guard count >= 0, end - position >= count else { throw .truncated }
        let result = unsafe [UInt8](UnsafeRawBufferPointer(start: base + position, count: count))
        position += count
        return result
    }

    /// Lends the bytes of `range`.
    package func withBytes<R>(_ range: Range<Int>, _ body: (RawSpan) throws -> R) rethrows -> R {
        precondition(range.lowerBound >= 0 && range.upperBound <= end)
        return try unsafe body(
            RawSpan(
                _unsafeBytes: UnsafeRawBufferPointer(
                    start: base + range.lowerBound, count: range.count)))
    }

    /// Copies the bytes of `range` to `offset` in `room`.
    func copy(_ range: Range<Int>, to room: UnsafeMutableRawBufferPointer, at offset: Int) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= end && offset + range.count <= room.count)
        unsafe UnsafeMutableRawBufferPointer(rebasing: room[offset...]).copyMemory(
            from: UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
    }

    /// Appends the bytes of `range` to `writer`.
    package func copy(_ range: Range<Int>, into writer: inout ByteWriter) {
        precondition(range.lowerBound >= 0 && range.upperBound <= end)
        unsafe writer.append(
            UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
    }

    /// Returns whether the `count` bytes at the position are the UTF-8 of `string`. Moves past them
    /// either way.
    @inline(__always)
    package mutating func matches(_ string: String, count: Int) throws(FormatError) -> Bool {
        guard count >= 0, end - position >= count else { throw .truncated }
        defer { position += count }
        guard string.utf8.count == count else { return false }
        let here = unsafe base + position
        let isSame: Bool? = unsafe string.utf8.withContiguousStorageIfAvailable { utf8 in
            guard let start = utf8.baseAddress else { return count == 0 }
            return unsafe compare(here, start, count)
        }
        return isSame ?? matches(scattered: string, count: count)
    }

    /// Returns whether the `count` bytes at the position stand in the UTF-8 of `string` from a byte
    /// on. Moves past them either way.
    mutating func matches(
        _ string: String, from start: Int, count: Int
    ) throws(FormatError) -> Bool {
        guard count >= 0, end - position >= count else { throw .truncated }
        defer { position += count }
        guard start >= 0, string.utf8.count - start >= count else { return false }
        let here = unsafe base + position
        let isSame: Bool? = unsafe string.utf8.withContiguousStorageIfAvailable { utf8 in
            guard let first = utf8.baseAddress else { return count == 0 }
            return unsafe compare(here, first + start, count)
        }
        if let isSame { return isSame }
        return unsafe string.utf8.dropFirst(start).prefix(count).elementsEqual(
            UnsafeRawBufferPointer(start: here, count: count))
    }

    /// Compares text that came from Objective-C. Inlined, this would retain every text.
    @inline(never)
    private func matches(scattered string: String, count: Int) -> Bool {
        unsafe string.utf8.elementsEqual(
            UnsafeRawBufferPointer(start: base + position, count: count))
    }

    /// Returns whether the bytes from the position to the end are those of `range`. Moves past them
    /// either way.
    mutating func matchesRest(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        defer { position = end }
        guard remaining == range.count else { return false }
        guard remaining > 0 else { return true }
        return unsafe bytes.withUnsafeBytes { bytes in
            let others = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
            return unsafe others.baseAddress.map {
                unsafe memcmp(base + position, $0, range.count) == 0
            } ?? false
        }
    }

    @inline(__always)
    private func compare(_ a: UnsafeRawPointer, _ b: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        unsafe memcmp(a, b, count) == 0
    }

    /// Verifies the check at the end of the bytes and returns its position. Throws unless the check
    /// is that of all bytes before it. A narrower `Check` holds the low bytes.
    @inlinable
    @inline(__always)
    package func verifiedEnd<Check: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ type: Check.Type = UInt64.self, seed: UInt64
    ) throws(FormatError) -> Int {
        var tail = self
        tail.position = end - MemoryLayout<Check>.size
        guard tail.position > 0 else { throw .truncated }
        let start = tail.position
        guard try tail.integer(type) == Check(truncatingIfNeeded: check(of: 0..<start, seed: seed))
        else {
            throw .checkFailed
        }
        return start
    }

    /// Returns the check of `range` under `seed`.
    @usableFromInline
    package func check(of range: Range<Int>, seed: UInt64) -> UInt64 {
        precondition(range.lowerBound >= 0 && range.upperBound <= end)
        return unsafe XXHash64.hash(
            UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count), seed: seed)
    }
}

/// Bytes in memory of their own: a decompressed block, or a record that a test has made.
///
/// `@unchecked Sendable` because the bytes never change after `init`.
@safe
package final class RecordBuffer: @unchecked Sendable {
    private let bytes: UnsafeMutableRawBufferPointer

    package init(_ copied: [UInt8]) {
        unsafe bytes = .allocate(byteCount: copied.count, alignment: 8)
        unsafe bytes.copyBytes(from: copied)
    }

    /// Copies the bytes of `range`.
    package init(_ reader: ByteReader, _ range: Range<Int>) {
        unsafe bytes = .allocate(byteCount: range.count, alignment: 8)
        unsafe reader.copy(range, to: bytes, at: 0)
    }

    /// Makes a buffer of `count` bytes, which `fill` writes.
    package init(count: Int, _ fill: (inout MutableRawSpan) throws -> Void) throws {
        unsafe bytes = .allocate(byteCount: count, alignment: 8)
        var span = unsafe MutableRawSpan(_unsafeBytes: bytes)
        try fill(&span)
    }

    deinit { unsafe bytes.deallocate() }

    package var count: Int { unsafe bytes.count }

    /// A reader of the bytes, valid as long as the buffer lives.
    package var reader: ByteReader { unsafe ByteReader(UnsafeRawBufferPointer(bytes)) }
}

/// Builds the byte forms of the format.
package struct ByteWriter {
    package private(set) var bytes: [UInt8]

    package init(capacity: Int = 0) {
        bytes = []
        if capacity > 0 { bytes.reserveCapacity(capacity) }
    }

    package var count: Int { bytes.count }

    @inline(__always)
    package mutating func append(_ byte: UInt8) { bytes.append(byte) }

    @inline(__always)
    package mutating func append(_ run: [UInt8]) { bytes.append(contentsOf: run) }

    package mutating func append(_ run: ArraySlice<UInt8>) { bytes.append(contentsOf: run) }

    package mutating func append(_ run: UnsafeRawBufferPointer) { unsafe bytes.append(contentsOf: run) }

    /// A big-endian integer.
    @inline(__always)
    package mutating func append<I: FixedWidthInteger & BitwiseCopyable>(integer value: I) {
        unsafe withUnsafeBytes(of: value.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    /// `head` and a big-endian integer, of eight bytes at most, in one piece.
    @inline(__always)
    package mutating func append<I: FixedWidthInteger & BitwiseCopyable>(head: UInt8, integer value: I) {
        let room = 120 - I.bitWidth
        let both = UInt128(head) << 120 | UInt128(truncatingIfNeeded: I.Magnitude(truncatingIfNeeded: value)) << room
        unsafe withUnsafeBytes(of: both.bigEndian) {
            unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<(1 + I.bitWidth / 8)]))
        }
    }

    // In one piece: byte by byte, through the view, is what takes most of a short text.
    @inline(__always)
    package mutating func append(utf8 string: String) {
        let isDone: Void? = unsafe string.utf8.withContiguousStorageIfAvailable { unsafe bytes.append(contentsOf: $0) }
        if isDone == nil { bytes.append(contentsOf: string.utf8) }
    }

    @inline(__always)
    package mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    @inline(__always)
    package mutating func append(signedVarint value: Int64) {
        append(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// A length-prefixed string.
    package mutating func append(string: String) {
        append(varint: UInt64(string.utf8.count))
        append(utf8: string)
    }

    /// Puts the bytes at the end of `array`.
    func copy(to array: inout [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe array.append(contentsOf: $0) }
    }

    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    package mutating func truncate(to count: Int) { bytes.removeLast(bytes.count - count) }

    /// Puts `run` in place of `range`.
    package mutating func replace(_ range: Range<Int>, with run: [UInt8]) {
        bytes.replaceSubrange(range, with: run)
    }

    package mutating func overwrite(at position: Int, with byte: UInt8) { bytes[position] = byte }

    package func check(from start: Int = 0, seed: UInt64) -> UInt64 {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe XXHash64.hash(UnsafeRawBufferPointer(rebasing: bytes[start...]), seed: seed)
        }
    }
}

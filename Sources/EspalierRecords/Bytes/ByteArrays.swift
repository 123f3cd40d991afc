// Arrays of bytes as parts of names, and as the memory that C reads. The functions work on the
// bytes in place: through `Collection`, a comparison takes three times as long.

extension [UInt8] {
    /// Makes a copy of bytes that are lent.
    ///
    /// - Complexity: O(*n*) in the number of bytes.
    package init(copying span: RawSpan) {
        self = unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// Runs `body` with the bytes, which are lent.
    package func withRawSpan<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
        try unsafe withUnsafeBytes { try unsafe body(RawSpan(_unsafeBytes: $0)) }
    }

    /// Returns how many bytes from `start` on are the same as those of `other` from `otherStart`
    /// on, at most `limit`.
    ///
    /// - Precondition: Both arrays have `limit` bytes there.
    package func commonCount(
        from start: Int = 0, with other: [UInt8], from otherStart: Int = 0, atMost limit: Int
    ) -> Int {
        precondition(start + limit <= count && otherStart + limit <= other.count)
        return unsafe withUnsafeBytes { a in
            unsafe other.withUnsafeBytes { b in
                unsafe a.commonCount(from: start, with: b, from: otherStart, atMost: limit)
            }
        }
    }

    /// Returns whether the array is less than another one, byte by byte.
    package func precedes(_ other: [UInt8]) -> Bool {
        let limit = Swift.min(count, other.count)
        let common = commonCount(with: other, atMost: limit)
        return common < limit ? self[common] < other[common] : count < other.count
    }
}

extension UnsafeRawBufferPointer {
    /// Returns how many bytes from `start` on are the same as those of `other` from `otherStart`
    /// on, at most `limit`. Compares eight bytes at a time.
    ///
    /// - Precondition: Both buffers have `limit` bytes there.
    @inlinable
    @inline(__always)
    package func commonCount(
        from start: Int, with other: UnsafeRawBufferPointer, from otherStart: Int, atMost limit: Int
    ) -> Int {
        precondition(start + limit <= count && otherStart + limit <= other.count)
        var found = 0
        while found + 8 <= limit {
            let a = unsafe loadUnaligned(fromByteOffset: start + found, as: UInt64.self)
            let b = unsafe other.loadUnaligned(fromByteOffset: otherStart + found, as: UInt64.self)
            if a != b { return found + (a.littleEndian ^ b.littleEndian).trailingZeroBitCount / 8 }
            found += 8
        }
        while found < limit, unsafe self[start + found] == other[otherStart + found] { found += 1 }
        return found
    }
}

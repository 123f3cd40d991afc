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
        return unsafe withUnsafeBufferPointer { a in
            unsafe other.withUnsafeBufferPointer { b in
                var count = 0
                while count < limit, unsafe a[start + count] == b[otherStart + count] { count += 1 }
                return count
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

// Strings as bytes, by which identifiers are compared.

extension String {
    /// The two words of which the string consists: a short text itself, or the address of a longer
    /// one. Nil where strings have another size.
    ///
    /// Equal words mean equal texts. Different words mean nothing. Comparing words retains no text.
    @inline(__always)
    var words: UInt128? {
        guard MemoryLayout<String>.size == MemoryLayout<UInt128>.size else { return nil }
        return unsafe unsafeBitCast(self, to: UInt128.self)
    }

    /// Whether both are the same text in memory, or the same short text. Their bytes are then the
    /// same; false means that they may be.
    @inline(__always)
    func isIdentical(to other: String) -> Bool {
        guard let words, let others = other.words else { return false }
        return words == others
    }

    /// Returns XXH64 of the text in UTF-8.
    package func xxHash64(seed: UInt64) -> UInt64 {
        let hash: UInt64? = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            unsafe XXHash64.hash(UnsafeRawBufferPointer(bytes), seed: seed)
        }
        return hash ?? XXHash64.hash(Array(utf8), seed: seed)
    }

    @inline(__always)
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame: Bool?? = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            unsafe other.utf8.withContiguousStorageIfAvailable { others in
                unsafe Self.areSame(UnsafeRawBufferPointer(bytes), UnsafeRawBufferPointer(others))
            }
        }
        return (isSame ?? nil) ?? hasSameScatteredBytes(as: other)
    }

    // Only text that came from Objective-C has no contiguous bytes. The code for it stands apart:
    // inlined, it would retain every text.
    @inline(never)
    private func hasSameScatteredBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    @inline(never)
    private var scatteredBytesHash: UInt64 { Self.hash(Array(utf8)) }

    /// A hash of the bytes, different in each process.
    ///
    /// Polynomial hashing: the bytes are the digits of a number in a base drawn at random, modulo
    /// the prime 2^61 - 1. Two texts of n bytes that are chosen without knowing the base have equal
    /// hashes with a probability of about n/2^63, so an attacker can't make a tree of identifiers
    /// that all collide. XXH64 has pairs that collide under half of its seeds. One multiplication
    /// hashes seven bytes.
    @inline(__always)
    package var bytesHash: UInt64 {
        unsafe utf8.withContiguousStorageIfAvailable {
            unsafe Self.hash(UnsafeRawBufferPointer($0))
        }
            ?? scatteredBytesHash
    }

    private static func areSame(_ bytes: UnsafeRawBufferPointer, _ others: UnsafeRawBufferPointer)
        -> Bool
    {
        guard let base = bytes.baseAddress, let other = others.baseAddress else { return true }
        let count = bytes.count
        guard count >= 8 else {
            return (0..<count).allSatisfy { unsafe bytes[$0] == others[$0] }
        }
        var offset = 0
        while offset < count {
            // The last word overlaps the one before.
            let at = Swift.min(offset, count - 8)
            let word = unsafe base.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            guard unsafe word == other.loadUnaligned(fromByteOffset: at, as: UInt64.self) else {
                return false
            }
            offset += 8
        }
        return true
    }

    private static let prime: UInt64 = (1 << 61) - 1
    private static let base = UInt64.random(in: (1 << 56)..<prime)

    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        unsafe bytes.withUnsafeBytes { unsafe hash($0) }
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let base = base
        let count = bytes.count
        // Starts at 1, so that leading zeros count. The length of the rest stands above it, so that
        // leading zeros of the rest count.
        var hash: UInt64 = 1
        var offset = 0
        var rest: UInt64 = 0
        if let address = bytes.baseAddress, count >= 8 {
            while offset + 8 <= count {
                let word = unsafe address.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                hash = step(hash, UInt64(littleEndian: word) & ((1 << 56) - 1), base)
                offset += 7
            }
            let word = unsafe address.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            rest = UInt64(littleEndian: word) >> UInt64(8 * (8 - (count - offset)))
        } else {
            for index in 0..<count { rest = unsafe rest << 8 | UInt64(bytes[index]) }
        }
        hash = step(hash, rest | UInt64(count - offset) << 56, base)
        // Tables use some of the bits, so all bits are mixed into each.
        hash = (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15
        return hash ^ (hash >> 29)
    }

    /// Returns `(hash + digits) * base` modulo the prime, below 2^61 + 4, so that no step between
    /// needs more than 64 bits.
    @inline(__always)
    private static func step(_ hash: UInt64, _ digits: UInt64, _ base: UInt64) -> UInt64 {
        let product = (hash &+ digits).multipliedFullWidth(by: base)
        let folded = (product.low & prime) &+ (product.low >> 61 | product.high << 3)
        return (folded & prime) &+ (folded >> 61)
    }
}

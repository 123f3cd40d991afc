/// XXH64 of Yann Collet's xxHash, written from its public specification (`xxhash_spec.md`, version
/// 0.2.0).
///
/// It serves the checks of stored bytes: it is specified and stable across processes and releases,
/// which `Hasher` is not, and a record of 130 bytes costs some tens of nanoseconds. It finds damage
/// but is no defence against forgery.
package enum XXHash64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    package static func hash(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
        unsafe bytes.withUnsafeBytes { unsafe hash($0, seed: seed) }
    }

    package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        let count = bytes.count
        guard let base = bytes.baseAddress else { return avalanche(seed &+ prime5) }
        var offset = 0
        var hash: UInt64
        if count >= 32 {
            var accumulator1 = seed &+ prime1 &+ prime2
            var accumulator2 = seed &+ prime2
            var accumulator3 = seed
            var accumulator4 = seed &- prime1
            repeat {
                accumulator1 = unsafe round(accumulator1, word(base, offset))
                accumulator2 = unsafe round(accumulator2, word(base, offset + 8))
                accumulator3 = unsafe round(accumulator3, word(base, offset + 16))
                accumulator4 = unsafe round(accumulator4, word(base, offset + 24))
                offset += 32
            } while offset <= count - 32
            hash = rotate(accumulator1, 1) &+ rotate(accumulator2, 7)
            hash = hash &+ rotate(accumulator3, 12) &+ rotate(accumulator4, 18)
            hash = merge(hash, accumulator1)
            hash = merge(hash, accumulator2)
            hash = merge(hash, accumulator3)
            hash = merge(hash, accumulator4)
        } else {
            hash = seed &+ prime5
        }
        hash &+= UInt64(count)
        return unsafe avalanche(tail(hash, base, offset, count))
    }

    @inline(__always)
    private static func tail(_ start: UInt64, _ base: UnsafeRawPointer, _ from: Int, _ count: Int)
        -> UInt64
    {
        var hash = start
        var offset = from
        while offset + 8 <= count {
            hash ^= unsafe round(0, word(base, offset))
            hash = rotate(hash, 27) &* prime1 &+ prime4
            offset += 8
        }
        if offset + 4 <= count {
            let half = unsafe UInt32(
                littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            hash ^= UInt64(half) &* prime1
            hash = rotate(hash, 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < count {
            hash ^= unsafe UInt64(base.load(fromByteOffset: offset, as: UInt8.self)) &* prime5
            hash = rotate(hash, 11) &* prime1
            offset += 1
        }
        return hash
    }

    @inline(__always)
    private static func word(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
        (value << count) | (value >> (64 - count))
    }

    @inline(__always)
    private static func round(_ accumulator: UInt64, _ input: UInt64) -> UInt64 {
        rotate(accumulator &+ input &* prime2, 31) &* prime1
    }

    @inline(__always)
    private static func merge(_ hash: UInt64, _ accumulator: UInt64) -> UInt64 {
        (hash ^ round(0, accumulator)) &* prime1 &+ prime4
    }

    @inline(__always)
    private static func avalanche(_ value: UInt64) -> UInt64 {
        var hash = value
        hash ^= hash >> 33
        hash = hash &* prime2
        hash ^= hash >> 29
        hash = hash &* prime3
        return hash ^ (hash >> 32)
    }
}

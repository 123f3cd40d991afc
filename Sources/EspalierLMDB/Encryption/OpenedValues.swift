import EspalierEncryption
import Synchronization

/// The contents of sealed values that this process has opened or stored.
///
/// Without them, a read of a tree of 600 records would take four times as long.
///
/// A value is found by its entry and its tag. Two different sealed values have the same tag with a
/// probability of 2^-128, so a content that was found is right, whatever other processes write.
///
/// Holds at most 512 values, most of which are containers of records. The number in the key and the
/// keyspace choose the slot. A new value replaces the one in its slot.
final class OpenedValues: Sendable {
    /// What identifies a sealed value: its entry and its tag.
    struct Seal: Equatable {
        let number: UInt64
        let keyspace: UInt8
        let tag: (UInt64, UInt64)

        /// Returns `nil` for values that are not kept: long ones, and those whose key is not a
        /// number.
        init?(_ stored: UnsafeRawBufferPointer, _ keyspace: UInt8, _ key: RawSpan) {
            let count = stored.count
            guard key.byteCount == 8, (Sealer.overhead...OpenedValues.longest).contains(count)
            else { return nil }
            number = unsafe UInt64(bigEndian: key.unsafeLoadUnaligned(as: UInt64.self))
            self.keyspace = keyspace
            tag = unsafe (
                stored.loadUnaligned(fromByteOffset: count - 16, as: UInt64.self),
                stored.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            )
        }

        static func == (a: Seal, b: Seal) -> Bool {
            a.number == b.number && a.keyspace == b.keyspace && a.tag == b.tag
        }
    }

    private static let count = 512
    private static let longest = 4_096 + Sealer.overhead

    // protected by itself
    /// Empty until the first insertion.
    private let slots = Mutex<[(seal: Seal, value: [UInt8])?]>([])

    func value(_ seal: Seal) -> [UInt8]? {
        slots.withLock { slots in
            guard !slots.isEmpty, let slot = slots[Self.index(of: seal)], slot.seal == seal else {
                return nil
            }
            return slot.value
        }
    }

    func insert(_ value: [UInt8], _ seal: Seal) {
        slots.withLock { slots in
            if slots.isEmpty { slots = Array(repeating: nil, count: Self.count) }
            slots[Self.index(of: seal)] = (seal, value)
        }
    }

    /// Keeps a value that is about to be stored: values are often read after they were written.
    func insert(_ value: RawSpan, sealedAs sealed: RawSpan, _ keyspace: UInt8, _ key: RawSpan) {
        let seal = unsafe sealed.withUnsafeBytes { unsafe Seal($0, keyspace, key) }
        guard let seal else { return }
        insert(unsafe value.withUnsafeBytes { unsafe [UInt8]($0) }, seal)
    }

    private static func index(of seal: Seal) -> Int {
        // The keys of containers and groups are far apart. Tables have the same numbers.
        let mixed = (seal.number &+ UInt64(seal.keyspace) << 56) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 32) & (count - 1)
    }
}

import EspalierConfinement

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The addresses of values in one keyspace, by key, as earlier reads have found them. The next read
/// of the same commit needs no search.
///
/// The pages of a commit stay in place while it is the last one or a reader sees it. The map does
/// not move while a pooled transaction lives, and the cache belongs to one. So an address that was
/// found in a snapshot is valid in every later snapshot of the same number.
///
/// Confined to the thread that the transaction runs on. Cost: 256 KiB of address space, of which
/// the system provides the pages that are used.
@safe
final class RecordAddressCache {
    private struct Slot {
        /// The number of the commit in the upper 24 bits, the key in the lower 40.
        var tag: UInt64
        /// The length in the upper 16 bits, the address in the lower 48.
        var location: UInt64
    }

    private static let count = 1 << 14
    private static let keyBits: UInt64 = 40
    private static let addressBits: UInt64 = 48

    // immutable
    /// The keyspace of all values.
    let keyspace: UInt32
    /// `count` initialised slots. Only this object has the pointer, and `deinit` frees it.
    private let slots: UnsafeMutablePointer<Slot>

    // confined to the thread of the transaction
    /// The upper bits of the commit's number, for which tags have no room.
    private let numberPrefix = Confined<UInt64>(0)

    /// Returns `nil` if there is no memory.
    init?(_ keyspace: UInt32) {
        self.keyspace = keyspace
        guard let memory = unsafe calloc(Self.count, MemoryLayout<Slot>.stride) else { return nil }
        unsafe slots = memory.bindMemory(to: Slot.self, capacity: Self.count)
    }

    deinit { unsafe free(slots) }

    func transferToCurrentThread() { numberPrefix.transferToCurrentThread() }

    /// Returns the part of the tags that stands for a commit. Clears the cache if the number of the
    /// commit does not fit the tags of earlier ones.
    func tagPrefix(of number: UInt64) -> UInt64 {
        let prefix = number >> (64 - Self.keyBits)
        if numberPrefix.value != prefix {
            numberPrefix.value = prefix
            unsafe slots.update(repeating: Slot(tag: 0, location: 0), count: Self.count)
        }
        return number << Self.keyBits
    }

    @inline(__always)
    func value(of key: UInt64, _ tagPrefix: UInt64) -> UnsafeRawBufferPointer? {
        let slot = unsafe slots[Self.index(of: key)]
        guard slot.tag == tagPrefix | key, slot.tag != 0, key >> Self.keyBits == 0 else {
            return nil
        }
        let address = UInt(truncatingIfNeeded: slot.location & (1 << Self.addressBits - 1))
        return unsafe UnsafeRawBufferPointer(
            start: UnsafeRawPointer(bitPattern: address),
            count: Int(slot.location >> Self.addressBits))
    }

    /// Stores the address of a value, unless key, address or length exceed the bits of a slot.
    @inline(__always)
    func insert(_ key: UInt64, _ tagPrefix: UInt64, _ value: UnsafeRawBufferPointer) {
        let address = UInt64(UInt(bitPattern: value.baseAddress))
        guard key >> Self.keyBits == 0, address >> Self.addressBits == 0, value.count >> 16 == 0
        else { return }
        unsafe slots[Self.index(of: key)] = Slot(
            tag: tagPrefix | key, location: UInt64(value.count) << Self.addressBits | address)
    }

    @inline(__always)
    private static func index(of key: UInt64) -> Int { Int(truncatingIfNeeded: key) & (count - 1) }
}

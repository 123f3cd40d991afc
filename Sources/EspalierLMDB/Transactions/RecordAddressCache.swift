import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where the values of a keyspace stand in one snapshot, by key, as far as reads have found them:
/// the next read of the same commit goes there without looking for them.
///
/// A page of a commit stays as it is, and where it is, while that is the last one or somebody reads
/// it; the map does not move while a pooled transaction lives, which this one belongs to. So what
/// was found in a snapshot is there in every later one of the same number.
///
/// Confined to the thread that the transaction runs on. Cost: 256 KiB, of which the system gives
/// what is used.
@safe
final class RecordAddressCache: @unchecked Sendable {
    private struct Slot {
        /// The number of the commit in the upper bits, the key in the lower ones.
        var tag: UInt64
        /// The length in the upper bits, the address in the lower ones.
        var place: UInt64
    }

    private static let count = 1 << 14
    private static let keyBits: UInt64 = 40
    private static let addressBits: UInt64 = 48

    // Sound, because nobody else has the pointer: allocated and cleared by `init`, freed by
    // `deinit`, all of it initialised.
    private let slots: UnsafeMutablePointer<Slot>
    /// The only keyspace it is of: the first one that was asked for.
    private let keyspace: UInt32
    /// The bits of the commit's number that tags have no room for. An atomic only because that
    /// spares the exclusivity checks of a `var`.
    private let era = Atomic<UInt64>(0)

    /// Nil where there is no memory for it.
    init?(_ keyspace: UInt32) {
        self.keyspace = keyspace
        guard let memory = unsafe calloc(Self.count, MemoryLayout<Slot>.stride) else { return nil }
        unsafe slots = memory.bindMemory(to: Slot.self, capacity: Self.count)
    }

    deinit { unsafe free(slots) }

    func isOf(_ keyspace: UInt32) -> Bool { self.keyspace == keyspace }

    /// What the tags of a commit begin with.
    func mark(of number: UInt64) -> UInt64 {
        let era = number >> (64 - Self.keyBits)
        if self.era.exchange(era, ordering: .relaxed) != era {
            unsafe slots.update(repeating: Slot(tag: 0, place: 0), count: Self.count)
        }
        return number << Self.keyBits
    }

    @inline(__always)
    func value(of key: UInt64, _ mark: UInt64) -> UnsafeRawBufferPointer? {
        let slot = unsafe slots[Self.index(of: key)]
        guard slot.tag == mark | key, slot.tag != 0, key >> Self.keyBits == 0 else { return nil }
        let address = UInt(truncatingIfNeeded: slot.place & (1 << Self.addressBits - 1))
        return unsafe UnsafeRawBufferPointer(
            start: UnsafeRawPointer(bitPattern: address), count: Int(slot.place >> Self.addressBits)
        )
    }

    @inline(__always)
    func note(_ key: UInt64, _ mark: UInt64, _ value: UnsafeRawBufferPointer) {
        let address = UInt64(UInt(bitPattern: value.baseAddress))
        guard key >> Self.keyBits == 0, address >> Self.addressBits == 0, value.count >> 16 == 0
        else { return }
        unsafe slots[Self.index(of: key)] = Slot(
            tag: mark | key, place: UInt64(value.count) << Self.addressBits | address)
    }

    @inline(__always)
    private static func index(of key: UInt64) -> Int { Int(truncatingIfNeeded: key) & (count - 1) }
}

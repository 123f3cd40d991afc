/// The handles met, with the type each was met as first, by open addressing: the test for a
/// repeated node costs a multiplication and a probe.
struct HandleSet {
    enum Insertion { case new, known, knownAsOther }

    private struct Slot {
        // Zero is no handle, so it marks an empty slot.
        var handle: UInt64 = 0
        // An `ObjectIdentifier`'s bits: an optional one would be half as large again.
        var type: UInt = 0
    }

    private var slots: [Slot] = []
    private var count = 0
    // Most reads meet few records: those are compared one by one, without a table.
    private static let listed = 8

    mutating func insert(_ handle: Handle, _ type: ObjectIdentifier) -> Insertion {
        let new = Slot(handle: handle.rawValue, type: UInt(bitPattern: type))
        if count < Self.listed, slots.count <= Self.listed {
            if slots.isEmpty { slots.reserveCapacity(Self.listed) }
            for slot in slots where slot.handle == new.handle {
                return slot.type == new.type ? .known : .knownAsOther
            }
            slots.append(new)
            count += 1
            return .new
        }
        if slots.count <= Self.listed || count * 4 >= slots.count * 3 { grow() }
        return place(new)
    }

    private mutating func place(_ new: Slot) -> Insertion {
        let mask = slots.count - 1
        var index = Int(truncatingIfNeeded: (new.handle &* 0x9E37_79B9_7F4A_7C15) >> 20) & mask
        while slots[index].handle != 0 {
            if slots[index].handle == new.handle {
                return slots[index].type == new.type ? .known : .knownAsOther
            }
            index = (index + 1) & mask
        }
        slots[index] = new
        count += 1
        return .new
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(), count: max(64, old.count * 4))
        count = 0
        for slot in old where slot.handle != 0 { _ = place(slot) }
    }
}

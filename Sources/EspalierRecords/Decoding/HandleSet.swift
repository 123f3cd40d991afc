/// The handles met, with the type each was met as first, by open addressing: the test for a repeated node costs a
/// multiplication and a probe.
struct HandleSet {
    enum Insertion { case new, known, knownAsOther }

    private struct Slot {
        // Zero is no handle, so it marks an empty slot.
        var handle: UInt64 = 0
        var type: ObjectIdentifier?
    }

    private var slots: [Slot] = []
    private var count = 0
    // Most reads meet few records: those are compared one by one, without a table.
    private static let listed = 8

    mutating func insert(_ handle: Handle, _ type: ObjectIdentifier) -> Insertion {
        if count < Self.listed, slots.count <= Self.listed {
            if let slot = slots.first(where: { $0.handle == handle.rawValue }) {
                return slot.type == type ? .known : .knownAsOther
            }
            slots.append(Slot(handle: handle.rawValue, type: type))
            count += 1
            return .new
        }
        if slots.count <= Self.listed || count * 2 >= slots.count { grow() }
        return place(Slot(handle: handle.rawValue, type: type))
    }

    private mutating func place(_ new: Slot) -> Insertion {
        let mask = slots.count - 1
        var index = Int(truncatingIfNeeded: (new.handle &* 0x9E37_79B9_7F4A_7C15) >> 20) & mask
        while slots[index].handle != 0 {
            if slots[index].handle == new.handle { return slots[index].type == new.type ? .known : .knownAsOther }
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

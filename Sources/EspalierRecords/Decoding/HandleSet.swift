/// A set of handles by open addressing: the test for a repeated node costs a multiplication and a probe.
struct HandleSet {
    // Zero is no handle, so it marks an empty slot.
    private var slots: [UInt64] = []
    private var count = 0
    // Most reads meet few records: those are compared one by one, without a table.
    private static let listed = 8

    /// Whether `handle` was there already.
    mutating func insert(_ handle: Handle) -> Bool {
        if count < Self.listed, slots.count <= Self.listed {
            if slots.contains(handle.rawValue) { return true }
            slots.append(handle.rawValue)
            count += 1
            return false
        }
        if slots.count <= Self.listed || count * 2 >= slots.count { grow() }
        return place(handle.rawValue)
    }

    private mutating func place(_ value: UInt64) -> Bool {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: (value &* 0x9E37_79B9_7F4A_7C15) >> 20) & mask
        while slots[slot] != 0 {
            if slots[slot] == value { return true }
            slot = (slot + 1) & mask
        }
        slots[slot] = value
        count += 1
        return false
    }

    private mutating func grow() {
        let old = slots
        slots = [UInt64](repeating: 0, count: max(64, old.count * 4))
        count = 0
        for value in old where value != 0 { _ = place(value) }
    }
}

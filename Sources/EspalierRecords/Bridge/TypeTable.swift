/// What was found out about types, by open addressing: a look-up costs a multiplication and a probe, where `Dictionary`'s
/// keyed hash costs 20 ns, which every reference and every date of a tree would pay.
struct TypeTable<Value: AnyObject> {
    private var entries: [(type: ObjectIdentifier, value: Value)?] = Array(repeating: nil, count: 16)
    private var count = 0

    @inline(__always)
    subscript(type: ObjectIdentifier) -> Value? {
        var slot = place(of: type)
        while let entry = entries[slot] {
            if entry.type == type { return entry.value }
            slot = (slot + 1) & (entries.count - 1)
        }
        return nil
    }

    mutating func insert(_ value: Value, for type: ObjectIdentifier) {
        if count * 2 >= entries.count { grow() }
        var slot = place(of: type)
        while entries[slot] != nil { slot = (slot + 1) & (entries.count - 1) }
        entries[slot] = (type, value)
        count += 1
    }

    private mutating func grow() {
        let old = entries
        entries = Array(repeating: nil, count: old.count * 2)
        count = 0
        for case let entry? in old { insert(entry.value, for: entry.type) }
    }

    @inline(__always)
    private func place(of type: ObjectIdentifier) -> Int {
        // Metadata is aligned to 8 bytes and more: the low bits say nothing.
        let bits = UInt64(UInt(bitPattern: type)) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: bits >> 40) & (entries.count - 1)
    }
}

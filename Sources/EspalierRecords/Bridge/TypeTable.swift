/// What was found out about types, by open addressing: a look-up costs a multiplication and a
/// probe, where `Dictionary`'s keyed hash costs 20 ns, which every reference and every date of a
/// tree would pay.
struct TypeTable<Value: AnyObject> {
    // Apart from the values: comparing takes no references.
    private var types: [ObjectIdentifier?] = Array(repeating: nil, count: 16)
    private var values: [Value?] = Array(repeating: nil, count: 16)
    private var count = 0

    @inline(__always)
    subscript(type: ObjectIdentifier) -> Value? {
        var slot = place(of: type)
        while let candidate = types[slot] {
            if candidate == type { return values[slot] }
            slot = (slot + 1) & (types.count - 1)
        }
        return nil
    }

    mutating func insert(_ value: Value, for type: ObjectIdentifier) {
        if count * 2 >= types.count { grow() }
        var slot = place(of: type)
        while types[slot] != nil { slot = (slot + 1) & (types.count - 1) }
        types[slot] = type
        values[slot] = value
        count += 1
    }

    private mutating func grow() {
        let old = zip(types, values)
        types = Array(repeating: nil, count: types.count * 2)
        values = Array(repeating: nil, count: types.count)
        count = 0
        for case let (type?, value?) in old { insert(value, for: type) }
    }

    @inline(__always)
    private func place(of type: ObjectIdentifier) -> Int {
        // Metadata is aligned to 8 bytes and more: the low bits say nothing.
        let bits = UInt64(UInt(bitPattern: type)) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: bits >> 40) & (types.count - 1)
    }
}

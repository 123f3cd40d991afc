/// Values one after the other, as code writes them that knows what comes next: UTF-8 behind its
/// length, integers of varying length, doubles of eight bytes. Nothing says what is what.
struct HandWriter: ~Copyable {
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 4_096) {
        self.capacity = capacity
        memory = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { memory.deallocate() }

    /// What was written since `clear`, until the next is: of a writer that is kept, which lives on
    /// while they are used.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

    /// What was written, by a writer that need not live on.
    borrowing func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
        -> Result
    {
        try body(bytes)
    }

    mutating func clear() { count = 0 }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        larger.copyMemory(from: memory, byteCount: count)
        memory.deallocate()
        memory = larger
    }

    mutating func varint(_ value: UInt64) {
        reserve(10)
        var rest = value
        while rest >= 0x80 {
            memory.storeBytes(
                of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
            count += 1
            rest >>= 7
        }
        memory.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
        count += 1
    }

    mutating func integer(_ value: Int) {
        varint(UInt64(bitPattern: Int64(value << 1 ^ value >> 63)))
    }

    mutating func fixed(_ value: UInt64) {
        reserve(8)
        memory.storeBytes(of: value, toByteOffset: count, as: UInt64.self)
        count += 8
    }

    mutating func double(_ value: Double) { fixed(value.bitPattern) }

    mutating func bool(_ value: Bool) { varint(value ? 1 : 0) }

    mutating func string(_ value: String) {
        varint(UInt64(value.utf8.count))
        unprefixed(value)
    }

    /// Without its length: keys are as long as they are.
    mutating func unprefixed(_ value: String) {
        reserve(value.utf8.count)
        var value = value
        value.withUTF8 { utf8 in
            guard let start = utf8.baseAddress else { return }
            (memory + count).copyMemory(from: start, byteCount: utf8.count)
            count += utf8.count
        }
    }
}

/// Takes what `HandWriter` wrote, without looking where it ends.
struct HandReader {
    private var next: UnsafeRawPointer

    init(_ start: UnsafeRawPointer) { next = start }

    mutating func varint() -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = next.load(as: UInt8.self)
            next += 1
            result |= UInt64(byte & 0x7F) &<< shift
            if byte < 0x80 { return result }
            shift += 7
        }
    }

    mutating func count() -> Int { Int(truncatingIfNeeded: varint()) }

    mutating func integer() -> Int {
        let raw = varint()
        return Int(truncatingIfNeeded: raw >> 1) ^ -Int(truncatingIfNeeded: raw & 1)
    }

    mutating func fixed() -> UInt64 {
        defer { next += 8 }
        return next.loadUnaligned(as: UInt64.self)
    }

    mutating func double() -> Double { Double(bitPattern: fixed()) }

    mutating func bool() -> Bool { varint() != 0 }

    mutating func slice() -> UnsafeRawBufferPointer {
        let length = count()
        defer { next += length }
        return UnsafeRawBufferPointer(start: next, count: length)
    }

    mutating func string() -> String { String(decoding: slice(), as: UTF8.self) }
}

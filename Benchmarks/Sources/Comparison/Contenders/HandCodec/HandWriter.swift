/// Writes values one after the other, for code that knows their order: UTF-8 behind its length,
/// integers of varying length, doubles of eight bytes. Values have no tags.
struct HandWriter: ~Copyable {
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 4_096) {
        self.capacity = capacity
        memory = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { memory.deallocate() }

    /// The bytes since `clear`, valid until the next write, of a writer that is kept alive while
    /// they are used.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

    /// Passes the bytes to `body`, for a writer that need not outlive the call.
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

    /// Writes a string without its length, as the end of a key.
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

/// Reads the values of a `HandWriter`, and does not check where they end.
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

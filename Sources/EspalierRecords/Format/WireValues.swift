// How values are read and written: MessagePack, in its shortest forms.

/// Each method moves past the value that it returns. It returns nil, with the position unchanged,
/// for a value of another kind; it throws, with the position anywhere, for bytes that break the
/// format. No method reads past the end.
extension ByteReader {
    /// Returns the kind of value that starts with `tag`; nil for a byte that starts no value.
    package static func kind(of tag: UInt8, extension type: UInt8?) -> ValueKind? {
        switch tag {
        case 0x00...0x7F, Wire.negativeFixint...0xFF, Wire.uint8...Wire.int64: .integer
        case 0x80...0x8F, Wire.map16, Wire.map32: .map
        case 0x90...0x9F, Wire.array16, Wire.array32: .array
        case 0xA0...0xBF, Wire.str8...Wire.str32: .string
        case Wire.null: .null
        case Wire.absent: .absent
        case Wire.no, Wire.yes: .bool
        case Wire.bin8...Wire.bin32: .bytes
        case Wire.float32, Wire.float64: .float
        default:
            switch type {
            case Wire.Extension.child: .child
            case Wire.Extension.decimal: .decimal
            case Wire.Extension.int128, Wire.Extension.uint128: .wideInteger
            default: nil
            }
        }
    }

    package func kind() throws(FormatError) -> ValueKind {
        var ahead = self
        let tag = try ahead.byte()
        var type: UInt8?
        if (Wire.ext8...Wire.ext32).contains(tag) || (Wire.fixext1...Wire.fixext16).contains(tag) {
            _ = try ahead.extensionLength(tag)
            type = try ahead.byte()
        }
        guard let kind = Self.kind(of: tag, extension: type) else {
            throw .malformed("an unknown kind of value")
        }
        return kind
    }

    private mutating func extensionLength(_ tag: UInt8) throws(FormatError) -> Int {
        switch tag {
        case Wire.fixext1: 1
        case Wire.fixext2: 2
        case Wire.fixext4: 4
        case Wire.fixext8: 8
        case Wire.fixext16: 16
        case Wire.ext8: Int(try byte())
        case Wire.ext16: Int(try integer(UInt16.self))
        case Wire.ext32: Int(try integer(UInt32.self))
        default: throw .malformed("an unknown kind of value")
        }
    }

    @inline(__always)
    private mutating func lengthBehindTag<I: FixedWidthInteger & BitwiseCopyable>(
        _ type: I.Type
    ) throws(FormatError) -> Int {
        position += 1
        return Int(try integer(type))
    }

    /// Moves past nil; false when the value is of another kind.
    @inline(__always)
    package mutating func readNull() throws(FormatError) -> Bool {
        guard try peek() == Wire.null else { return false }
        position += 1
        return true
    }

    package mutating func readBool() throws(FormatError) -> Bool? {
        switch try peek() {
        case Wire.no:
            position += 1
            return false
        case Wire.yes:
            position += 1
            return true
        default: return nil
        }
    }

    /// Reads an integer of any width. Returns nil also for an integer that does not fit `I`.
    @inline(__always)
    package mutating func readInteger<I: FixedWidthInteger>(_ type: I.Type = I.self)
        throws(FormatError) -> I?
    {
        let tag = try peek()
        if tag < 0x80 {
            position += 1
            return I(truncatingIfNeeded: tag)
        }
        return try readLongInteger()
    }

    private mutating func readLongInteger<I: FixedWidthInteger>() throws(FormatError) -> I? {
        let start = position
        let value: I?
        switch try byte() {
        case let tag where tag >= Wire.negativeFixint: value = I(exactly: Int8(bitPattern: tag))
        case Wire.uint8: value = I(exactly: try integer(UInt8.self))
        case Wire.uint16: value = I(exactly: try integer(UInt16.self))
        case Wire.uint32: value = I(exactly: try integer(UInt32.self))
        case Wire.uint64: value = I(exactly: try integer(UInt64.self))
        case Wire.int8: value = I(exactly: try integer(Int8.self))
        case Wire.int16: value = I(exactly: try integer(Int16.self))
        case Wire.int32: value = I(exactly: try integer(Int32.self))
        case Wire.int64: value = I(exactly: try integer(Int64.self))
        case Wire.fixext16:
            position = start
            value = try readWideInteger()
        default: value = nil
        }
        if value == nil { position = start }
        return value
    }

    private mutating func readWideInteger<I: FixedWidthInteger>() throws(FormatError) -> I? {
        guard let wide = try readWide() else { return nil }
        if wide.signed {
            return I(exactly: Int128(Int64(bitPattern: wide.high)) << 64 | Int128(wide.low))
        }
        return I(exactly: UInt128(wide.high) << 64 | UInt128(wide.low))
    }

    /// Reads a 128-bit integer as its two's complement.
    package mutating func readWide() throws(FormatError) -> (
        high: UInt64, low: UInt64, signed: Bool
    )? {
        let start = position
        guard try byte() == Wire.fixext16 else {
            position = start
            return nil
        }
        let type = try byte()
        guard type == Wire.Extension.int128 || type == Wire.Extension.uint128 else {
            position = start
            return nil
        }
        return (try integer(UInt64.self), try integer(UInt64.self), type == Wire.Extension.int128)
    }

    package mutating func readFloat() throws(FormatError) -> Float? {
        guard try peek() == Wire.float32 else { return nil }
        position += 1
        return Float(bitPattern: try integer(UInt32.self))
    }

    package mutating func readDouble() throws(FormatError) -> Double? {
        guard try peek() == Wire.float64 else { return nil }
        position += 1
        return Double(bitPattern: try integer(UInt64.self))
    }

    @inline(__always)
    package mutating func readString() throws(FormatError) -> String? {
        let tag = try peek()
        if tag & 0xE0 == Wire.fixstr {
            position += 1
            return try string(count: Int(tag & 0x1F))
        }
        guard let count = try readStringLength() else { return nil }
        return try string(count: count)
    }

    /// Moves past text; false when the value is of another kind.
    @inline(__always)
    package mutating func skipString() throws(FormatError) -> Bool {
        let tag = try peek()
        if tag & 0xE0 == Wire.fixstr {
            try skip(1 + Int(tag & 0x1F))
            return true
        }
        guard let count = try readStringLength() else { return false }
        try skip(count)
        return true
    }

    /// Reads the length of text and stops before its bytes.
    package mutating func readStringLength() throws(FormatError) -> Int? {
        let tag = try peek()
        switch tag {
        case 0xA0...0xBF:
            position += 1
            return Int(tag & 0x1F)
        case Wire.str8: return try lengthBehindTag(UInt8.self)
        case Wire.str16: return try lengthBehindTag(UInt16.self)
        case Wire.str32: return try lengthBehindTag(UInt32.self)
        default: return nil
        }
    }

    package mutating func readBytes() throws(FormatError) -> [UInt8]? {
        let count: Int
        switch try peek() {
        case Wire.bin8: count = try lengthBehindTag(UInt8.self)
        case Wire.bin16: count = try lengthBehindTag(UInt16.self)
        case Wire.bin32: count = try lengthBehindTag(UInt32.self)
        default: return nil
        }
        return try bytes(count: count)
    }

    /// Reads the number of elements of an array and stops before the first. Throws if the bytes
    /// left have no room for so many.
    package mutating func readArrayCount() throws(FormatError) -> Int? {
        let count: Int
        let tag = try peek()
        switch tag {
        case 0x90...0x9F:
            position += 1
            count = Int(tag & 0x0F)
        case Wire.array16: count = try lengthBehindTag(UInt16.self)
        case Wire.array32: count = try lengthBehindTag(UInt32.self)
        default: return nil
        }
        guard count <= remaining else { throw .truncated }
        return count
    }

    /// Reads the number of entries of a map and stops before the first. Throws if the bytes left
    /// have no room for so many.
    package mutating func readMapCount() throws(FormatError) -> Int? {
        let count: Int
        let tag = try peek()
        switch tag {
        case 0x80...0x8F:
            position += 1
            count = Int(tag & 0x0F)
        case Wire.map16: count = try lengthBehindTag(UInt16.self)
        case Wire.map32: count = try lengthBehindTag(UInt32.self)
        default: return nil
        }
        guard count <= remaining / 2 else { throw .truncated }
        return count
    }

    /// Reads a reference: a child's ordinal.
    @inline(__always)
    package mutating func readChild() throws(FormatError) -> Int? {
        let start = position
        let ordinal: Int
        switch try byte() {
        case Wire.fixext1 where try peek() == Wire.Extension.child:
            position += 1
            ordinal = Int(try byte())
        case Wire.fixext2 where try peek() == Wire.Extension.child:
            position += 1
            ordinal = Int(try integer(UInt16.self))
        case Wire.fixext4 where try peek() == Wire.Extension.child:
            position += 1
            ordinal = Int(try integer(UInt32.self))
        default:
            position = start
            return nil
        }
        return ordinal
    }

    package mutating func readDecimal() throws(FormatError) -> String? {
        guard try kind() == .decimal else { return nil }
        let count = try extensionLength(try byte())
        try skip(1)
        return try string(count: count)
    }

    /// Moves past a scalar, or past the head of a container and so to its first value.
    package mutating func skipHead() throws(FormatError) {
        if try readArrayCount() != nil { return }
        if try readMapCount() != nil { return }
        try skipValue()
    }

    /// Moves past one value, however deep, without recursion.
    package mutating func skipValue() throws(FormatError) {
        var pending = 1
        while pending > 0 {
            pending -= 1
            let tag = try peek()
            switch tag {
            case 0x00...0x7F, Wire.negativeFixint...0xFF, Wire.null, Wire.absent, Wire.no, Wire.yes:
                position += 1
            case 0xA0...0xBF: try skip(1 + Int(tag & 0x1F))
            case 0x80...0x8F, Wire.map16, Wire.map32: pending += 2 * (try readMapCount() ?? 0)
            case 0x90...0x9F, Wire.array16, Wire.array32: pending += try readArrayCount() ?? 0
            case Wire.str8...Wire.str32: try skip(try readStringLength() ?? 0)
            default: try skipScalar(tag)
            }
        }
    }

    private mutating func skipScalar(_ tag: UInt8) throws(FormatError) {
        position += 1
        switch tag {
        case Wire.uint8, Wire.int8: try skip(1)
        case Wire.uint16, Wire.int16: try skip(2)
        case Wire.float32, Wire.uint32, Wire.int32: try skip(4)
        case Wire.float64, Wire.uint64, Wire.int64: try skip(8)
        case Wire.bin8: try skip(Int(try byte()))
        case Wire.bin16: try skip(Int(try integer(UInt16.self)))
        case Wire.bin32: try skip(Int(try integer(UInt32.self)))
        default: try skip(1 + extensionLength(tag))
        }
    }
}

/// Each method writes a value in its shortest form, so that equal values are equal bytes.
extension ByteWriter {
    @inline(__always)
    package mutating func append(null: Void = ()) { append(Wire.null) }

    @inline(__always)
    package mutating func append(value: Bool) { append(value ? Wire.yes : Wire.no) }

    package mutating func append(value: Int64) {
        if value >= 0 { return append(value: UInt64(value)) }
        switch value {
        case -32...(-1): append(UInt8(bitPattern: Int8(value)))
        case Int64(Int8.min)...: append(head: Wire.int8, integer: Int8(value))
        case Int64(Int16.min)...: append(head: Wire.int16, integer: Int16(value))
        case Int64(Int32.min)...: append(head: Wire.int32, integer: Int32(value))
        default: append(head: Wire.int64, integer: value)
        }
    }

    package mutating func append(value: UInt64) {
        switch value {
        case 0...0x7F: append(UInt8(value))
        case ...0xFF: append(head: Wire.uint8, integer: UInt8(value))
        case ...0xFFFF: append(head: Wire.uint16, integer: UInt16(value))
        case ...0xFFFF_FFFF: append(head: Wire.uint32, integer: UInt32(value))
        default: append(head: Wire.uint64, integer: value)
        }
    }

    package mutating func append(value: Float) {
        append(head: Wire.float32, integer: value.bitPattern)
    }

    package mutating func append(value: Double) {
        append(head: Wire.float64, integer: value.bitPattern)
    }

    package mutating func append(value: String) {
        let count = value.utf8.count
        switch count {
        case ...31: append(Wire.fixstr | UInt8(count))
        case ...0xFF: append(head: Wire.str8, integer: UInt8(count))
        case ...0xFFFF: append(head: Wire.str16, integer: UInt16(count))
        default: append(head: Wire.str32, integer: UInt32(count))
        }
        append(utf8: value)
    }

    package mutating func append(value: [UInt8]) {
        switch value.count {
        case ...0xFF: append(head: Wire.bin8, integer: UInt8(value.count))
        case ...0xFFFF: append(head: Wire.bin16, integer: UInt16(value.count))
        default: append(head: Wire.bin32, integer: UInt32(value.count))
        }
        append(value)
    }

    package mutating func append(arrayOf count: Int) {
        switch count {
        case ...15: append(Wire.fixarray | UInt8(count))
        case ...0xFFFF: append(head: Wire.array16, integer: UInt16(count))
        default: append(head: Wire.array32, integer: UInt32(count))
        }
    }

    package mutating func append(mapOf count: Int) {
        switch count {
        case ...15: append(Wire.fixmap | UInt8(count))
        case ...0xFFFF: append(head: Wire.map16, integer: UInt16(count))
        default: append(head: Wire.map32, integer: UInt32(count))
        }
    }

    package mutating func append(child ordinal: Int) {
        switch ordinal {
        case ...0xFF:
            append(Wire.fixext1)
            append(Wire.Extension.child)
            append(UInt8(ordinal))
        case ...0xFFFF:
            append(Wire.fixext2)
            append(Wire.Extension.child)
            append(integer: UInt16(ordinal))
        default:
            append(Wire.fixext4)
            append(Wire.Extension.child)
            append(integer: UInt32(ordinal))
        }
    }

    package mutating func append(decimal digits: String) {
        let count = digits.utf8.count
        if count <= 0xFF {
            append(Wire.ext8)
            append(UInt8(count))
        } else {
            append(head: Wire.ext32, integer: UInt32(count))
        }
        append(Wire.Extension.decimal)
        append(utf8: digits)
    }

    package mutating func append(wide high: UInt64, _ low: UInt64, signed: Bool) {
        append(Wire.fixext16)
        append(signed ? Wire.Extension.int128 : Wire.Extension.uint128)
        append(integer: high)
        append(integer: low)
    }
}

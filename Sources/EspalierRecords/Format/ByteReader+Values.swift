/// Reads values. Each function moves past the value it returns, or throws and leaves the position
/// where it was found broken; nothing reads past the end.
extension ByteReader {
    /// What the value at the position is; nil for a byte that starts no value.
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

    /// Nil when the value is of another kind; the position is then unchanged.
    @inline(__always)
    package mutating func takeNull() throws(FormatError) -> Bool {
        guard try peek() == Wire.null else { return false }
        position += 1
        return true
    }

    package mutating func takeBool() throws(FormatError) -> Bool? {
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

    /// An integer of any kind that fits `I`; nil when the value is of another kind or does not fit.
    @inline(__always)
    package mutating func takeInteger<I: FixedWidthInteger>(_ type: I.Type = I.self)
        throws(FormatError) -> I?
    {
        let tag = try peek()
        if tag < 0x80 {
            position += 1
            return I(truncatingIfNeeded: tag)
        }
        return try takeLongInteger()
    }

    private mutating func takeLongInteger<I: FixedWidthInteger>() throws(FormatError) -> I? {
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
            value = try takeWideInteger()
        default: value = nil
        }
        if value == nil { position = start }
        return value
    }

    private mutating func takeWideInteger<I: FixedWidthInteger>() throws(FormatError) -> I? {
        guard let wide = try takeWide() else { return nil }
        if wide.signed {
            return I(exactly: Int128(Int64(bitPattern: wide.high)) << 64 | Int128(wide.low))
        }
        return I(exactly: UInt128(wide.high) << 64 | UInt128(wide.low))
    }

    /// A 128-bit integer as its two's complement.
    package mutating func takeWide() throws(FormatError) -> (
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

    package mutating func takeFloat() throws(FormatError) -> Float? {
        guard try peek() == Wire.float32 else { return nil }
        position += 1
        return Float(bitPattern: try integer(UInt32.self))
    }

    package mutating func takeDouble() throws(FormatError) -> Double? {
        guard try peek() == Wire.float64 else { return nil }
        position += 1
        return Double(bitPattern: try integer(UInt64.self))
    }

    @inline(__always)
    package mutating func takeString() throws(FormatError) -> String? {
        let tag = try peek()
        if tag & 0xE0 == Wire.fixstr {
            position += 1
            return try string(count: Int(tag & 0x1F))
        }
        guard let count = try takeStringLength() else { return nil }
        return try string(count: count)
    }

    /// Moves past a string; false when the value is of another kind.
    @inline(__always)
    package mutating func skipString() throws(FormatError) -> Bool {
        let tag = try peek()
        if tag & 0xE0 == Wire.fixstr {
            try skip(1 + Int(tag & 0x1F))
            return true
        }
        guard let count = try takeStringLength() else { return false }
        try skip(count)
        return true
    }

    /// The length of a string, standing before its bytes afterwards.
    package mutating func takeStringLength() throws(FormatError) -> Int? {
        let tag = try peek()
        switch tag {
        case 0xA0...0xBF:
            position += 1
            return Int(tag & 0x1F)
        case Wire.str8:
            position += 1
            return Int(try byte())
        case Wire.str16:
            position += 1
            return Int(try integer(UInt16.self))
        case Wire.str32:
            position += 1
            return Int(try integer(UInt32.self))
        default: return nil
        }
    }

    package mutating func takeBytes() throws(FormatError) -> [UInt8]? {
        let count: Int
        switch try peek() {
        case Wire.bin8:
            position += 1
            count = Int(try byte())
        case Wire.bin16:
            position += 1
            count = Int(try integer(UInt16.self))
        case Wire.bin32:
            position += 1
            count = Int(try integer(UInt32.self))
        default: return nil
        }
        return try bytes(count: count)
    }

    /// The number of elements of an array; never more than could stand in what is left.
    package mutating func takeArrayCount() throws(FormatError) -> Int? {
        let count: Int
        let tag = try peek()
        switch tag {
        case 0x90...0x9F:
            position += 1
            count = Int(tag & 0x0F)
        case Wire.array16:
            position += 1
            count = Int(try integer(UInt16.self))
        case Wire.array32:
            position += 1
            count = Int(try integer(UInt32.self))
        default: return nil
        }
        guard count <= remaining else { throw .truncated }
        return count
    }

    /// The number of entries of a map; never more than could stand in what is left.
    package mutating func takeMapCount() throws(FormatError) -> Int? {
        let count: Int
        let tag = try peek()
        switch tag {
        case 0x80...0x8F:
            position += 1
            count = Int(tag & 0x0F)
        case Wire.map16:
            position += 1
            count = Int(try integer(UInt16.self))
        case Wire.map32:
            position += 1
            count = Int(try integer(UInt32.self))
        default: return nil
        }
        guard count <= remaining / 2 else { throw .truncated }
        return count
    }

    /// A child's ordinal.
    @inline(__always)
    package mutating func takeChild() throws(FormatError) -> Int? {
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

    package mutating func takeDecimal() throws(FormatError) -> String? {
        guard try kind() == .decimal else { return nil }
        let count = try extensionLength(try byte())
        try skip(1)
        return try string(count: count)
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
            case 0x80...0x8F, Wire.map16, Wire.map32: pending += 2 * (try takeMapCount() ?? 0)
            case 0x90...0x9F, Wire.array16, Wire.array32: pending += try takeArrayCount() ?? 0
            case Wire.str8...Wire.str32: try skip(try takeStringLength() ?? 0)
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

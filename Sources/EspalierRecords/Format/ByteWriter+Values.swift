/// Writes values, each in its shortest form, so that equal values are equal bytes.
extension ByteWriter {
    @inline(__always)
    package mutating func append(null: Void = ()) { append(Wire.null) }

    @inline(__always)
    package mutating func append(value: Bool) { append(value ? Wire.yes : Wire.no) }

    package mutating func append(value: Int64) {
        if value >= 0 { return append(value: UInt64(value)) }
        switch value {
        case -32...(-1): append(UInt8(bitPattern: Int8(value)))
        case Int64(Int8.min)...:
            append(head: Wire.int8, integer: Int8(value))
        case Int64(Int16.min)...:
            append(head: Wire.int16, integer: Int16(value))
        case Int64(Int32.min)...:
            append(head: Wire.int32, integer: Int32(value))
        default:
            append(head: Wire.int64, integer: value)
        }
    }

    package mutating func append(value: UInt64) {
        switch value {
        case 0...0x7F: append(UInt8(value))
        case ...0xFF:
            append(Wire.uint8)
            append(UInt8(value))
        case ...0xFFFF:
            append(head: Wire.uint16, integer: UInt16(value))
        case ...0xFFFF_FFFF:
            append(head: Wire.uint32, integer: UInt32(value))
        default:
            append(head: Wire.uint64, integer: value)
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
        case ...0xFF:
            append(Wire.str8)
            append(UInt8(count))
        case ...0xFFFF:
            append(head: Wire.str16, integer: UInt16(count))
        default:
            append(head: Wire.str32, integer: UInt32(count))
        }
        append(utf8: value)
    }

    package mutating func append(value: [UInt8]) {
        switch value.count {
        case ...0xFF:
            append(Wire.bin8)
            append(UInt8(value.count))
        case ...0xFFFF:
            append(head: Wire.bin16, integer: UInt16(value.count))
        default:
            append(head: Wire.bin32, integer: UInt32(value.count))
        }
        append(value)
    }

    package mutating func append(arrayOf count: Int) {
        switch count {
        case ...15: append(Wire.fixarray | UInt8(count))
        case ...0xFFFF:
            append(head: Wire.array16, integer: UInt16(count))
        default:
            append(head: Wire.array32, integer: UInt32(count))
        }
    }

    package mutating func append(mapOf count: Int) {
        switch count {
        case ...15: append(Wire.fixmap | UInt8(count))
        case ...0xFFFF:
            append(head: Wire.map16, integer: UInt16(count))
        default:
            append(head: Wire.map32, integer: UInt32(count))
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

/// The first bytes of values: those of MessagePack, and for *absent* the one byte that MessagePack
/// never uses.
package enum Wire {
    package static let null: UInt8 = 0xC0
    /// Never set, which is not the same as set to nil.
    package static let absent: UInt8 = 0xC1
    package static let no: UInt8 = 0xC2
    package static let yes: UInt8 = 0xC3
    package static let bin8: UInt8 = 0xC4
    package static let bin16: UInt8 = 0xC5
    package static let bin32: UInt8 = 0xC6
    package static let ext8: UInt8 = 0xC7
    package static let ext16: UInt8 = 0xC8
    package static let ext32: UInt8 = 0xC9
    package static let float32: UInt8 = 0xCA
    package static let float64: UInt8 = 0xCB
    package static let uint8: UInt8 = 0xCC
    package static let uint16: UInt8 = 0xCD
    package static let uint32: UInt8 = 0xCE
    package static let uint64: UInt8 = 0xCF
    package static let int8: UInt8 = 0xD0
    package static let int16: UInt8 = 0xD1
    package static let int32: UInt8 = 0xD2
    package static let int64: UInt8 = 0xD3
    package static let fixext1: UInt8 = 0xD4
    package static let fixext2: UInt8 = 0xD5
    package static let fixext4: UInt8 = 0xD6
    package static let fixext8: UInt8 = 0xD7
    package static let fixext16: UInt8 = 0xD8
    package static let str8: UInt8 = 0xD9
    package static let str16: UInt8 = 0xDA
    package static let str32: UInt8 = 0xDB
    package static let array16: UInt8 = 0xDC
    package static let array32: UInt8 = 0xDD
    package static let map16: UInt8 = 0xDE
    package static let map32: UInt8 = 0xDF
    package static let fixmap: UInt8 = 0x80
    package static let fixarray: UInt8 = 0x90
    package static let fixstr: UInt8 = 0xA0
    package static let negativeFixint: UInt8 = 0xE0

    /// Extension types.
    package enum Extension {
        /// A child: its ordinal in the record's `children`, big-endian.
        package static let child: UInt8 = 1
        /// A number kept as its decimal digits, because no binary kind holds it exactly.
        package static let decimal: UInt8 = 2
        /// A 128-bit integer, big-endian; signed and unsigned.
        package static let int128: UInt8 = 3
        package static let uint128: UInt8 = 4
        /// An explicit null, in drafts of a node that merges. It never gets into a record.
        package static let explicitNull: UInt8 = 5
    }
}

/// The kind of a stored value, which its first byte tells.
public enum ValueKind: Sendable, Equatable {
    /// Declared by a type, but never set.
    case absent
    /// Nil.
    case null
    /// A truth value.
    case bool
    /// An integer of at most 64 bits.
    case integer
    /// A `Float` or a `Double`.
    case float
    /// Text.
    case string
    /// A run of bytes.
    case bytes
    /// An array.
    case array
    /// A map.
    case map
    /// A reference to another record.
    case child
    /// A number as its decimal digits.
    case decimal
    /// An integer of 128 bits.
    case wideInteger
}

/// The reason why bytes can't be read as the format says. Further up it is a miss, never a trap.
@usableFromInline
package enum FormatError: Error, Sendable, Equatable {
    /// The bytes end before the value they announce.
    case truncated
    /// The bytes break a rule of the format.
    case malformed(String)
    /// The check does not match: damage, or a record in another's place.
    case checkFailed
    /// Records of a version this library does not know.
    case unknownVersion(UInt8)
    /// The record names a shape that is not in the table.
    case unknownShape(UInt64)
    /// The record names a dictionary that is not in the table.
    case unknownDictionary(UInt64)
    /// The payload can't be decompressed, or claims to be longer than it may.
    case corruptFrame(String)

    /// Whether the bytes are not damaged, but written by a later version of the library.
    package var isNewer: Bool {
        if case .unknownVersion(let version) = self {
            version > Chunks.version
        } else {
            false
        }
    }
}

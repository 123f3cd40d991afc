/// Why bytes could not be read as the format says. Always a miss further up, never a trap.
package enum FormatError: Error, Sendable, Equatable {
    /// The bytes end before the value they announce.
    case truncated
    /// The bytes break a rule of the format.
    case malformed(String)
    /// The check does not match: damage, or a record in another's place.
    case checkFailed
    /// A record of a version this library does not know.
    case unknownVersion(UInt8)
    /// The record names a shape that is not in the table.
    case unknownShape(UInt64)
    /// The record names a dictionary that is not in the table.
    case unknownDictionary(UInt64)
    /// The payload can't be decompressed, or claims to be longer than it may.
    case corruptFrame(String)

    /// Whether the bytes are a later version's, which can read them, and not damage.
    package var isNewer: Bool {
        if case .unknownVersion(let version) = self {
            version > RecordLayout.version
        } else {
            false
        }
    }
}

/// Why a read is a miss.
///
/// Paths name the record and the field in it that stopped the read: `Message:34.sender`,
/// `Feed:1.messages[3]`.
public enum MissReason: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing is stored under the identifier or key.
    case notFound
    /// A record that the model can't be without was deleted. A deleted identifier itself is
    /// `notFound`: nothing of it is kept.
    case deleted
    /// Older than its expiry.
    case expired
    /// A record is whole and does not fit the type: another type in a field, a missing required
    /// field, a case not known, an initialiser that threw. The record stays: another type may read
    /// it.
    case undecodable(path: String, detail: String)
    /// The bytes of a record, or of the index, break the format: a check that does not match, an
    /// end too early, a shape or a dictionary that is not in the table, an index entry that leads
    /// to another record. The next commit makes the record *lost*.
    case damaged(path: String, detail: String)
    /// A later version of the library has written the record. It stays as it is.
    case newerVersion(path: String, version: Int)
    /// A record on the way was found damaged earlier.
    case lost(path: String)
    /// A reference to a record that is not there.
    case dangling(path: String)
    /// A required field refers back to a record that is being read.
    case cyclic(path: String)
    /// The type is neither a `NormalizedModel` nor `Codable`.
    case notStorable(type: String)
    /// Nested deeper than the limit.
    case tooDeep(path: String)
    /// More nodes or bytes than one read may decode.
    case tooLarge(path: String)
    /// The cache can't be read now: closed, or the file system failed.
    case unavailable(detail: String)

    /// One word for counting: what happened, without where.
    public var name: String {
        switch self {
        case .notFound: "notFound"
        case .deleted: "deleted"
        case .expired: "expired"
        case .undecodable: "undecodable"
        case .damaged: "damaged"
        case .newerVersion: "newerVersion"
        case .lost: "lost"
        case .dangling: "dangling"
        case .cyclic: "cyclic"
        case .notStorable: "notStorable"
        case .tooDeep: "tooDeep"
        case .tooLarge: "tooLarge"
        case .unavailable: "unavailable"
        }
    }

    public var description: String {
        switch self {
        case .notFound: "not found"
        case .deleted: "deleted"
        case .expired: "expired"
        case .undecodable(let path, let detail): "undecodable at \(path): \(detail)"
        case .damaged(let path, let detail):
            "damaged at \(path): \(detail); writing it again repairs it"
        case .newerVersion(let path, let version):
            "at \(path): a record of version \(version), which is newer than this library"
        case .lost(let path): "lost at \(path): the record was damaged; writing it again repairs it"
        case .dangling(let path): "dangling reference at \(path)"
        case .cyclic(let path):
            "cyclic at \(path): a required field refers back to a record being read"
        case .notStorable(let type): "\(type) is neither a NormalizedModel nor Codable"
        case .tooDeep(let path): "nested too deep at \(path)"
        case .tooLarge(let path): "too large at \(path)"
        case .unavailable(let detail): "unavailable: \(detail)"
        }
    }
}

/// The reason why a read is a miss.
///
/// Paths name the record and the field in it that stopped the read: `Message:34.sender`,
/// `Feed:1.messages[3]`.
public enum MissReason: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing is stored under the identifier or key, which may have been deleted.
    case notFound
    /// A record that the model requires was deleted.
    case deleted
    /// A record is older than it may be, and the read accepts fresh ones only.
    case expired(path: String, age: Duration)
    /// Records lack fields that the model requires and that were never fetched. The list has all of
    /// them, each once, in the order in which the read meets them.
    case incomplete([MissingField])
    /// A record is whole but does not fit the type: another type in a field, a missing required
    /// field, an unknown case, an initialiser that threw. The record stays, because another type
    /// may read it.
    case undecodable(path: String, detail: String)
    /// The bytes of a record or of the index break the format: a check that does not match, an end
    /// too early, a shape or a dictionary that is not in the table. The next commit marks the
    /// record as *lost*; writing it again repairs it.
    case damaged(path: String, detail: String)
    /// A later version of the library has written the record, which stays as it is.
    case newerVersion(path: String, version: Int)
    /// A record on the way was found damaged earlier, or eviction has taken the reference to it
    /// away because it was part of a large cycle. Writing the tree again repairs it.
    case lost(path: String)
    /// A reference leads to a record that is not there.
    case dangling(path: String)
    /// A required field refers back to a record that is being read.
    case cyclic(path: String)
    /// The type is neither a `NormalizedModel` nor `Codable`.
    case notStorable(type: String)
    /// The tree is nested deeper than ``TreeLimits/maximumDepth`` allows, or than the thread's
    /// stack has room for.
    case tooDeep(path: String)
    /// The tree has more nodes or bytes than the ``TreeLimits`` allow.
    case tooLarge(path: String)
    /// The cache can't be read now: it is closed, or the file system failed.
    case unavailable(detail: String)
    /// The task that awaited the read was cancelled. Such a miss is not counted.
    case cancelled

    /// The name of the case, without details: for counting.
    public var name: String {
        switch self {
        case .notFound: "notFound"
        case .deleted: "deleted"
        case .expired: "expired"
        case .incomplete: "incomplete"
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
        case .cancelled: "cancelled"
        }
    }

    /// The reason in words, with the path where there is one.
    public var description: String {
        switch self {
        case .notFound: "not found"
        case .deleted: "deleted"
        case .expired(let path, let age): "expired at \(path): \(age.components.seconds) s old"
        case .incomplete(let missing): Self.description(of: missing)
        case .undecodable(let path, let detail): "undecodable at \(path): \(detail)"
        case .damaged(let path, let detail):
            "damaged at \(path): \(detail); writing it again repairs it"
        case .newerVersion(let path, let version):
            "at \(path): a record of version \(version), which is newer than this library"
        case .lost(let path):
            "lost at \(path): damaged, or evicted from a large cycle; write the tree again"
        case .dangling(let path): "dangling reference at \(path)"
        case .cyclic(let path):
            "cyclic at \(path): a required field refers back to a record being read"
        case .notStorable(let type): "\(type) is neither a NormalizedModel nor Codable"
        case .tooDeep(let path): "nested too deep at \(path)"
        case .tooLarge(let path): "too large at \(path)"
        case .unavailable(let detail): "unavailable: \(detail)"
        case .cancelled: "cancelled"
        }
    }

    /// The number of missing fields that a description names.
    private static let namedFields = 3

    private static func description(of missing: [MissingField]) -> String {
        let named = missing.prefix(namedFields).map(\.description).joined(separator: ", ")
        let rest = missing.count - namedFields
        return "incomplete: never fetched: \(named)\(rest > 0 ? " and \(rest) more" : "")"
    }
}

extension MissReason {
    /// Whether the read has reached a limit of ``TreeLimits``.
    package var isLimit: Bool {
        switch self {
        case .tooLarge, .tooDeep: true
        default: false
        }
    }
}

/// The error that decoders throw where a value can't be read. It gains its path on the way up.
package struct ReadFailure: Error {
    package enum Cause: Equatable {
        /// The record of the entry has another name than the wanted one.
        case notFound
        /// A reference leads to a deleted record. The failure climbs to the nearest optional,
        /// element or entry.
        case deleted
        /// A reference leads to a record on the path. The field is nil if it may be; otherwise the
        /// read is a miss.
        case cut
        case cyclic
        case missing
        /// A record lacks a required field, in a read that goes on without it. The failure climbs
        /// as that of a deleted record does.
        case incomplete
        case undecodable(String)
        case damaged(String)
        case newerVersion(UInt8)
        case lost
        case dangling
        case tooDeep
        case tooLarge
        case notStorable(String)
        case unavailable(String)
        case cancelled
        /// A record is so many seconds old, and the read does not accept that.
        case expired(age: UInt64)
    }

    package private(set) var cause: Cause
    /// The components of the path, innermost first.
    private var components: [String] = []
    private var record: String?

    /// Whether no initialiser may turn the failure into a hit by catching it: true for absence and
    /// damage, false for a mismatch, which lenient models expect.
    package let isFinal: Bool

    package init(_ cause: Cause, isFinal: Bool = false) {
        self.cause = cause
        self.isFinal = isFinal
    }

    /// Converts an error that this library or a model's initialiser threw.
    package init(_ error: any Error) {
        switch error {
        case let failure as ReadFailure: self = failure
        case let error as FormatError: self.init(Self.cause(of: error))
        case let reason as MissReason: self.init(.unavailable(reason.description))
        case let error as DecodingError:
            self =
                error.context.underlyingError as? ReadFailure
                ?? Self(.undecodable(Self.detail(of: error)))
        default: self.init(.undecodable("the model's initialiser threw \(error)"))
        }
    }

    /// Whether an optional, an element or an entry leaves the value out.
    package var leavesOut: Bool {
        cause == .deleted || cause == .cut || cause == .incomplete
    }

    /// Whether a required field has no value: the record lacks it, or it is nil.
    var lacksValue: Bool { cause == .missing || isNull }

    /// Whether the field is nil.
    var isNull = false

    // MARK: Paths

    /// Returns the failure as seen from the field that holds the value. A cut that gets here stands
    /// in a required field, and makes the read cyclic.
    func inside(field name: String) -> ReadFailure {
        var failure = self
        if cause == .cut { failure.cause = .cyclic }
        if record == nil { failure.components.append(needsDot ? name + "." : name) }
        return failure
    }

    func inside(element index: Int) -> ReadFailure {
        var failure = self
        if record == nil { failure.components.append(needsDot ? "[\(index)]." : "[\(index)]") }
        return failure
    }

    private var needsDot: Bool { components.last.map { !$0.hasPrefix("[") } ?? false }

    /// Whether the path has no record yet.
    var lacksRecord: Bool { record == nil }

    func inside(record identifier: String) -> ReadFailure {
        guard record == nil else { return self }
        var failure = self
        failure.record = identifier
        return failure
    }

    package var path: String {
        let inner = components.reversed().joined()
        guard let record else { return inner }
        return inner.isEmpty || inner.hasPrefix("[") ? record + inner : record + "." + inner
    }

    // MARK: Reasons

    package var reason: MissReason {
        switch cause {
        case .notFound: .notFound
        case .deleted: .deleted
        case .cut, .cyclic: .cyclic(path: path)
        case .missing, .incomplete:
            .undecodable(path: path, detail: "the record lacks this required field")
        case .undecodable(let detail): .undecodable(path: path, detail: detail)
        case .damaged(let detail): .damaged(path: path, detail: detail)
        case .newerVersion(let version): .newerVersion(path: path, version: Int(version))
        case .lost: .lost(path: path)
        case .dangling: .dangling(path: path)
        case .tooDeep: .tooDeep(path: path)
        case .tooLarge: .tooLarge(path: path)
        case .notStorable(let type): .notStorable(type: type)
        case .unavailable(let detail): .unavailable(detail: detail)
        case .cancelled: .cancelled
        case .expired(let age): .expired(path: path, age: .seconds(age))
        }
    }

    /// Returns in words what is wrong with bytes.
    package static func detail(of error: FormatError) -> String {
        switch cause(of: error) {
        case .damaged(let detail): detail
        case .newerVersion(let version): "a record of version \(version)"
        default: "\(error)"
        }
    }

    private static func cause(of error: FormatError) -> Cause {
        switch error {
        case .truncated: .damaged("the bytes end early")
        case .malformed(let what): .damaged(what)
        case .checkFailed: .damaged("the check does not match")
        case .unknownVersion(let version) where error.isNewer: .newerVersion(version)
        case .unknownVersion(let version): .damaged("there is no version \(version)")
        case .unknownShape(let number): .damaged("shape \(number) is not in the table")
        case .unknownDictionary(let number): .damaged("dictionary \(number) is not in the table")
        case .corruptFrame(let detail): .damaged("the payload can't be decompressed: \(detail)")
        }
    }

    private static func detail(of error: DecodingError) -> String {
        switch error {
        case .typeMismatch(let type, let context): "expected \(type): \(context.debugDescription)"
        case .valueNotFound(let type, _): "nil where \(type) is required"
        case .keyNotFound(let key, _): "no field \(key.stringValue)"
        case .dataCorrupted(let context): context.debugDescription
        @unknown default: "\(error)"
        }
    }
}

/// What goes up through decoders when a value can't be had. Gains its path on the way.
package struct ReadFailure: Error {
    package enum Cause: Equatable {
        /// A reference to a deleted record: climbs to the nearest optional, element or entry.
        case deleted
        /// A reference to a record on the path: nil where the field itself may be left out, else
        /// the read is a miss.
        case cut
        case cyclic
        case missing
        case undecodable(String)
        case damaged(String)
        case newerVersion(UInt8)
        case lost
        case dangling
        case tooDeep
        case tooLarge
        case notStorable(String)
        case unavailable(String)
    }

    package private(set) var cause: Cause
    /// From the inside out.
    private var components: [String] = []
    private var record: String?

    package init(_ cause: Cause, isFinal: Bool = false) {
        self.cause = cause
        self.isFinal = isFinal
    }

    /// As a failure of this library whatever was thrown, by it or by a model's initialiser.
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

    /// Whether an optional, an element or an entry makes do without the value.
    package var leavesOut: Bool { cause == .deleted || cause == .cut }

    /// A failure that no initialiser may turn into a hit by swallowing it: absence and damage, as
    /// opposed to a mismatch, which lenient models expect.
    package var isFinal = false

    /// The same, seen from the field that holds the value. A cut that gets this far stands in a
    /// required field.
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

    /// Whether no record has claimed it yet.
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

    package var reason: MissReason {
        switch cause {
        case .deleted: .deleted
        case .cut, .cyclic: .cyclic(path: path)
        case .missing: .undecodable(path: path, detail: "the record lacks this required field")
        case .undecodable(let detail): .undecodable(path: path, detail: detail)
        case .damaged(let detail): .damaged(path: path, detail: detail)
        case .newerVersion(let version): .newerVersion(path: path, version: Int(version))
        case .lost: .lost(path: path)
        case .dangling: .dangling(path: path)
        case .tooDeep: .tooDeep(path: path)
        case .tooLarge: .tooLarge(path: path)
        case .notStorable(let type): .notStorable(type: type)
        case .unavailable(let detail): .unavailable(detail: detail)
        }
    }

    /// What is wrong with bytes, in words.
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

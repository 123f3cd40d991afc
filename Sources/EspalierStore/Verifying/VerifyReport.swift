/// What a check of the whole cache found.
public struct VerifyReport: Sendable, Hashable, Codable {
    /// A broken invariant.
    public struct Problem: Sendable, Hashable, Codable, CustomStringConvertible {
        /// Which invariant of the design, 1 to 6; 0 for an entry that can't be read. What only a
        /// deep check finds: 7 for a value that is none, 8 for a tree that can't be walked.
        public let invariant: Int
        public let detail: String
        /// The record it is in, where a deep check found it.
        public var identifier: String?
        /// Where in the record, as a miss has it: `Message:34.sender`.
        public var path: String?

        public var description: String {
            let place = path.map { " at \($0)" } ?? ""
            return invariant == 0
                ? "damage: \(detail)" : "invariant \(invariant)\(place): \(detail)"
        }
    }

    /// At most 1,000; `problemCount` has all.
    public internal(set) var problems: [Problem] = []
    public internal(set) var problemCount = 0
    public internal(set) var nodes = 0
    public internal(set) var keys = 0
    public internal(set) var collections = 0
    public internal(set) var segments = 0
    public internal(set) var tombstones = 0
    public internal(set) var references = 0
    public internal(set) var pins = 0
    /// Values decoded, entries whose trees were walked, and those of them that can't be read: 0
    /// without a deep check.
    public internal(set) var values = 0
    public internal(set) var trees = 0
    public internal(set) var unreadableTrees = 0

    public var isClean: Bool { problemCount == 0 }

    mutating func add(
        _ invariant: Int, _ detail: @autoclosure () -> String, identifier: String? = nil,
        path: String? = nil
    ) {
        problemCount += 1
        guard problems.count < 1_000 else { return }
        problems.append(
            Problem(invariant: invariant, detail: detail(), identifier: identifier, path: path))
    }
}

/// What a check of the whole cache found.
public struct VerifyReport: Sendable, Hashable, Codable {
    /// A broken invariant.
    public struct Problem: Sendable, Hashable, Codable, CustomStringConvertible {
        /// Which invariant of the design, 1 to 6; 0 for an entry that can't be read.
        public let invariant: Int
        public let detail: String

        public var description: String {
            invariant == 0 ? "damage: \(detail)" : "invariant \(invariant): \(detail)"
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

    public var isClean: Bool { problemCount == 0 }

    mutating func add(_ invariant: Int, _ detail: @autoclosure () -> String) {
        problemCount += 1
        if problems.count < 1_000 { problems.append(Problem(invariant: invariant, detail: detail())) }
    }
}

/// The read that holds on to the oldest snapshot: no page freed since can be used again before it
/// ends.
///
/// ```swift
/// if let reader = try cache.statistics().oldestReader, reader.commitsBehind > 1_000 { report(reader.processIdentifier) }
/// ```
///
/// Threading: a value, already old when it is returned. Cost: a few words. Errors: none.
public struct OldestReader: Sendable, Hashable, Codable {
    public var processIdentifier: Int
    public var commitsBehind: Int

    public init(processIdentifier: Int, commitsBehind: Int) {
        self.processIdentifier = processIdentifier
        self.commitsBehind = commitsBehind
    }
}

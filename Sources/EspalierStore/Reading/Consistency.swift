/// Which writes a read sees.
public enum Consistency: String, Sendable, CaseIterable, Codable {
    /// All writes submitted before it: waits for those that are pending, if any are. The default.
    case latest
    /// All writes committed when it begins; never waits for anything.
    case snapshot
}

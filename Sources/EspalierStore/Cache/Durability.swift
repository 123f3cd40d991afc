import EspalierLMDB

/// What a loss of power may take. A killed process loses nothing that was committed, whichever is
/// chosen.
public enum Durability: String, Sendable, CaseIterable, Codable {
    /// Nothing that was committed.
    case sync
    /// The last commit; the file stays intact (0 of 3,400 simulated crash images were damaged). A
    /// third faster than `sync`.
    case noMetaSync
    /// Anything: the file may be damaged (59 % of simulated crash images were). For tests and
    /// benchmarks.
    case noSync

    var environment: Environment.Durability {
        switch self {
        case .sync: .sync
        case .noMetaSync: .noMetaSync
        case .noSync: .noSync
        }
    }
}

package import EspalierRecords

/// What a read has to give.
package enum OracleOutcome<Value: Equatable & Sendable>: Equatable, Sendable {
    case hit(Value, isCut: Bool)
    case miss(OracleMiss)

    /// Whether a read of the engine gave this. Paths of misses are not compared, only their
    /// reasons.
    package func agrees(with result: Result<Value, MissReason>) -> Bool {
        switch (self, result) {
        case (.hit(let expected, _), .success(let value)): expected == value
        case (.miss(let expected), .failure(let reason)): expected.rawValue == reason.name
        default: false
        }
    }
}

/// Why a read has to be a miss: the names of `MissReason`.
package enum OracleMiss: String, Error, Hashable, Sendable {
    case notFound, deleted, lost, dangling, cyclic, undecodable
    /// A back reference; never gets out of the oracle.
    case cut
}

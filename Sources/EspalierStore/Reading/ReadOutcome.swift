public import EspalierRecords

/// What a read came to.
///
/// ```swift
/// switch cache.readOutcome(Message.self, "Message:34") {
/// case .hit(let hit): show(hit.value)
/// case .miss(let reason): log("no message: \(reason)")
/// }
/// ```
public enum ReadOutcome<Value: Sendable>: Sendable {
    case hit(Hit<Value>)
    case miss(MissReason)

    /// The value of a hit.
    public var value: Value? {
        guard case .hit(let hit) = self else { return nil }
        return hit.value
    }

    /// The reason of a miss.
    public var reason: MissReason? {
        guard case .miss(let reason) = self else { return nil }
        return reason
    }
}

/// A whole tree, reassembled.
public struct Hit<Value: Sendable>: Sendable {
    public let value: Value
    /// Whether a reference back to a record on its own path was left out somewhere.
    public let isCut: Bool
    /// Records decoded.
    public let recordCount: Int
}

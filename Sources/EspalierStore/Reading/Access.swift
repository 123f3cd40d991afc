/// Whether a read counts as an access.
enum Access: Sendable {
    /// It does: what was read is the last to be evicted.
    case touch
    /// It does not.
    case peek
}

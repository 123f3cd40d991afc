/// What a write does to the fields a record has already.
public enum WritePolicy: String, Sendable, CaseIterable, Codable {
    /// Every field the type declares is replaced, nil included; fields that only other types
    /// declare stay; fields that only this type declared and no longer does go.
    case replace
    /// Nil means "not fetched" and keeps what is there: the superset rule of partial models.
    case merge
}

/// How small trees are given their identifiers.
package enum SmallTreeIdentifiers: Sendable, Hashable {
    /// Each a new one, or none; a model may stand in several places. What is read back equals what
    /// was written.
    case consistent
    /// One of so many names in each family: equal names with different content, and names inside
    /// themselves.
    case conflicting(names: Int)
}

/// What random trees look like.
package struct TreeKnobs: Sendable, Hashable {
    /// The most models of a tree, required ones apart.
    package var size = 40
    /// The most levels, required ones apart.
    package var depth = 6
    /// The most children of one field.
    package var width = 4
    /// How often a field that can be empty is.
    package var emptiness = 0.6
    /// How often a child is one that stands elsewhere in the tree.
    package var sharing = 0.3
    /// How often a model that could have an identifier has none.
    package var inlineShare = 0.15
    /// How often a node's view is a projection of a node that stands elsewhere in the tree. Where
    /// names conflict: how often it may have a view at all.
    package var projections = 0.5
    /// When set, identifiers come from so many names a family, whatever stands under them already:
    /// models with the same identifier differ, and may contain themselves.
    package var conflictingNames: Int?

    package init() {}
}

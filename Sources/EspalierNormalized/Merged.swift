#if Macros
/// Gives a property a rule by which a merge puts two versions of it together.
///
/// ```swift
/// @Normalized(policy: .merge) struct Issue {
///     let id: Int
///     @Merged(.newest(by: \.updatedAt)) let title: String?
///     @Stored("updated_at") let updatedAt: String?
///     @Merged(.union) let labels: [Label]?
///     @Merged(.append) let comments: [Comment]?
///     @Merged(.keepFirst) let firstSeen: Date?
///     @Merged(.combined { (old: Int, new: Int) in max(old, new) }) let likes: Int?
/// }
/// ```
///
/// A property without a rule is overwritten. The rule takes part in writes under
/// `WritePolicy.merge`, where both versions have fetched the property; `MergeRule` says what each
/// rule does. A function needs the types of its parameters.
///
/// Apply it to stored properties of a type that has ``Normalized()`` and an identifier. The macro
/// generates the type's `mergeRules`. It reports a rule of the identifier or of a property that is
/// not stored, two rules of one property, and `.union` and `.append` of a type that is visibly no
/// array.
///
/// - Parameter rule: The rule, such as `.union`.
@attached(peer)
public macro Merged(_ rule: MergeRule) =
    #externalMacro(module: "EspalierMacros", type: "MergedMacro")

/// Gives a property the rule that its newest version counts, as another property tells.
///
/// ```swift
/// @Merged(.newest(by: \.updatedAt)) let title: String?
/// ```
///
/// The macro finds the name under which the other property is stored. In all else it is like
/// `@Merged` with any other rule.
///
/// - Parameter rule: `.newest(by:)` with a key path of one property of the same type.
@attached(peer)
public macro Merged(_ rule: NewestRule) =
    #externalMacro(module: "EspalierMacros", type: "MergedMacro")

/// The argument of `@Merged(.newest(by: \.updatedAt))`.
///
/// There is no use for its values: the macro reads the source text. In `mergeRules` of a type
/// without the macro, write `MergeRule.newest(by:)` with the stored name.
public struct NewestRule: Sendable {
    private init() {}

    /// Names the property by which versions are compared.
    ///
    /// - Parameter property: A key path of one property, such as `\.updatedAt`.
    /// - Returns: A value without meaning.
    public static func newest(by property: KeyPath<AnyProperty, AnyProperty>) -> NewestRule {
        NewestRule()
    }
}
#endif

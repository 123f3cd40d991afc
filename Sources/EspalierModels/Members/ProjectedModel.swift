/// A model that says what it has under the names of its stored fields, so that another type over
/// the same identifier can take over what both know.
///
/// ```swift
/// extension ShortPerson: ProjectedModel {
///     func storedValue(_ name: String) -> Any? {
///         switch name {
///         case "name": name
///         case "city": .some(city as Any)      // a `String?`: nil is a value, too
///         default: nil
///         }
///     }
/// }
/// ```
///
/// Called on any thread, several at a time.
public protocol ProjectedModel: Model {
    /// The value of the member that is stored as `name`; nil when there is no such member. A member
    /// that is nil is an `Optional` in the `Any`, which takes `.some(member as Any)`: left to the
    /// compiler, it would be no member.
    func storedValue(_ name: String) -> Any?
}

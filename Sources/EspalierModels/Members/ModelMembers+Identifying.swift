import EspalierRecords
public import Foundation

// The text of an `id`, which with the type's name makes an identifier. A type for which there is no
// overload is a compile error.
extension ModelMembers {
    // MARK: Identifying

    /// The text of `id`: its `description`.
    @inlinable
    public static func identifier<ID: LosslessStringConvertible>(of id: ID) -> String {
        id.description
    }

    /// The text of the raw value of `id`.
    @inlinable
    public static func identifier<ID: RawRepresentable>(of id: ID) -> String
    where ID.RawValue: LosslessStringConvertible { id.rawValue.description }

    /// Where `id` is both, its own `description` counts.
    @inlinable
    public static func identifier<ID: LosslessStringConvertible & RawRepresentable>(of id: ID)
        -> String
    where ID.RawValue: LosslessStringConvertible { id.description }

    // Not for optional ones: in the place of a `String?`, neither of the two would be the better
    // one.
    /// The raw value's raw value: `struct OrderID: RawRepresentable { let rawValue: Number }`,
    /// where `Number` is one, too.
    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: RawRepresentable>(of id: ID) -> String
    where ID.RawValue: RawRepresentable, ID.RawValue.RawValue: LosslessStringConvertible {
        identifier(of: id.rawValue)
    }

    /// In capital letters, as `uuidString` has them.
    @inlinable
    public static func identifier(of id: UUID) -> String { id.uuidString }

    @inlinable
    public static func identifier<ID: RawRepresentable<UUID>>(of id: ID) -> String {
        id.rawValue.uuidString
    }

    @inlinable
    public static func identifier<ID: LosslessStringConvertible & RawRepresentable<UUID>>(of id: ID)
        -> String
    {
        id.description
    }

    // MARK: Optional ones

    /// The same of an `id` that may be nil: the model is an inline node then.
    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: LosslessStringConvertible>(of id: ID?) -> String? {
        id?.description
    }

    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: RawRepresentable>(of id: ID?) -> String?
    where ID.RawValue: LosslessStringConvertible { id?.rawValue.description }

    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: LosslessStringConvertible & RawRepresentable>(of id: ID?)
        -> String?
    where ID.RawValue: LosslessStringConvertible { id?.description }

    @inlinable
    @_disfavoredOverload
    public static func identifier(of id: UUID?) -> String? { id?.uuidString }

    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: RawRepresentable<UUID>>(of id: ID?) -> String? {
        id?.rawValue.uuidString
    }

    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: LosslessStringConvertible & RawRepresentable<UUID>>(
        of id: ID?
    ) -> String? {
        id?.description
    }

    // MARK: Types

    /// The name of a type as identifiers begin with it: the innermost name, and what it is generic
    /// over, `Page<Person>`.
    public static func typeName(of type: Any.Type) -> String { TypeName.of(type) }
}

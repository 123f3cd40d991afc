import EspalierRecords
import Synchronization

/// A model that gives access to its stored fields by name, so that another type with the same
/// identifier can take over the fields that both have.
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
/// The function is called on any thread, also concurrently.
public protocol ProjectedModel: Model {
    /// Returns the value of the member that is stored as `name`.
    ///
    /// - Parameter name: The name of the field in the record.
    /// - Returns: The value; `nil` if there is no such member. A member that is an optional must be
    ///   returned as `.some(member as Any)`: otherwise a member that is `nil` looks like a missing
    ///   member.
    func storedValue(_ name: String) -> Any?
}

extension ModelMembers {
    /// Takes over the value that `other`, another projection of the same record, has stored as
    /// `name`.
    ///
    /// A value of the member's type, or of the type that an optional member wraps, replaces the
    /// member. A `nil` replaces it if both types wrap the same type, or if both wrap models. A
    /// child of another type with the same identifier is merged into the member's child by
    /// `Model.merge`. The same applies to optionals, and to arrays, sets and dictionaries if the
    /// member has a counterpart for every child in them. In all other cases the member stays
    /// unchanged; a screen that follows a cache then reads the record again.
    ///
    /// ```swift
    /// func merge(_ model: any Model) -> any Model {
    ///     guard let other = model as? any ProjectedModel else { return self }
    ///     var name = name
    ///     ModelMembers.take(&name, named: "name", from: other)
    ///     return Person(id: id, name: name)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - value: The member.
    ///   - name: The name of the field in the record.
    ///   - other: The model that has changed.
    /// - Complexity: One or more dynamic casts of about 100 ns each. This is meant for projections,
    ///   which are merged only when one of them changes.
    public static func take<Value>(
        _ value: inout Value, named name: String, from other: any ProjectedModel
    ) {
        guard let stored = other.storedValue(name) else { return }
        // The other type may declare a field where this one has an optional, and the other way
        // round.
        var theirs = stored
        if let field = stored as? any FieldMember {
            guard let member = field.optionalMember else { return }
            theirs = member
        }
        if let type = Value.self as? any FieldMember.Type {
            guard let field = type.field(of: theirs, mergedInto: value) as? Value else {
                return MergeGaps.note()
            }
            value = field
        } else if isForeignNil(theirs, for: Value.self) {
            MergeGaps.note()
        } else if let theirs = theirs as? Value {
            value = theirs
        } else if let merged = merged(value, theirs) as? Value {
            value = merged
        } else {
            MergeGaps.note()
        }
    }

    /// Returns `value` with the values of `theirs`, a member of another type, or `nil` if they do
    /// not match.
    fileprivate static func taken<Value>(_ value: Value?, from theirs: Any) -> Value? {
        theirs as? Value ?? value.flatMap { merged($0, theirs) as? Value }
    }

    /// Returns whether `theirs` is the `nil` of another type. A dynamic cast would turn it into a
    /// `nil` of the member's type.
    fileprivate static func isForeignNil(_ theirs: Any, for type: Any.Type) -> Bool {
        guard let optional = theirs as? any OptionalMember, optional.wrappedMember == nil else {
            return false
        }
        let (theirs, mine) = (innermost(Swift.type(of: theirs)), innermost(type))
        return theirs != mine && !(theirs is any ModelField.Type && mine is any ModelField.Type)
    }

    private static func innermost(_ type: Any.Type) -> Any.Type {
        (type as? any OptionalMember.Type).map { innermost($0.wrappedType) } ?? type
    }

    /// Returns `mine` with the values of `theirs`, or `nil` if they do not match.
    private static func merged(_ mine: Any, _ theirs: Any) -> Any? {
        if let mine = mine as? any Model {
            guard let theirs = theirs as? any Model, let identifier = mine.modelIdentifier,
                theirs.modelIdentifier?.utf8.elementsEqual(identifier.utf8) == true
            else { return nil }
            return mine.merge(theirs)
        }
        switch (mine, theirs) {
        case (let mine as [Any], let theirs as [Any]): return merged(mine, theirs)
        case (let mine as [AnyHashable: Any], let theirs as [AnyHashable: Any]):
            return merged(mine, theirs)
        case (let mine as Set<AnyHashable>, let theirs as Set<AnyHashable>):
            return merged(mine.map(\.base), theirs.map(\.base)).map {
                Set($0.compactMap { $0 as? AnyHashable })
            }
        default: return nil
        }
    }

    /// Returns the elements in the order of `theirs`: elements may have moved or been removed.
    private static func merged(_ mine: [Any], _ theirs: [Any]) -> [Any]? {
        // By bytes, as identifiers are compared: a composed and a decomposed é are two.
        var known: [[UInt8]: Any] = [:]
        for element in mine {
            if let identifier = (element as? any Model)?.modelIdentifier {
                known[Array(identifier.utf8)] = element
            }
        }
        var result: [Any] = []
        for (index, element) in theirs.enumerated() {
            if let optional = element as? any OptionalMember, optional.wrappedMember == nil {
                result.append(element)
                continue
            }
            let counterpart =
                if let model = element as? any Model {
                    model.modelIdentifier.flatMap { known[Array($0.utf8)] }
                } else {
                    mine.count == theirs.count ? mine[index] : nil
                }
            guard let counterpart, let merged = merged(counterpart, element) else { return nil }
            result.append(merged)
        }
        return result
    }

    private static func merged(_ mine: [AnyHashable: Any], _ theirs: [AnyHashable: Any])
        -> [AnyHashable: Any]?
    {
        var result: [AnyHashable: Any] = [:]
        for (key, value) in theirs {
            guard let counterpart = mine[key], let merged = merged(counterpart, value) else {
                return nil
            }
            result[key] = merged
        }
        return result
    }
}

/// Finds out whether a merge has left out values of the other model, because the members of their
/// names have other types. The model must then be read from a store.
package final class MergeGaps: Sendable {
    /// The merge under way; nil if its caller does not ask.
    @TaskLocal private static var active: MergeGaps?
    private let isFound = Atomic<Bool>(false)

    /// Runs `merge`, and returns whether it has left out values.
    package static func areFound<Merged>(
        in merge: () -> Merged
    ) -> (merged: Merged, hasGaps: Bool) {
        let gaps = MergeGaps()
        let merged = $active.withValue(gaps, operation: merge)
        return (merged, gaps.isFound.load(ordering: .relaxed))
    }

    /// Notes that the merge under way has left out a value.
    fileprivate static func note() { active?.isFound.store(true, ordering: .relaxed) }
}

/// A `Field` that is recognised at run time.
private protocol FieldMember {
    /// The field as an optional of its value; nil if it is absent.
    var optionalMember: Any? { get }

    /// Returns the field of `theirs`, an optional or a value of another projection; nil if they do
    /// not match.
    ///
    /// - Parameter mine: The field before.
    static func field(of theirs: Any, mergedInto mine: Any) -> Any?
}

extension Field: FieldMember {
    fileprivate var optionalMember: Any? { isAbsent ? nil : .some(wrapped as Any) }

    fileprivate static func field(of theirs: Any, mergedInto mine: Any) -> Any? {
        if let optional = theirs as? any OptionalMember {
            guard let wrapped = optional.wrappedMember else {
                return ModelMembers.isForeignNil(theirs, for: Value.self) ? nil : Field.null
            }
            return field(of: wrapped, mergedInto: mine)
        }
        return ModelMembers.taken((mine as? Field)?.wrapped, from: theirs).map(Field.value)
    }
}

public import EspalierRecords

/// A member of a model that is a child or may contain children. `map` and `forEach` of a model go
/// through its members of this kind.
///
/// Every `Model` and `ErasedModel` conforms, and so do optionals, fields, arrays, sets and
/// dictionaries of conforming types, at any depth. A custom container of models must conform and
/// forward both calls; otherwise its children count as plain values and are not kept consistent:
///
/// ```swift
/// extension NonEmpty: ModelField where Element: ModelField {
///     func mapModels(_ transform: (any Model) -> (any Model)?) -> NonEmpty? {
///         // nil when it is empty: the container is deleted with its last child.
///         elements.mapModels(transform).flatMap(NonEmpty.init)
///     }
///
///     func forEachModel(_ visit: (any Model) -> Void) { elements.forEachModel(visit) }
/// }
/// ```
///
/// The functions are called on any thread, also concurrently.
public protocol ModelField {
    /// Returns a copy of this value in which `transform` has replaced each direct child.
    ///
    /// - Parameter transform: Returns the new child. `nil`, or a model that does not have the
    ///   child's type, deletes the child: an optional becomes `nil`, and an element or a dictionary
    ///   entry is removed.
    /// - Returns: The copy; `nil` if no value is left, which deletes the owner of this value, or is
    ///   absorbed by the owner in turn.
    /// - Complexity: O(*n*) in the number of children, with one dynamic cast each.
    func mapModels(_ transform: (any Model) -> (any Model)?) -> Self?

    /// Calls `visit` with each direct child, in the order of `mapModels`.
    ///
    /// - Complexity: O(*n*) in the number of children.
    func forEachModel(_ visit: (any Model) -> Void)

    /// Returns whether replacing this value with `other` would change nothing. Used for types that
    /// are not `Equatable`.
    ///
    /// The default compares by `==` if the type turns out to be `Equatable` at run time, and
    /// returns `false` otherwise.
    ///
    /// - Parameter other: A value of this type; a value of any other type is different. The
    ///   parameter is not `Self`, because `Model` could then not be written without `any`, as
    ///   source for RocketData does.
    /// - Complexity: One dynamic cast of about 50 ns, and the comparison.
    func isEqualField<Other>(to other: Other) -> Bool
}

extension ModelField {
    /// Returns whether both values are equal by `==`; `false` if the type is not `Equatable`.
    public func isEqualField<Other>(to other: Other) -> Bool {
        (self as? any Equatable).map { ModelMembers.isSame($0, other) } ?? false
    }
}

extension Model {
    /// Returns what `transform` makes of this model, which is the only child.
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> Self? {
        transform(self) as? Self
    }

    /// Calls `visit` with this model.
    public func forEachModel(_ visit: (any Model) -> Void) { visit(self) }

    /// Returns `isEqual(to: other)`.
    public func isEqualField<Other>(to other: Other) -> Bool {
        guard let other = other as? Self else { return false }
        let model: any Model = other
        return isEqual(to: model)
    }
}

// MARK: - Containers

// A container always has a value left when its children are deleted, so deletions stop here.

extension Optional: ModelField where Wrapped: ModelField {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> Wrapped?? {
        .some(flatMap { $0.mapModels(transform) })
    }

    public func forEachModel(_ visit: (any Model) -> Void) { self?.forEachModel(visit) }

    public func isEqualField<Other>(to other: Other) -> Bool {
        guard let other = other as? Self else { return false }
        return switch (self, other) {
        case (nil, nil): true
        case (let value?, let other?): value.isEqualField(to: other)
        default: false
        }
    }
}

extension Array: ModelField where Element: ModelField {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> [Element]? {
        compactMap { $0.mapModels(transform) }
    }

    public func forEachModel(_ visit: (any Model) -> Void) {
        for element in self { element.forEachModel(visit) }
    }

    public func isEqualField<Other>(to other: Other) -> Bool {
        guard let other = other as? Self else { return false }
        return elementsEqual(other) { $0.isEqualField(to: $1) }
    }
}

/// A field whose model is deleted becomes null.
extension Field: ModelField where Value: ModelField {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> Field<Value>? {
        guard let wrapped else { return self }
        return Field(wrapped.mapModels(transform))
    }

    public func forEachModel(_ visit: (any Model) -> Void) { wrapped?.forEachModel(visit) }

    public func isEqualField<Other>(to other: Other) -> Bool {
        guard let other = other as? Self else { return false }
        return switch (self, other) {
        case (.absent, .absent), (.null, .null): true
        case (.value(let value), .value(let other)): value.isEqualField(to: other)
        default: false
        }
    }
}

/// Elements that become equal collapse into one element.
extension Set: ModelField where Element: ModelField {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> Set<Element>? {
        var mapped = Set<Element>(minimumCapacity: count)
        for element in self {
            if let element = element.mapModels(transform) { mapped.insert(element) }
        }
        return mapped
    }

    public func forEachModel(_ visit: (any Model) -> Void) {
        for element in self { element.forEachModel(visit) }
    }

    public func isEqualField<Other>(to other: Other) -> Bool { other as? Self == self }
}

/// The values of the dictionary are the children; the keys stay as they are.
extension Dictionary: ModelField where Value: ModelField {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> [Key: Value]? {
        compactMapValues { $0.mapModels(transform) }
    }

    public func forEachModel(_ visit: (any Model) -> Void) {
        for value in values { value.forEachModel(visit) }
    }

    public func isEqualField<Other>(to other: Other) -> Bool {
        guard let other = other as? Self else { return false }
        return count == other.count
            && allSatisfy { key, value in other[key].map { value.isEqualField(to: $0) } ?? false }
    }
}

extension ModelMembers {
    // MARK: Merging

    /// Takes over what `other`, another projection of the same record, has stored as `name`.
    ///
    /// Its value, if it is one of this member's type, or would be one of the optional's; a nil, if
    /// it is one of the same type, or where both hold children. A child of another type over the
    /// same identifier is merged into the member's, by `Model.merge`; likewise in an optional, and
    /// in arrays, sets and dictionaries if all that `other` has in there this member has, too.
    /// Otherwise the member stays as it is.
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
    /// Costs a cast or more, about 100 ns each: meant for projections, which are merged when one of
    /// them changes.
    public static func take<Value>(
        _ value: inout Value, named name: String, from other: any ProjectedModel
    ) {
        guard let theirs = other.storedValue(name) else { return }
        guard !isForeignNil(theirs, for: Value.self) else { return }
        if let theirs = theirs as? Value {
            value = theirs
        } else if let merged = merged(value, theirs) as? Value {
            value = merged
        }
    }

    /// Whether `theirs` is the nil of another type, which a cast turns into one of this member's.
    private static func isForeignNil(_ theirs: Any, for type: Any.Type) -> Bool {
        guard let optional = theirs as? any OptionalMember, optional.wrappedMember == nil else {
            return false
        }
        let (theirs, mine) = (innermost(Swift.type(of: theirs)), innermost(type))
        return theirs != mine && !(theirs is any ModelField.Type && mine is any ModelField.Type)
    }

    private static func innermost(_ type: Any.Type) -> Any.Type {
        (type as? any OptionalMember.Type).map { innermost($0.wrappedType) } ?? type
    }

    /// Nil where they don't go together.
    private static func merged(_ mine: Any, _ theirs: Any) -> Any? {
        if let mine = mine as? any Model {
            guard let theirs = theirs as? any Model, let identifier = mine.modelIdentifier,
                theirs.modelIdentifier == identifier
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

    /// In their order: elements may have moved or gone.
    private static func merged(_ mine: [Any], _ theirs: [Any]) -> [Any]? {
        var known: [String: Any] = [:]
        for element in mine {
            if let identifier = (element as? any Model)?.modelIdentifier {
                known[identifier] = element
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
                    model.modelIdentifier.flatMap { known[$0] }
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

extension ModelMembers {
    // MARK: Comparing

    /// Whether two values of a member are the same.
    @inlinable
    public static func areEqual<Value: Equatable>(_ a: Value, _ b: Value) -> Bool { a == b }

    /// The same for models, and containers of models, that are not `Equatable`: by `isEqual(to:)`.
    @inlinable
    @_disfavoredOverload
    public static func areEqual<Value: ModelField>(_ a: Value, _ b: Value) -> Bool {
        a.isEqualField(to: b)
    }

    /// The same for any other value, by `==` if run time finds one: in the value itself, or in what
    /// an optional or an array holds. Objects without `==` are compared by identity. Values that
    /// can't be compared at all count as different, so that no change is missed. Costs a cast or
    /// more, about 100 ns each.
    @_disfavoredOverload
    public static func areEqual<Value>(_ a: Value, _ b: Value) -> Bool {
        switch a {
        case let a as any Equatable: return isSame(a, b)
        case let a as any ModelField: return isSameField(a, b)
        case let a as any OptionalMember:
            guard let b = b as? any OptionalMember else { return false }
            switch (a.wrappedMember, b.wrappedMember) {
            case (nil, nil): return true
            case (let a?, let b?): return areEqual(a, b)
            default: return false
            }
        case let a as [Any]:
            guard let b = b as? [Any] else { return false }
            return a.elementsEqual(b) { areEqual($0, $1) }
        default:
            guard type(of: a as Any) is AnyObject.Type, type(of: b as Any) is AnyObject.Type else {
                return false
            }
            return (a as AnyObject) === (b as AnyObject)
        }
    }

    static func isSame<Value: Equatable>(_ a: Value, _ b: Any) -> Bool {
        guard let b = b as? Value else { return false }
        return a == b
    }

    private static func isSameField<Value: ModelField>(_ a: Value, _ b: Any) -> Bool {
        guard let b = b as? Value else { return false }
        return a.isEqualField(to: b)
    }

    // MARK: Hashing

    /// Feeds the member to `hasher`.
    @inlinable
    public static func hash<Value: Hashable>(_ value: Value, into hasher: inout Hasher) {
        hasher.combine(value)
    }

    /// A member that is not `Hashable` adds nothing: equal models still hash alike.
    @inlinable
    @_disfavoredOverload
    public static func hash<Value>(_ value: Value, into hasher: inout Hasher) {}
}

/// An optional, found out at run time.
protocol OptionalMember {
    static var wrappedType: Any.Type { get }
    var wrappedMember: Any? { get }
}

extension Optional: OptionalMember {
    static var wrappedType: Any.Type { Wrapped.self }
    var wrappedMember: Any? { map { $0 } }
}

/// The rule by which a merge puts two versions of one field together.
///
/// ```swift
/// static let mergeRules: MergeRules = [
///     "title": .newest(by: "updatedAt"),
///     "tags": .union,
///     "comments": .append,
///     "firstSeen": .keepFirst,
///     "likes": .combined { (old: Int, new: Int) in max(old, new) },
/// ]
/// ```
///
/// A rule takes part where a node is merged and both sides have *fetched* the field: a value, or
/// the explicit null of a ``Field``. Where only one side has fetched the field, that side counts,
/// whatever the rule. A node that is replaced follows no rule.
///
/// The two sides are the stored record and the model; or, where one write has a node several times,
/// the first occurrence and a later one. A rule that does not fit a value overwrites: ``union`` and
/// ``append`` of anything but two arrays, and a function whose type the stored value does not fit.
///
/// All rules except functions are idempotent: merging a model twice in a row has the same result as
/// merging it once.
public struct MergeRule: Sendable {
    enum Kind: Sendable {
        case overwrite
        case keepFirst
        case newest(by: String)
        case union
        case append
        /// Returns the bytes of the merged value; nil if one of the values does not fit.
        case combined(@Sendable (_ old: ArraySlice<UInt8>, _ new: ArraySlice<UInt8>) -> [UInt8]?)
    }

    let kind: Kind

    /// The new value counts. Every field without a rule of its own has this one.
    ///
    /// Give it to a field that a ``newest(by:)`` names, if the field may go back to an older value.
    public static let overwrite = MergeRule(kind: .overwrite)

    /// The stored value stays.
    public static let keepFirst = MergeRule(kind: .keepFirst)

    /// The elements of the stored array in their order, then those of the new array that it lacks.
    ///
    /// Children are equal if they have the same identifier, all other elements if they are stored
    /// by the same bytes. An element that the new array has several times is added once. The rule
    /// serves sets, too. A child that is merged into the array keeps the record of its identifier.
    ///
    /// - Complexity: O(*n*) in the bytes of both arrays.
    public static let union = MergeRule(kind: .union)

    /// The elements of the stored array, then those of the new one.
    ///
    /// The elements at the start of the new array that repeat the end of the stored one are not
    /// added again: of several overlaps the longest counts. So a page that is merged twice changes
    /// nothing, and pages that overlap join.
    ///
    /// The array grows with each page and is never shortened: a write under
    /// ``WritePolicy/replace`` begins anew. A page that comes late, after the page that follows it,
    /// is added at the end: only the end of the stored array is compared.
    ///
    /// Elements are compared as by ``union``.
    ///
    /// - Complexity: O(*n*) in the bytes of both arrays.
    public static let append = MergeRule(kind: .append)

    /// The new value counts, unless the field `field` of the stored record is newer than that of
    /// the model.
    ///
    /// Both are compared in their stored forms: numbers and dates by value, strings and bytes by
    /// their bytes. Timestamps in strings compare rightly if all have one form and one time zone,
    /// such as `2026-02-03T04:05:06Z`. If the two are equal, if one is missing, or if they are of
    /// different kinds, the new value counts.
    ///
    /// The field that is named never goes back itself: it has the rule `newest(by:)` of its own
    /// name, unless the type gives it another one. Otherwise an old response would set it back, and
    /// a response of middle age would win afterwards.
    ///
    /// - Parameter field: The stored name of a field of the same type.
    /// - Returns: The rule.
    public static func newest(by field: String) -> MergeRule { MergeRule(kind: .newest(by: field)) }
}

// MARK: - Functions

extension MergeRule {
    /// A function of the stored and the new value.
    ///
    /// ```swift
    /// "likes": .combined { (old: Int, new: Int) in max(old, new) }
    /// ```
    ///
    /// The function runs on the threads of the cache: inside of a commit, again if the commit is
    /// repeated, and before the commit for a node that occurs several times in one write. It must
    /// not wait for the cache. It should be idempotent, because a response may be merged more than
    /// once. An occurrence of a node that equals what the write has of it already is not merged
    /// again. The function gets values alone, not models with an identifier.
    ///
    /// - Parameter body: Returns the merged value of the stored and the new one. If one of them
    ///   can't be read as `Value`, or if a value contains a model with an identifier, the function
    ///   is not called and the new value counts.
    /// - Returns: The rule.
    /// - Complexity: Decoding two values and encoding one.
    public static func combined<Value: FieldValue & SendableMetatype>(
        _ body: @escaping @Sendable (_ old: Value, _ new: Value) -> Value
    ) -> MergeRule {
        MergeRule(
            combining: { try Value.decodeValue(from: &$0) }, { try $0.encodeValue(into: $1) }, body)
    }

    /// A function of the stored and the new value, for types that are `Codable` alone.
    ///
    /// - Parameter body: Returns the merged value of the stored and the new one, as for the types
    ///   that are a ``FieldValue``.
    /// - Returns: The rule.
    /// - Complexity: Decoding two values and encoding one.
    @_disfavoredOverload
    public static func combined<Value: Codable & SendableMetatype>(
        _ body: @escaping @Sendable (_ old: Value, _ new: Value) -> Value
    ) -> MergeRule {
        MergeRule(
            combining: { try DecodingStrategy<Value>.of().decode(from: &$0) },
            { try EncodingStrategy<Value>.of().encode($0, into: $1) }, body)
    }

    /// Overwrites: a function can't combine models, whose fields are merged by their identifiers.
    ///
    /// - Parameter body: Not called.
    /// - Returns: The rule of a field without one.
    @available(
        *, deprecated,
        message: "a function can't combine models: each is merged into the record of its identifier"
    )
    public static func combined<Model: FieldValue & IdentifiedModel>(
        _ body: @escaping @Sendable (_ old: Model, _ new: Model) -> Model
    ) -> MergeRule { .overwrite }

    /// Overwrites: a function can't combine models, whose fields are merged by their identifiers.
    ///
    /// - Parameter body: Not called.
    /// - Returns: The rule of a field without one.
    @available(
        *, deprecated,
        message: "a function can't combine models: use .union or .append for arrays of models"
    )
    public static func combined<Model: FieldValue & IdentifiedModel>(
        _ body: @escaping @Sendable (_ old: [Model], _ new: [Model]) -> [Model]
    ) -> MergeRule { .overwrite }

    private init<Value>(
        combining decode: @escaping @Sendable (inout ValueDecoder) throws -> Value,
        _ encode: @escaping @Sendable (Value, ValueEncoder) throws -> Void,
        _ body: @escaping @Sendable (Value, Value) -> Value
    ) {
        self.init(
            kind: .combined { old, new in
                // A value that does not fit the function's type is no error of the write.
                try? StandaloneValue.merge(old, new, decode, encode, body)
            })
    }
}

/// The rules of a type, by the stored names of its fields. Fields without a rule are overwritten.
///
/// ```swift
/// struct Issue: Codable, NormalizedModel {
///     static let mergeRules: MergeRules = ["labels": .union, "title": .newest(by: "updatedAt")]
///     // ...
/// }
/// ```
///
/// A write follows the rules of the type that it stores. Another type over the same records has
/// rules of its own, or none. Two types with the same `projectionIdentifier` should have the same
/// rules: the type that a write meets first decides for both. An enum whose values are nodes is
/// merged as a whole and has no rules. A name that is no field of the type has no effect.
public struct MergeRules: Sendable, ExpressibleByDictionaryLiteral {
    /// A class, so that a copy of the rules costs one reference.
    private final class Table: Sendable {
        let rules: [Identifier: MergeRule]
        /// The fields that `newest(by:)` rules compare.
        let stamps: [String]

        init(_ rules: [Identifier: MergeRule]) {
            var all = rules
            var stamps: Set<Identifier> = []
            for case .newest(let field) in rules.values.map(\.kind) {
                stamps.insert(Identifier(field))
                if rules[Identifier(field)] == nil { all[Identifier(field)] = .newest(by: field) }
            }
            self.rules = all
            self.stamps = stamps.map(\.string)
        }
    }

    private let table: Table?

    /// Makes rules.
    ///
    /// - Parameter rules: The rules by the stored names of fields.
    public init(_ rules: [String: MergeRule] = [:]) {
        table =
            rules.isEmpty
            ? nil
            : Table(
                Dictionary(
                    rules.map { (Identifier($0), $1) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Makes rules from a literal. Of several rules for one field the last counts.
    ///
    /// - Parameter elements: The stored names of fields, each with its rule.
    public init(dictionaryLiteral elements: (String, MergeRule)...) {
        self.init(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }

    /// Whether every field is overwritten.
    public var isEmpty: Bool { table == nil }

    /// Returns the rule of a field; nil where the new value counts.
    subscript(name: Identifier) -> MergeRule? { table?.rules[name] }

    /// The fields that `newest(by:)` rules compare.
    var stamps: [String] { table?.stamps ?? [] }

    /// The rules by the names of their fields.
    var all: [Identifier: MergeRule] { table?.rules ?? [:] }
}

/// The rules of a type in one write, and the names of its fields that are declared as ``Field``. In
/// a record, an explicit null has the same byte as nil in an optional: only the type tells them
/// apart.
struct TypeRules: Sendable {
    let rules: MergeRules
    var fields: Set<Identifier> = []
}

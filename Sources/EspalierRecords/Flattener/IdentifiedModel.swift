/// A model that may have an identifier. With an identifier it is a node and gets a record of its
/// own; without one it stands inline in its parent's record.
///
/// Conform to `NormalizedModel` or `ConsistencyManagerModel`, which refine this protocol.
public protocol IdentifiedModel: Sendable {
    /// A globally unique string: of any length and any bytes, but not empty. Nil for a model that
    /// stands inline.
    var modelIdentifier: String? { get }

    /// The name that distinguishes this type from other types over the same records. Default: the
    /// type's name.
    ///
    /// The default is the innermost name. Types nested in different types, as code generators make
    /// them, may share it; two such types over the same identifiers count as one projection, and
    /// each replaces the other's fields. Return different names for them here.
    var projectionIdentifier: String { get }

    /// How a write treats the stored fields of the records, if its caller does not say. Default:
    /// ``WritePolicy/replace``.
    ///
    /// Return ``WritePolicy/merge`` for models that a server sends in parts. Nodes of such a type
    /// are merged wherever they stand in a tree, and so is each node of a tree whose root has such
    /// a type. A policy that a call gives applies to all nodes instead. The policy must not change
    /// while a cache is open.
    static var writePolicy: WritePolicy { get }

    /// How a merge puts two versions of a field together, by the stored names of the fields.
    /// Default: none, so that the new version counts.
    ///
    /// The rules are those of the type of each node, wherever it stands in the tree. A node that is
    /// replaced does not follow them. Declare them as a stored `static let`, which is made once.
    static var mergeRules: MergeRules { get }

    /// Whether the cache may keep models of this type in memory, and give the same model to several
    /// reads. Default: true for structs and enums, false for classes.
    ///
    /// Return false if a model depends on more than its record: if its initialiser looks at the
    /// clock, counts its calls, or holds an object that changes. Trees that contain such a model
    /// are decoded by each read.
    static var isCacheable: Bool { get }

    /// How old a record of this type may be for a read that accepts fresh records only. Default:
    /// nil, so that records do not expire.
    ///
    /// ```swift
    /// static var maxAge: Duration? { .hours(24) }  // or @Normalized(maxAge: .hours(24))
    /// ```
    ///
    /// The cache dates each record of such a type when it is written, by itself or as a part of
    /// another model, and keeps the age that holds at that time beside the date. Both are to the
    /// second. The age must not change while a cache is open.
    static var maxAge: Duration? { get }
}

extension IdentifiedModel {
    /// The type's name without its module and the types around it.
    public var projectionIdentifier: String { TypeName.of(Self.self) }

    /// ``WritePolicy/replace``.
    public static var writePolicy: WritePolicy { .replace }

    /// No rules.
    public static var mergeRules: MergeRules { [:] }

    /// True for structs and enums, false for classes.
    @inlinable
    public static var isCacheable: Bool { !(Self.self is AnyObject.Type) }

    /// None: records of the type do not expire.
    @inlinable
    public static var maxAge: Duration? { nil }
}

/// What a type says about the records of its models.
package struct TypeTraits {
    var policy = WritePolicy.replace
    var rules: MergeRules = [:]
    var maxAge: Duration?

    package init(policy: WritePolicy = .replace) { self.policy = policy }

    package init<Model: IdentifiedModel>(of type: Model.Type) {
        policy = Model.writePolicy
        rules = Model.mergeRules
        maxAge = Model.maxAge
    }
}

/// A node whose identifier follows from its `id`. `@Normalized` types with an `id` conform.
///
/// ```swift
/// @Normalized struct Person { let id: Int, name: String }
///
/// let ada = cache.read(Person.self, id: 1)  // the node Person:1
/// let first = try cache.identifiers(of: Person.self, limit: 20)
/// ```
public protocol NodeModel: IdentifiedModel {
    /// The type of `id`.
    associatedtype NodeID

    /// What the identifiers of all nodes of the type begin with, such as `Person:`.
    static var identifierPrefix: String { get }

    /// Returns the identifier of the node with an `id`.
    ///
    /// - Parameter id: The node's `id`.
    static func modelIdentifier(id: NodeID) -> String
}

/// The names of types in shapes.
package enum TypeName {
    /// Returns the name without its module, as `String(describing:)` gives it, from the runtime's
    /// own cache.
    ///
    /// Never inlined: where the optimiser sees the type, it puts in a name of its own, which for a
    /// private type is `(Name in _59A7...)`. Optimised and debug builds would then not recognise
    /// each other's records.
    @inline(never)
    package static func of(_ type: Any.Type) -> String { _typeName(type, qualified: false) }
}

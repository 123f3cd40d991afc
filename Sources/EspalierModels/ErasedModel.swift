public import EspalierRecords
import Synchronization

/// A model whose declared type is only a protocol: `any Model`, or `any Attachment` for an
/// `Attachment` protocol of the app that refines `Model`.
///
/// The record contains the name of the concrete type, by which a read finds it:
///
/// ```swift
/// protocol Attachment: Model {}
///
/// func encode(to encoder: inout RecordEncoder) throws {
///     try encoder.encode(ErasedModel<any Attachment>(attachment), forKey: "attachment")
/// }
///
/// init(from decoder: inout RecordDecoder) throws {
///     attachment = try decoder.decode(
///         ErasedModel<any Attachment>.self, forKey: "attachment"
///     ).model
/// }
/// ```
///
/// The concrete type must be a `NormalizedModel` or `Codable`, and a later process must be able to
/// find it by its name. Private and local types, and types that are generic over such types, cannot
/// be found: writing one fails. After a rename of the type, its module or an enclosing type, stored
/// values are misses; so are values whose type is not an `Existential`. For types whose names may
/// change, declare an enum with one case for each type instead.
///
/// A record that contains the value also contains the name of the type. Writing and reading takes
/// about 0.3 us more per value than for a concrete type. The first lookup of a type in a process
/// takes 60 us.
public struct ErasedModel<Existential> {
    /// The model.
    public let model: Existential

    /// Creates a value that contains `model`.
    public init(_ model: Existential) { self.model = model }
}

extension ErasedModel: Sendable where Existential: Sendable {}

extension ErasedModel: FieldValue {
    public func encodeValue(into encoder: ValueEncoder) throws {
        guard let model = model as? any IdentifiedModel else {
            throw FlattenError.notStorable(type: TypeName.of(type(of: model as Any)))
        }
        let type = type(of: model)
        guard let name = ModelTypeNames.ofProcess.name(of: type) else {
            throw FlattenError.modelFailed(
                type: TypeName.of(type),
                reason:
                    "Reads cannot find a private or local type by its name. Make it internal."
            )
        }
        try encoder.encodeArray(count: 2) {
            encoder.encode(name)
            try ModelStorage.encode(model, into: encoder)
        }
    }

    public static func decodeValue(from decoder: inout ValueDecoder) throws -> ErasedModel {
        try decoder.decodeTagged { name, decoder in
            guard let type = ModelTypeNames.ofProcess.type(named: name) else {
                throw ReadFailure(.undecodable("no model has the type name \(name)"))
            }
            guard let model = try ModelStorage.decode(type, from: &decoder) as? Existential else {
                throw ReadFailure(.undecodable("\(TypeName.of(type)) is not \(Existential.self)"))
            }
            return ErasedModel(model)
        }
    }
}

extension ErasedModel {
    public func hasSameEncoding(as other: ErasedModel) -> Bool {
        ModelStorage.haveSameEncoding(model, other.model)
    }
}

/// The model is the child if it is a `Model`. A replacement of any type that is an `Existential`
/// can take its place.
extension ErasedModel: ModelField {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> ErasedModel? {
        guard let child = model as? any Model else { return self }
        return (transform(child) as? Existential).map(ErasedModel.init)
    }

    public func forEachModel(_ visit: (any Model) -> Void) {
        if let child = model as? any Model { visit(child) }
    }
}

/// Two values are equal if their models have the same type and are equal by `==`, or by
/// `isEqualToModel` if the type is not `Equatable`.
extension ErasedModel: Equatable {
    public static func == (a: ErasedModel, b: ErasedModel) -> Bool {
        guard type(of: a.model as Any) == type(of: b.model as Any) else { return false }
        switch a.model {
        case let a as any Equatable: return ModelMembers.isSame(a, b.model)
        case let a as any ConsistencyManagerModel:
            return (b.model as? any ConsistencyManagerModel).map { a.isEqualToModel($0) } ?? false
        default: return false
        }
    }
}

extension ErasedModel: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type(of: model as Any)))
        if let model = model as? any Hashable { model.hash(into: &hasher) }
    }
}

// MARK: - Names of types

/// Maps the types of models to the names they are stored under, and back. The mapping is cached for
/// the life of the process, because the runtime takes about 60 us to find a type by its name.
///
/// A name is the mangled name without prefix, such as `5MyApp6PersonV`. It contains the module, the
/// enclosing types and the generic arguments, so a type that was moved or renamed is not found. The
/// name of a private or local type contains an address of this process, which identifies nothing in
/// another process: such types have no name here.
struct ModelTypeNames: ~Copyable {
    static let ofProcess = ModelTypeNames()

    private struct Known {
        /// `nil` for types that cannot be found by a name.
        var names: [ObjectIdentifier: String?] = [:]
        var types: [String: any IdentifiedModel.Type] = [:]
    }

    /// The most names and types that are cached. Names come from a file, and a generic type has any
    /// number of them. Names beyond the limit are resolved every time.
    private static let limit = 4_096
    private let known = Mutex(Known())

    /// Returns the name of `type`, or `nil` if no read could find the type by a name.
    func name(of type: any IdentifiedModel.Type) -> String? {
        let key = ObjectIdentifier(type)
        if let name = known.withLock({ $0.names[key] }) { return name }
        let name = _mangledTypeName(type).flatMap { name in
            _typeByName(name).map { $0 == type } == true ? name : nil
        }
        known.withLock { known in
            if known.names.count < Self.limit { known.names[key] = .some(name) }
        }
        return name
    }

    /// Returns the type with `name`, or `nil`. Failed lookups are not cached: the library that
    /// contains the type may be loaded later.
    func type(named name: String) -> (any IdentifiedModel.Type)? {
        if let type = known.withLock({ $0.types[name] }) { return type }
        guard let type = _typeByName(name) as? any IdentifiedModel.Type else { return nil }
        known.withLock { known in
            if known.types.count < Self.limit { known.types[name] = type }
        }
        return type
    }
}

public import EspalierRecords

/// A model of which a member's type says no more than a protocol: `any Model`, or `any Attachment`
/// for an `Attachment` of your own that refines `Model`.
///
/// Stored with the name of its type, so that a read finds it:
///
/// ```swift
/// protocol Attachment: Model {}
///
/// func encode(to encoder: inout RecordEncoder) throws {
///     try encoder.encode(ErasedModel<any Attachment>(attachment), forKey: "attachment")
/// }
///
/// init(from decoder: inout RecordDecoder) throws {
///     attachment = try decoder.decode(ErasedModel<any Attachment>.self, forKey: "attachment").model
/// }
/// ```
///
/// The model's type has to be a `NormalizedModel` or `Codable`, and to be found by its name in a
/// later process: private and local types are not, nor are types generic over such; writing one
/// fails its ticket. Renaming the type, its module or a type around it makes what was stored a
/// miss, as does reading a type that is not an `Existential`; for types that may change their names
/// declare an enum with a case for each instead.
///
/// Costs the type's name in each record that holds the value, and about 0.3 us a value more than
/// one of a known type, in writing and in reading. A type met for the first time in a process takes
/// 60 us.
public struct ErasedModel<Existential> {
    public let model: Existential

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
                    "a private or local type can't be found by its name when it is read; make it internal"
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
            guard let model = try decodeOpened(type, from: &decoder) as? Existential else {
                throw ReadFailure(.undecodable("\(TypeName.of(type)) is not \(Existential.self)"))
            }
            return ErasedModel(model)
        }
    }

    private static func decodeOpened<Model: IdentifiedModel>(
        _ type: Model.Type, from decoder: inout ValueDecoder
    ) throws -> any IdentifiedModel {
        try ModelStorage.decode(type, from: &decoder)
    }
}

/// The model is the child, if it is a `Model`; a replacement of any type that is an `Existential`
/// takes its place.
extension ErasedModel: ModelField {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> ErasedModel? {
        guard let child = model as? any Model else { return self }
        return (transform(child) as? Existential).map(ErasedModel.init)
    }

    public func forEachModel(_ visit: (any Model) -> Void) {
        if let child = model as? any Model { visit(child) }
    }
}

/// Two models of one type, by its `==`; by `isEqual` where it has none.
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

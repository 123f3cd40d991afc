/// How any model is stored, whatever it conforms to: for callers that know no more than
/// `IdentifiedModel`.
///
/// Example: `try ModelStorage.encode(model, into: encoder)`, where `model` may be an opened `any
/// ConsistencyManagerModel`.
package enum ModelStorage {
    /// Writes `model`: a reference and its record when it has an identifier, inline when not.
    ///
    /// Throws `FlattenError.notStorable` for a type that is neither a `FieldValue` nor `Encodable`,
    /// `.modelFailed` when the model's own `encode` throws.
    package static func encode<Model: IdentifiedModel>(_ model: Model, into encoder: ValueEncoder)
        throws
    {
        do {
            try encoder.flattener.bridge.strategy(for: Model.self).encode(model, into: encoder)
        } catch let error as FlattenError {
            throw error
        } catch {
            throw FlattenError.modelFailed(type: TypeName.of(Model.self), reason: "\(error)")
        }
    }

    /// Whether values of the type can be read at all.
    package static func isReadable<Model>(_ type: Model.Type) -> Bool {
        let strategy = DecodingStrategy<Model>.of()
        return Swift.type(of: strategy) != DecodingStrategy<Model>.self
    }

    /// Reads a value. Throws `ReadFailure(.notStorable)` for a type that is neither a `FieldValue`
    /// nor `Decodable`.
    package static func decode<Model>(_ type: Model.Type, from decoder: inout ValueDecoder) throws
        -> Model
    {
        try decoder.treeReader.bridge.strategy(for: type).decode(from: &decoder)
    }

    /// Reads the tree of the entry `identifier`, whose record has to name itself so.
    package static func decode<Model>(
        _ type: Model.Type, entry handle: Handle, identifier: String, of treeReader: TreeReader
    ) throws -> Model {
        try treeReader.entry(handle, identifier: identifier) { try decode(type, from: &$0) }
    }
}

@_exported public import EspalierConsistency
@_exported public import EspalierEncryption
@_exported public import EspalierInspection
@_exported public import EspalierModels
@_exported public import EspalierNormalized
@_exported public import EspalierProviders
@_exported public import EspalierRecords
@_exported public import EspalierStore
public import Foundation

extension DataModelManager {
    /// Decodes the models of a JSON document, merges them into the cache in one commit, and returns
    /// them with everything that is known of them. Screens that show one of them follow.
    ///
    /// ```swift
    /// let statuses = try await manager.ingest(data, as: [Status].self)
    /// ```
    ///
    /// - Parameters:
    ///   - data: The document: a JSON array of models.
    ///   - type: The type of the models.
    ///   - decoder: Decodes the document.
    /// - Returns: The merged models, in the order of the document.
    /// - Throws: `IngestError` for a document that can't be decoded; a `CacheError` if a model
    ///   can't be stored; `DataProviderError.notShared` if the manager does not use a
    ///   `NormalizedCache`.
    @discardableResult
    public func ingest<T: IdentifiedModel & Decodable>(
        _ data: Data, as type: [T].Type, decoder: JSONDecoder = JSONDecoder()
    ) async throws -> [T] {
        guard let cache = cacheDelegate as? NormalizedCache else {
            throw DataProviderError.notShared
        }
        return try await cache.ingest(data, as: type, decoder: decoder)
    }
}

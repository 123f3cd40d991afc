@_exported public import EspalierConsistency
@_exported public import EspalierEncryption
@_exported public import EspalierInspection
@_exported public import EspalierModels
@_exported public import EspalierNormalized
@_exported public import EspalierProviders
@_exported public import EspalierRecords
@_exported public import EspalierStore

extension DataModelManager {
    /// Creates a manager of data providers that are stored in a ``NormalizedCache``.
    ///
    /// ```swift
    /// let manager = DataModelManager(cache: try NormalizedCache(directory: path))
    /// ```
    ///
    /// - Parameter cache: The cache that the providers read from and write to. Use one manager for
    ///   a cache: providers of two managers are not kept consistent with each other.
    public convenience init(cache: NormalizedCache) { self.init(cacheDelegate: cache) }
}

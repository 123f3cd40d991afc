public import EspalierProviders
public import EspalierStore

extension DataModelManager {
    /// Data providers over the engine itself.
    ///
    /// ```swift
    /// let manager = DataModelManager(cache: try NormalizedCache(directory: path))
    /// ```
    public convenience init(cache: NormalizedCache) { self.init(cacheDelegate: cache) }
}

import EspalierStore

extension CacheArgument {
    /// Opens the cache for one snapshot of its records. It is closed when this returns: what is
    /// printed is copied before.
    func inspect<R>(_ body: (Inspection) throws -> R) throws(CommandFailure) -> R {
        let cache = try openExisting()
        defer { cache.close() }
        do {
            return try cache.inspect(body)
        } catch let error as CommandFailure {
            throw error
        } catch let error as CacheError {
            throw failure(error)
        } catch {
            throw CommandFailure("\(self.cache): \(error)")
        }
    }
}

import EspalierLMDB
import EspalierRecords

// What tools see: records and files, not models.
extension NormalizedCache {
    /// Lends one snapshot of the records, as of the writes submitted before. Blocks for those.
    /// Throws a `CacheError`, or what `body` throws.
    package func inspect<R>(_ body: (Inspection) throws -> R) throws -> R {
        guard !isClosed else { throw CacheError.closed }
        try engine.queue.catchUp()
        do {
            return try engine.inspect { try body(Inspection($0.snapshot, of: $1)) }
        } catch let error where error is LMDBError || error is FormatError {
            throw CacheError(error)
        }
    }

    /// The state of the files, the map and the reader table.
    package func condition() throws(CacheError) -> CacheCondition {
        guard !isClosed else { throw .closed }
        do {
            let directory = engine.directory
            return try engine.inspect { transaction, generation in
                try CacheCondition(transaction, generation, in: directory)
            }
        } catch {
            throw CacheError(error)
        }
    }
}

import EspalierLMDB
import EspalierRecords

extension NormalizedCache {
    /// Checks the whole cache like `verify()`, and if `deep` decodes everything in it, too: every
    /// value of every record is one, and every tree can be walked from its entry.
    ///
    ///     let report = try cache.verify(deep: true)
    ///     print(report.unreadableTrees, report.problems)
    ///
    /// What it finds beyond `verify()` has invariant 7, a value, or 8, a tree, with identifier and
    /// path as a miss has them. Records that were lost or left out of an import break trees, though
    /// not the cache. Threading: any thread; blocks. Cost: a walk of the cache, on one snapshot,
    /// with memory for some words a record and a reference. Errors: a closed cache.
    public func verify(deep: Bool) throws(CacheError) -> VerifyReport {
        guard deep else { return try verify() }
        guard !isClosed else { throw .closed }
        try engine.queue.catchUp()
        let depth = engine.configuration.limits.maximumDepth
        do {
            return try engine.inspect { transaction, generation in
                let report = try Verifier.verify(transaction, generation)
                let inspection = try Inspection(transaction.snapshot, of: generation)
                return try DeepVerifier.verify(inspection, maximumDepth: depth, after: report)
            }
        } catch {
            throw CacheError(error)
        }
    }
}

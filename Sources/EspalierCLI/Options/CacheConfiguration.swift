#if CommandLine
import EspalierRecords
import EspalierStore

extension Configuration {
    /// Returns the configuration with which the tool opens caches. Its limits let the tool store
    /// every document that the parser accepts and the budget allows, and read every record.
    static func commandLine(
        budget: SizeArgument? = nil, compression: Compression? = nil
    ) -> Configuration {
        var limits = TreeLimits()
        // One level of JSON is one level of the tree, below the levels of a collection, its
        // segments and their elements.
        limits.maximumDepth = JSONParser.defaultMaximumDepth + 8
        limits.maximumNodes = 100_000_000
        limits.maximumBytes = largestBudget.bytes
        return Configuration(
            budget: budget.map { ByteCount($0.bytes) } ?? Configuration().budget, limits: limits,
            // All models of a file are queued at once, and the queue must not drop any of them.
            queueLimit: largestBudget, compression: compression ?? .standard)
    }
}
#endif

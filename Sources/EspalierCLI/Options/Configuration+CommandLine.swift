import EspalierRecords
import EspalierStore

extension Configuration {
    /// How the tool opens caches: whatever the parser accepts can be stored, as far as the budget
    /// allows, and whatever is stored can be read.
    static func commandLine(
        budget: SizeArgument? = nil, compression: Compression? = nil
    ) -> Configuration {
        var limits = TreeLimits()
        // A level of JSON is a level of the tree; a collection puts its segments and their elements
        // around it.
        limits.maximumDepth = JSONParser.defaultMaximumDepth + 8
        limits.maximumNodes = 100_000_000
        limits.maximumBytes = largestBudget.bytes
        return Configuration(
            budget: budget.map { ByteCount($0.bytes) } ?? Configuration().budget, limits: limits,
            // All models of a file wait at once, and none may be dropped.
            queueLimit: largestBudget, compression: compression ?? .standard)
    }
}

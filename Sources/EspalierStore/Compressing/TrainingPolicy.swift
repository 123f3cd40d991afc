/// When dictionaries are trained: as soon as there is enough to learn from, again when there is
/// much more, and again when what is written has become unlike what they were trained on.
struct TrainingPolicy {
    /// Bytes of records before which nothing is learned.
    static let least: UInt64 = 48 << 10
    /// Trained again when so many times as much has been written, ...
    static let growth: UInt64 = 8
    /// ... up to this much, from which more samples do not make better dictionaries.
    static let most: UInt64 = 32 << 20
    /// How much worse than after training the ratio may become, in hundredths.
    static let drift: UInt64 = 115

    /// What is written must show it over a share of the budget, and over so many bytes at least.
    /// Where there are no dictionaries, because nothing was to be learned or they had to go, four
    /// such shares.
    static let leastSinceTraining: UInt64 = 256 << 10
    static let share: UInt64 = 16

    static func isDue(_ counters: Counters, _ dictionaries: DictionaryNumbers, budget: ByteCount)
        -> Bool
    {
        guard counters.rawBytes >= least else { return false }
        guard counters.trainedAt > 0 else { return true }
        if counters.trainedAt < most, counters.bytesWritten / growth >= counters.trainedAt {
            return true
        }
        // Too many since the budget was made smaller: time for them to go.
        if dictionaries.hasCurrent, dictionaries.byteCount > allowance(of: budget) { return true }
        let least = max(leastSinceTraining, UInt64(budget.bytes) / share)
        if !dictionaries.hasCurrent, counters.rawSinceTraining >= 4 * least { return true }
        guard counters.rawSinceTraining >= least else { return false }
        let ratio = counters.storedSinceTraining * 1_000 / counters.rawSinceTraining
        return ratio * 100 > counters.trainedRatio * drift
    }

    /// Bytes that dictionaries may take together: two in a hundred of the budget.
    static func allowance(of budget: ByteCount) -> Int { budget.bytes / 50 }

    /// Bytes of one set of dictionaries: records still need the one before, and a few the one
    /// before that.
    static func setAllowance(of budget: ByteCount) -> Int { allowance(of: budget) / 3 }
}

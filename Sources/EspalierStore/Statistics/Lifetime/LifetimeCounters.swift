/// What a cache has done over its life, in all processes. Stored with every commit, next to the
/// counters of what there is; damage to it costs the figures and nothing else.
///
/// The same type holds a part of it: what a process has done since its last commit.
struct LifetimeCounters: Hashable, Sendable {
    struct Evicted: Hashable, Sendable {
        var trees: UInt64 = 0
        var records: UInt64 = 0
        var bytes: UInt64 = 0
    }

    var hits: UInt64 = 0
    var commits: UInt64 = 0
    /// For the budget.
    var evicted = Evicted()
    /// Because the caller said so.
    var explicitlyEvicted = Evicted()
    var evictedGroups: UInt64 = 0
    var evictionRuns: UInt64 = 0
    var cycleCollections: UInt64 = 0
    /// Records that sweeps found on cycles nobody had flagged.
    var cycleRecordsFound: UInt64 = 0
    var evictionNanoseconds: UInt64 = 0
    var mapFullRecoveries: UInt64 = 0
    var longestEvictionNanoseconds: UInt64 = 0
    /// In seconds, from the youngest to the oldest.
    var victimAges: ClosedRange<UInt64>?
    var misses = ReasonCounts(limit: 16)
    /// The same misses by what was asked for.
    var missesByType = MissCounts()
    var droppedWrites = ReasonCounts(limit: 8)
    var generationsReplaced = ReasonCounts(limit: 8)
    var readLatency = LatencyHistogram()
    var commitLatency = LatencyHistogram()
    var timeline = Timeline()

    static let key = [UInt8]("statistics".utf8)
    /// What `bytes` never comes to more than, whatever was counted.
    static let longestForm = 4_000

    init() {}

    /// Those that are added up, each with that of `other`, in the order in which they are stored;
    /// new ones go to the end.
    mutating func forEachSum<E>(
        with other: LifetimeCounters, _ body: (inout UInt64, UInt64) throws(E) -> Void
    ) throws(E) {
        try body(&hits, other.hits)
        try body(&commits, other.commits)
        try body(&evicted.trees, other.evicted.trees)
        try body(&evicted.records, other.evicted.records)
        try body(&evicted.bytes, other.evicted.bytes)
        try body(&explicitlyEvicted.trees, other.explicitlyEvicted.trees)
        try body(&explicitlyEvicted.records, other.explicitlyEvicted.records)
        try body(&explicitlyEvicted.bytes, other.explicitlyEvicted.bytes)
        try body(&evictedGroups, other.evictedGroups)
        try body(&evictionRuns, other.evictionRuns)
        try body(&cycleCollections, other.cycleCollections)
        try body(&cycleRecordsFound, other.cycleRecordsFound)
        try body(&evictionNanoseconds, other.evictionNanoseconds)
        try body(&mapFullRecoveries, other.mapFullRecoveries)
    }

    static let sumCount = {
        var (counters, count) = (LifetimeCounters(), 0)
        counters.forEachSum(with: counters) { _, _ in count += 1 }
        return count
    }()

    /// Adds what was done meanwhile.
    static func += (counters: inout LifetimeCounters, delta: LifetimeCounters) {
        counters.forEachSum(with: delta) { $0 = $0.addingClamped($1) }
        counters.longestEvictionNanoseconds = max(
            counters.longestEvictionNanoseconds, delta.longestEvictionNanoseconds)
        counters.note(ages: delta.victimAges)
        counters.misses.merge(delta.misses)
        counters.missesByType.merge(delta.missesByType)
        counters.droppedWrites.merge(delta.droppedWrites)
        counters.generationsReplaced.merge(delta.generationsReplaced)
        counters.readLatency.merge(delta.readLatency)
        counters.commitLatency.merge(delta.commitLatency)
        counters.timeline.merge(delta.timeline)
    }

    /// Adds a run of the evictor. `ages` are those of its victims: the timeline of what is stored
    /// knows them.
    mutating func add(
        _ tally: EvictionCounts, for reason: Eviction.Reason, ages: ClosedRange<UInt64>?
    ) {
        let place: WritableKeyPath<LifetimeCounters, Evicted> =
            reason == .explicit ? \.explicitlyEvicted : \.evicted
        self[keyPath: place].trees = self[keyPath: place].trees.addingClamped(tally.trees)
        self[keyPath: place].records = self[keyPath: place].records.addingClamped(tally.records)
        self[keyPath: place].bytes = self[keyPath: place].bytes.addingClamped(tally.bytes)
        evictedGroups = evictedGroups.addingClamped(tally.groups)
        evictionRuns = evictionRuns.addingClamped(1)
        let spent = tally.spent.wholeNanoseconds
        evictionNanoseconds = evictionNanoseconds.addingClamped(spent)
        longestEvictionNanoseconds = max(longestEvictionNanoseconds, spent)
        note(ages: ages)
    }

    private mutating func note(ages: ClosedRange<UInt64>?) {
        guard let ages else { return }
        let known = victimAges ?? ages
        victimAges = min(known.lowerBound, ages.lowerBound)...max(known.upperBound, ages.upperBound)
    }

    /// What a new generation begins with in place of this one: all of it but the timeline, since
    /// stamps begin anew.
    var inNewGeneration: LifetimeCounters {
        var counters = self
        counters.timeline = Timeline()
        return counters
    }
}

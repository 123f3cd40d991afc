import EspalierRecords

/// What a cache has done over its life, in all processes.
///
/// Every commit stores it, next to the counters of the contents. Damage to it costs the figures and
/// nothing else. The same type holds what a process has done since its last commit.
package struct LifetimeCounters: Hashable, Sendable {
    struct Evicted: Hashable, Sendable {
        var trees: UInt64 = 0
        var records: UInt64 = 0
        var bytes: UInt64 = 0
    }

    var hits: UInt64 = 0
    var commits: UInt64 = 0
    /// Evicted to stay within the budget.
    var evicted = Evicted()
    /// Evicted at the caller's request.
    var explicitlyEvicted = Evicted()
    var evictedGroups: UInt64 = 0
    var evictionRuns: UInt64 = 0
    var cycleCollections: UInt64 = 0
    /// Records that collections of cycles found and no read or write had flagged.
    var cycleRecordsFound: UInt64 = 0
    var evictionNanoseconds: UInt64 = 0
    var mapFullRecoveries: UInt64 = 0
    /// Later occurrences of nodes in writes that replace, with other content than the first.
    var contradictions: UInt64 = 0
    var memory = MemoryCounts()
    var longestEvictionNanoseconds: UInt64 = 0
    /// The ages in seconds of the youngest and the oldest victim.
    var victimAges: ClosedRange<UInt64>?
    var misses = ReasonCounts(limit: 16)
    /// The same misses by the type that was asked for.
    var missesByType = MissCounts()
    var droppedWrites = ReasonCounts(limit: 8)
    var rejectedWrites = ReasonCounts(limit: 16)
    var generationsReplaced = ReasonCounts(limit: 12)
    var readLatency = LatencyHistogram()
    var commitLatency = LatencyHistogram()
    package var timeline = Timeline()

    static let key = [UInt8]("statistics".utf8)
    /// The most bytes that `bytes` takes, whatever was counted.
    static let longestForm = 4_000

    init() {}

    /// Calls `body` with each counter that is added up and the same counter of `other`, in the
    /// order in which they are stored. A new counter gets a field behind those of the ages instead,
    /// because older versions expect the ages here.
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

    /// Adds what was done since.
    static func += (counters: inout LifetimeCounters, delta: LifetimeCounters) {
        counters.forEachSum(with: delta) { $0 = $0.addingClamped($1) }
        counters.longestEvictionNanoseconds = max(
            counters.longestEvictionNanoseconds, delta.longestEvictionNanoseconds)
        counters.include(ages: delta.victimAges)
        counters.contradictions = counters.contradictions.addingClamped(delta.contradictions)
        counters.memory += delta.memory
        counters.misses.merge(delta.misses)
        counters.missesByType.merge(delta.missesByType)
        counters.droppedWrites.merge(delta.droppedWrites)
        counters.rejectedWrites.merge(delta.rejectedWrites)
        counters.generationsReplaced.merge(delta.generationsReplaced)
        counters.readLatency.merge(delta.readLatency)
        counters.commitLatency.merge(delta.commitLatency)
        counters.timeline.merge(delta.timeline)
    }

    /// Adds a run of the evictor.
    ///
    /// - Parameter ages: Those of its victims, which only the stored timeline knows.
    mutating func add(
        _ counts: EvictionCounts, for reason: Eviction.Reason, ages: ClosedRange<UInt64>?
    ) {
        let amount: WritableKeyPath<LifetimeCounters, Evicted> =
            reason == .explicit ? \.explicitlyEvicted : \.evicted
        self[keyPath: amount].trees = self[keyPath: amount].trees.addingClamped(counts.trees)
        self[keyPath: amount].records = self[keyPath: amount].records.addingClamped(counts.records)
        self[keyPath: amount].bytes = self[keyPath: amount].bytes.addingClamped(counts.bytes)
        evictedGroups = evictedGroups.addingClamped(counts.groups)
        evictionRuns = evictionRuns.addingClamped(1)
        let spent = counts.spent.wholeNanoseconds
        evictionNanoseconds = evictionNanoseconds.addingClamped(spent)
        longestEvictionNanoseconds = max(longestEvictionNanoseconds, spent)
        include(ages: ages)
    }

    private mutating func include(ages: ClosedRange<UInt64>?) {
        guard let ages else { return }
        let known = victimAges ?? ages
        victimAges = min(known.lowerBound, ages.lowerBound)...max(known.upperBound, ages.upperBound)
    }

    /// The counters with which the next generation begins: all but the timeline, because stamps
    /// begin anew.
    var inNewGeneration: LifetimeCounters {
        var counters = self
        counters.timeline = Timeline()
        return counters
    }
}

// MARK: - Stored form

/// The stored form, under `statistics` in the keyspace `info`:
///
///     statistics = count of fields (varint), fields (varints), count of parts (varint), parts,
///                  check (8 bytes, seed 0)
///     fields     = the sums, nanoseconds of the longest eviction, ages of the youngest and of the
///                  oldest victim plus 1, or 0, contradictions, hits, misses, stale reads and
///                  removals of the memory for trees, left out where they are 0
///     part       = length (varint), bytes
///     parts      = misses, dropped writes, generations replaced, read latency, commit latency,
///                  timeline, misses by type, rejected writes
///
/// The misses by type take the room that the others leave. A reader ignores fields and
/// parts that it does not know; missing ones are zero or empty.
extension LifetimeCounters {
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 1_024)
        // The last fields and parts are left out where they are empty, because every commit writes
        // this.
        let memoryFields = memory == MemoryCounts() ? [] : memory.fields
        writer.append(varint: UInt64(Self.sumCount + 4 + memoryFields.count))
        var copy = self
        copy.forEachSum(with: self) { writer.append(varint: $1) }
        writer.append(varint: longestEvictionNanoseconds)
        writer.append(varint: victimAges?.lowerBound.addingClamped(1) ?? 0)
        writer.append(varint: victimAges?.upperBound.addingClamped(1) ?? 0)
        writer.append(varint: contradictions)
        for count in memoryFields { writer.append(varint: count) }
        let hasRejected = !rejectedWrites.counts.isEmpty
        let last = hasRejected ? 2 : missesByType.isEmpty ? 0 : 1
        writer.append(varint: UInt64(6 + last))
        var form = ByteWriter(capacity: 1_024)
        func append(_ part: (inout ByteWriter) -> Void) {
            form.removeAll()
            part(&form)
            writer.append(varint: UInt64(form.count))
            writer.append(form)
        }
        append { misses.append(to: &$0) }
        append { droppedWrites.append(to: &$0) }
        append { generationsReplaced.append(to: &$0) }
        append { readLatency.append(to: &$0) }
        append { commitLatency.append(to: &$0) }
        append { timeline.append(to: &$0) }
        if last > 0 {
            var rejected = ByteWriter(capacity: hasRejected ? 256 : 0)
            if hasRejected { rejectedWrites.append(to: &rejected) }
            // The lengths of both forms take two bytes each, and the check eight.
            let room = Self.longestForm - writer.count - rejected.count - 12
            let form = missesByType.form(atMost: room)
            writer.append(varint: UInt64(form.count))
            writer.append(form)
            if hasRejected {
                writer.append(varint: UInt64(rejected.count))
                writer.append(rejected)
            }
        }
        writer.append(integer: writer.check(seed: 0))
        return writer.bytes
    }

    init(reading reader: inout ByteReader) throws(FormatError) {
        var reader = reader.limited(to: try reader.verifiedEnd(seed: 0))
        try readFields(&reader)
        for part in 0..<(try reader.count()) {
            let end = try reader.count() + reader.position
            var form = reader.limited(to: end)
            try readPart(part, &form)
            reader.position = end
        }
    }

    private mutating func readFields(_ reader: inout ByteReader) throws(FormatError) {
        let count = try reader.count()
        var fields: [UInt64] = []
        for _ in 0..<count { fields.append(try reader.varint()) }
        var values = fields[...]
        forEachSum(with: self) { field, _ in field = values.popFirst() ?? field }
        let rest = Array(fields.dropFirst(Self.sumCount) + Array(repeating: 0, count: 8))
        let (longest, youngest, oldest) = (rest[0], rest[1], rest[2])
        longestEvictionNanoseconds = longest
        contradictions = rest[3]
        memory = MemoryCounts(rest[4..<8])
        if youngest > 0, oldest >= youngest { victimAges = youngest - 1...oldest - 1 }
    }

    private mutating func readPart(_ part: Int, _ reader: inout ByteReader) throws(FormatError) {
        switch part {
        case 0: misses = try ReasonCounts(limit: misses.limit, reading: &reader)
        case 1: droppedWrites = try ReasonCounts(limit: droppedWrites.limit, reading: &reader)
        case 2:
            generationsReplaced = try ReasonCounts(
                limit: generationsReplaced.limit, reading: &reader)
        case 3: readLatency = try LatencyHistogram(reading: &reader)
        case 4: commitLatency = try LatencyHistogram(reading: &reader)
        case 5: timeline = try Timeline(reading: &reader)
        case 6: missesByType = try MissCounts(reading: &reader)
        case 7: rejectedWrites = try ReasonCounts(limit: rejectedWrites.limit, reading: &reader)
        default: break
        }
    }
}

import EspalierRecords

// Reads that find their tree in memory, and the ages of its records.
extension Engine {
    /// Returns what a read asks for if it is in memory and right in the last commit, and the read
    /// waits for no write. Counts it as a hit.
    ///
    /// Not generic: looking up the metadata of generic types takes longer than the rest.
    func remembered(
        _ target: ReadTarget, as value: Any.Type, _ consistency: Consistency, _ access: Access
    ) -> MemoryTree? {
        // First: the read that this one is a part of has to know, whatever becomes of this one.
        let isNested = ReadScope.noteRead()
        guard let memory, !isNested, !isInherited, target.isWhole,
            consistency == .snapshot || queue.isCaughtUp
        else { return nil }
        let start = ContinuousClock.now
        guard let tree = memory.find(target, as: value) else { return nil }
        if access == .touch, !configuration.isReadOnly { touch(tree) }
        statistics.countHit(took: ContinuousClock.now - start, of: tree.handle.rawValue)
        if target.freshness == .staleWhileRevalidate, tree.hasAges,
            generations.clock.second >= tree.ages.freshUntil
        {
            refetching.begin(target.type, target.identifier, in: flights)
        }
        return tree
    }

    /// Returns the outcome of a read that found its tree in memory; nil if the read asks for the
    /// date of a write that has just taken place.
    func outcome<Value>(_ tree: MemoryTree, isDated: Bool) -> ReadOutcome<Value>? {
        guard let tree = tree as? MemoryValue<Value>,
            let date = isDated ? tree.writtenAt : .some(nil)
        else { return nil }
        let judged =
            tree.hasAges
            ? ageRule(accepting: .stale, checksAll: false).judge(tree.ages)
            : (oldest: nil, isExpired: false)
        return .hit(
            Hit(
                value: tree.value, isCut: tree.isCut, recordCount: tree.recordCount,
                writtenAt: date, age: date.map { generations.clock.wallClock.age(of: $0) },
                oldestAge: judged.oldest, isExpired: judged.isExpired))
    }

    /// Returns the outcome of a read whose tree in memory is right after all: other processes have
    /// committed, but not to its records.
    func caughtUp<Value>(
        _ target: ReadTarget, _ memory: MemoryTier, _ access: Access
    ) -> ReadOutcome<Value>? {
        guard let tree = memory.find(target, as: Value.self) else { return nil }
        if access == .touch, !configuration.isReadOnly { touch(tree) }
        return outcome(tree, isDated: target.isDated)
    }

    /// Returns how a read judges ages.
    func ageRule(accepting freshness: Freshness, checksAll: Bool) -> AgeRule {
        AgeRule(
            acceptsExpired: freshness != .fresh,
            maxAge: generations.maxAge, checksAll: checksAll, clock: generations.clock)
    }

    private func touch(_ tree: MemoryTree) {
        let demand = committer.logs.accesses.touch(tree.handle, in: tree.source.generation.name)
        if demand != .nothing { queue.wakeWriter() }
    }
}

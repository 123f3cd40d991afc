import EspalierConfinement
import EspalierRecords
import Foundation

/// What a read has found. A value that was decoded is in a variable of the caller.
enum Finding {
    case memory(MemoryHit)
    case records(ReadOutcome<Void>)
}

/// A tree in memory that is what a read asks for.
package struct MemoryHit {
    let tree: MemoryTree
    /// When the root was written; nil also for a read that does not ask for it.
    let writtenAt: Date?
    /// How old the oldest record was; nil if none may expire.
    let oldestAge: Duration?
    let isExpired: Bool
    /// When the read ended.
    package let endedAt: Moment

    /// Returns the value; nil if the read asks for another type.
    @inline(__always)
    package func value<Value: Sendable>(as type: Value.Type) -> Value? {
        (tree as? MemoryValue<Value>)?.value
    }
}

// Reads that find their tree in memory, and the ages of its records.
extension Engine {
    /// Returns what a read asks for if it is in memory and right in the last commit, and the read
    /// waits for no write. Counts it as a hit.
    ///
    /// Not generic: looking up the metadata of generic types takes longer than the rest.
    func memoryHit(
        _ target: ReadTarget, as value: Any.Type, _ consistency: Consistency, _ access: Access
    ) -> MemoryHit? {
        // An enclosing read has to know of this one, even if this one finds nothing.
        let isNested = AppCodeScope.noteRead()
        guard let memory = lentMemory, !isNested, !isInherited, target.isWhole,
            consistency == .snapshot || !queue.hasPendingWrites
        else { return nil }
        let start = Moment.now
        guard let tree = memory.with({ $0.find(target, as: value) }),
            let hit = hit(tree, for: target)
        else { return nil }
        if access == .touch, !configuration.isReadOnly { touch(tree, at: start) }
        statistics.countHit(took: hit.endedAt.nanoseconds(since: start))
        refetch(target, ifExpired: hit.isExpired)
        return hit
    }

    /// Returns nil if the read asks for the date of a write that has just taken place.
    private func hit(_ tree: MemoryTree, for target: ReadTarget) -> MemoryHit? {
        guard let date = target.isDated ? tree.writtenAt : .some(nil) else { return nil }
        let judged =
            tree.hasAges
            ? ageRule(accepting: .stale, checksAll: false).judge(tree.ages)
            : (oldest: nil, isExpired: false)
        return MemoryHit(
            tree: tree, writtenAt: date, oldestAge: judged.oldest, isExpired: judged.isExpired,
            endedAt: .now)
    }

    /// Returns the outcome of a read. `value` is what it has decoded.
    @inline(__always)
    func outcome<Value>(of finding: Finding, _ value: Value?) -> ReadOutcome<Value> {
        switch finding {
        case .records(let outcome): outcome.with(value)
        case .memory(let known): outcome(of: known)
        }
    }

    /// Returns the value of a hit. `value` is what the read has decoded.
    @inline(__always)
    func value<Value: Sendable>(of finding: Finding, _ value: Value?) -> Value? {
        switch finding {
        case .memory(let known): known.value(as: Value.self)
        case .records(.hit): value
        case .records(.miss): nil
        }
    }

    func outcome<Value>(of known: MemoryHit) -> ReadOutcome<Value> {
        guard let value = known.value(as: Value.self) else { return .miss(.notFound) }
        return .hit(
            Hit(
                value: value, isCut: known.tree.isCut, recordCount: known.tree.recordCount,
                writtenAt: known.writtenAt,
                age: known.writtenAt.map { generations.clock.wallClock.age(of: $0) },
                oldestAge: known.oldestAge, isExpired: known.isExpired))
    }

    /// Returns the tree of a read if memory has it and the commits of other processes did not
    /// change its records.
    func memoryHitAfterCatchUp(
        _ target: ReadTarget, as value: Any.Type, _ memory: MemoryTier, _ access: Access
    ) -> MemoryHit? {
        guard let tree = memory.find(target, as: value), let hit = hit(tree, for: target)
        else { return nil }
        if access == .touch, !configuration.isReadOnly { touch(tree, at: .now) }
        return hit
    }

    /// Returns how a read judges ages.
    func ageRule(accepting freshness: Freshness, checksAll: Bool) -> AgeRule {
        AgeRule(
            acceptsExpired: freshness != .fresh,
            maxAge: generations.maxAge, checksAll: checksAll, clock: generations.clock)
    }

    private func touch(_ tree: MemoryTree, at time: Moment) {
        tree.lentSource.with { source in
            touch(CollectionOfOne(tree.handle), in: source.lineageName, at: time)
            if !tree.cycles.isEmpty { touch(tree.cycles, in: source.lineageName, at: time) }
        }
    }
}

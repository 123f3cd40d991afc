import EspalierLMDB
package import EspalierRecords
package import EspalierStore

/// What an eviction down to a size would evict.
///
/// ```swift
/// let preview = try cache.inspect { try $0.evictionPreview(to: .mebibytes(10)) }
/// print("\(preview.trees) trees of \(preview.records) records")
/// print("oldest: \(preview.oldest?.identifier ?? "none")")
/// ```
///
/// The evicted records and their order are exact for the snapshot of the preview, except around
/// cycles of 65 to 1,024 records, which the preview evicts as one. The end of the eviction is an
/// estimate, because only LMDB knows when a page becomes free. The preview does not see accesses
/// that no commit has stored yet, and does not list records that only lose their references.
/// Expired trees come first. The evictor looks for them in a part of a large cache at a time, and
/// may leave some for later.
package struct EvictionPreview: Sendable, Equatable {
    /// Trees that would lose their root. Records that they share with other trees stay.
    package internal(set) var trees = 0
    /// Evicted records of any kind, segments included.
    package internal(set) var records = 0
    /// The bytes of these records, as stored.
    package internal(set) var bytes = ByteCount(0)
    package internal(set) var oldest: PreviewedEviction?
    package internal(set) var youngest: PreviewedEviction?
    /// The bytes in use now, counted as the size to be reached is.
    package internal(set) var bytesInUse = ByteCount(0)
    /// An estimate of the bytes in use afterwards.
    package internal(set) var bytesLeft = ByteCount(0)
    /// Whether the size is reached. Pinned records and the records below them are never evicted.
    package internal(set) var isReached = false

    fileprivate mutating func add(_ eviction: PreviewedEviction) {
        if eviction.isTree { trees += 1 }
        // Evictions come in the order of the last access, apart from expired trees and from cycles
        // that wait for one another.
        let isOlder = eviction.stamp > .never && eviction.stamp < oldest?.stamp ?? .never
        if oldest == nil || oldest?.stamp == .never || isOlder { oldest = eviction }
        if eviction.stamp >= youngest?.stamp ?? .never { youngest = eviction }
    }
}

/// One eviction of an ``EvictionPreview``: a root, or the records of a cycle.
package struct PreviewedEviction: Sendable, Equatable {
    package let nameSpace: NameSpace
    /// The identifier of the root, or of one record of the cycle.
    package let identifier: String
    package let stamp: Stamp
    /// The time since its last access; nil if unknown.
    package let age: Duration?
    /// The number of records that are evicted at once: those of a cycle, or a collection with its
    /// segments.
    package let records: Int
    /// Whether it was unreferenced before the first eviction.
    package let isTree: Bool
}

extension Inspection {
    /// Returns what `NormalizedCache.evict(to:)` would evict now.
    ///
    /// - Parameters:
    ///   - bytes: The size to be reached.
    ///   - visit: A closure that receives every eviction, in order.
    /// - Throws: An error that `visit` throws, or an `LMDBError`.
    /// - Complexity: A look-up for each record of the cache and each record that would be evicted,
    ///   and an entry in memory for each record that these refer to.
    package func evictionPreview(
        to bytes: ByteCount, visit: (PreviewedEviction) throws -> Void = { _ in }
    ) throws -> EvictionPreview {
        let pages = try snapshot.pages()
        var simulation = try EvictionSimulation(self, pages)
        return try simulation.run(
            to: max(0, bytes.bytes - Generation.sideFiles) / pages.pageSize, visit: visit)
    }
}

extension CacheStatistics {
    /// The bytes of the pages in use and of the files beside them. `NormalizedCache.evict(to:)`
    /// reduces them, but not the length of the data file.
    package var bytesInUse: ByteCount { ByteCount(pageBytes.bytes + Generation.sideFiles) }
}

/// Simulates in memory what the evictor would do with one snapshot. It follows the same
/// ``EvictionPolicy`` in the same order, and writes nothing.
///
///     recency, as stored   Feed:1  Feed:2  Feed:3 ...
///     heap                 Message:7, Person:3: roots since Feed:1 was evicted, by stamp
///
/// The simulation is code of its own instead of an ``Evictor`` on a transaction that is aborted
/// afterwards. A preview must be possible for a tool that may not write to the file, and beside an
/// application that writes: a write transaction would hold LMDB's writer lock for as long as the
/// preview takes, and would need free pages, of which a full cache has few.
///
/// The simulation removes a collection and its segments at once; the evictor spreads that over
/// commits. Both release the elements under the same stamp.
private struct EvictionSimulation: EvictionGraph {
    private let inspection: Inspection
    private let ages: AccessAges
    private let usage: PageUsage
    /// The states that have changed. Evicted records stand in `gone` instead.
    private var states: [Handle: StateEntry] = [:]
    private var gone: Set<Handle> = []
    /// Records on large cycles that were detached from their children.
    private var detached: Set<Handle> = []
    /// Whether any record was detached, in the snapshot or since.
    private var hasDetached: Bool
    private var knownCycles = KnownCycles()
    /// The records that pins and optimistic changes keep, once they are needed.
    private var kept: Set<Handle>?
    private var heap = RecencyHeap()
    /// The last access of expired roots. They have moved to the front of `recency`.
    private var lastAccesses: [Handle: Stamp] = [:]
    private var pages: FreedPages
    private var preview = EvictionPreview()

    init(_ inspection: Inspection, _ usage: PageUsage) throws {
        self.inspection = inspection
        ages = try inspection.accessAges
        pages = try FreedPages(inspection, pageSize: usage.pageSize)
        self.usage = usage
        hasDetached = try inspection.snapshot.counters(inspection.keyspaces).detachments > 0
    }

    /// Evicts until no more than `target` pages are left, or nothing more can be evicted.
    mutating func run(
        to target: Int, visit: (PreviewedEviction) throws -> Void
    ) throws -> EvictionPreview {
        let snapshot = inspection.snapshot
        let isAbove = { (simulation: EvictionSimulation) in simulation.pagesLeft > target }
        if isAbove(self) { try moveExpired() }
        try snapshot.forEachRecencyEntry(inspection.keyspaces) { stored in
            while isAbove(self), let next = try nextOfHeap(before: stored) {
                try step(next, isTree: wasListed(next.handle), visit)
            }
            guard isAbove(self) else { return false }
            // A record that has changed stands in the heap. An entry that the record's state does
            // not know of is damage.
            guard states[stored.handle] == nil,
                try entry(stored.handle).recencyStamp == stored.stamp
            else { return true }
            try step(stored, isTree: true, visit)
            return true
        }
        while isAbove(self), let next = try nextOfHeap(before: nil) {
            try step(next, isTree: wasListed(next.handle), visit)
        }
        preview.bytesInUse = bytes(ofPages: usage.used)
        preview.bytesLeft = bytes(ofPages: pagesLeft)
        preview.isReached = !isAbove(self)
        return preview
    }

    private mutating func moveExpired() throws {
        for handle in try inspection.expiredRoots() {
            let stamp = try entry(handle).stamp
            // An earlier eviction has moved it.
            lastAccesses[handle] = stamp == Stamp(1) ? .never : stamp
            try change(handle) { $0.stamp = Stamp(1) }
        }
    }

    /// Returns whether the snapshot lists a record in `recency`.
    private func wasListed(_ handle: Handle) throws -> Bool {
        try inspection.state(of: handle)?.recencyStamp != nil
    }

    private var pagesLeft: Int { max(0, usage.used - pages.count) }

    private func bytes(ofPages count: Int) -> ByteCount {
        ByteCount(count * usage.pageSize + Generation.sideFiles)
    }

    private mutating func nextOfHeap(before limit: RecencyEntry?) throws -> RecencyEntry? {
        while let first = heap.first {
            if let limit, limit < first { return nil }
            heap.removeFirst()
            // Skips an entry whose record has another stamp by now, or was evicted.
            if try entry(first.handle).recencyStamp == first.stamp, !gone.contains(first.handle) {
                return first
            }
        }
        return nil
    }

    private mutating func step(
        _ oldest: RecencyEntry, isTree: Bool, _ visit: (PreviewedEviction) throws -> Void
    ) throws {
        // Taken out, so that the policy changes it without a copy.
        var known = KnownCycles()
        swap(&known, &knownCycles)
        let next = try EvictionPolicy.step(
            for: oldest.handle, in: self,
            searchLimit: EvictionPolicy.searchLimit(hasDetached: hasDetached), known: &known)
        swap(&known, &knownCycles)
        switch next {
        case .release(let handle): try finishRemoval(handle)
        case .evict(let handles, let stamp):
            guard let eviction = try evict(handles, accessedAt: stamp, isTree: isTree) else {
                return
            }
            preview.add(eviction)
            try visit(eviction)
        case .relist(let handle, let stamp): try change(handle) { $0.stamp = stamp }
        case .block(let handle, let externalReferences):
            for handle in [handle] + externalReferences { try change(handle) { $0.block() } }
        case .unflag(let handle): try change(handle) { $0.unflag() }
        case .detach(let handle):
            // The evictor moves these to the back of `recency`, where the preview does not get.
            guard oldest.stamp > Stamp(1), try !isKept(handle) else {
                return try change(handle) { $0.block() }
            }
            hasDetached = true
            for child in try children(handle) {
                try release(child, at: oldest.stamp, isPendingRemoval: false)
            }
            detached.insert(handle)
            knownCycles.noteDetachment(of: handle)
            try change(handle) { $0.unflag() }
        }
    }

    /// Returns whether a pin or an optimistic change keeps what is below a record.
    private mutating func isKept(_ handle: Handle) throws -> Bool {
        if let kept { return kept.contains(handle) }
        var open = try inspection.snapshot.keptHandles(inspection.keyspaces)
        var found = Set(open)
        while let record = open.popLast() {
            for child in try children(record) where found.insert(child).inserted {
                open.append(child)
            }
        }
        kept = found
        return found.contains(handle)
    }

    // MARK: The simulated cache

    func entry(_ handle: Handle) throws -> StateEntry {
        if gone.contains(handle) { return .unreferenced }
        // The evictor counts the references of a damaged entry. The simulation does not.
        return try states[handle] ?? inspection.state(of: handle) ?? .default
    }

    func children(_ handle: Handle) throws -> [Handle] {
        detached.contains(handle) ? [] : try record(handle)?.children ?? []
    }

    private func record(_ handle: Handle) throws -> Record? {
        guard !gone.contains(handle), case .record(let record) = try inspection.record(handle)
        else { return nil }
        return record
    }

    private mutating func change(_ handle: Handle, _ change: (inout StateEntry) -> Void) throws {
        let before = try entry(handle)
        var after = before
        change(&after)
        states[handle] = after
        pages.change(before, to: after)
        if let stamp = after.recencyStamp {
            heap.insert(RecencyEntry(stamp: stamp, handle: handle))
        }
    }

    private mutating func remove(_ handle: Handle) throws {
        pages.change(try entry(handle), to: .default)
        pages.remove(handle)
        states[handle] = nil
        gone.insert(handle)
    }

    // MARK: Evicting

    private mutating func evict(
        _ handles: [Handle], accessedAt stamp: Stamp, isTree: Bool
    ) throws -> PreviewedEviction? {
        let members = Set(handles)
        let recordsBefore = preview.records
        var first: Record?
        for handle in handles {
            guard let record = try record(handle) else {
                try remove(handle)
                continue
            }
            first = first ?? record
            let isPendingRemoval = handles.count == 1 && record.nameSpace == .collection
            let children = try children(handle)
            try erase(record)
            for child in children where !members.contains(child) {
                if isPendingRemoval { try eraseSegment(child, accessedAt: stamp) }
                try release(child, at: stamp, isPendingRemoval: isPendingRemoval)
            }
        }
        // Records that an expired tree releases take its place in the order. The time of their last
        // access is not known.
        let isRest = stamp == Stamp(1) && !lastAccesses.isEmpty
        let lastAccess = handles.first.flatMap { lastAccesses[$0] } ?? (isRest ? .never : stamp)
        return first.map {
            PreviewedEviction(
                nameSpace: $0.nameSpace, identifier: $0.identifier, stamp: lastAccess,
                age: ages.age(of: lastAccess), records: preview.records - recordsBefore,
                isTree: isTree)
        }
    }

    private mutating func erase(_ record: Record) throws {
        preview.records += 1
        preview.bytes = ByteCount(preview.bytes.bytes + record.storedByteCount)
        try remove(record.handle)
    }

    /// Erases a segment with its collection: nothing else refers to it.
    private mutating func eraseSegment(_ handle: Handle, accessedAt stamp: Stamp) throws {
        guard let segment = try record(handle), segment.nameSpace == .segment else { return }
        try erase(segment)
        for element in segment.children { try release(element, at: stamp, isPendingRemoval: true) }
    }

    /// Releases a child of an evicted record, or of one that is pending removal, as
    /// `ReferenceCounts` does.
    private mutating func release(
        _ handle: Handle, at stamp: Stamp, isPendingRemoval: Bool
    ) throws {
        guard !gone.contains(handle) else { return }
        try change(handle) {
            isPendingRemoval
                ? $0.dropReference(removedAt: stamp) : $0.dropReference(evictedAt: stamp)
        }
        let entry = try entry(handle)
        if entry.referenceCount == 0, !entry.flags.isDisjoint(with: [.tombstone, .nameless]) {
            try remove(handle)
        }
    }

    /// Finishes a removal that was pending in the snapshot. Its record has no index entry any more
    /// and does not count as a previewed eviction.
    private mutating func finishRemoval(_ handle: Handle) throws {
        let entry = try entry(handle)
        let record = entry.released == StateEntry.allReleased ? nil : try record(handle)
        try remove(handle)
        for child in record?.children.dropFirst(Int(clamping: entry.released)) ?? [] {
            if record?.nameSpace == .collection { try eraseSegment(child, accessedAt: entry.stamp) }
            try release(child, at: entry.stamp, isPendingRemoval: true)
        }
    }
}

import EspalierLMDB
import EspalierRecords

/// Evicts in memory what the evictor would, over one snapshot: the same rule, the same order,
/// nothing written.
///
///     recency, as stored   Feed:1  Feed:2  Feed:3 ...
///     heap                 Message:7, Person:3: became roots when Feed:1 went, and take their turn by their stamp
///
/// A collection goes with its segments at once, which the evictor spreads over commits: what it
/// refers to is released under the same stamp either way.
struct EvictionSimulation: EvictionGraph {
    private let inspection: Inspection
    private let ages: AccessAges
    private let usage: PageUsage
    /// States as they have become. A record that is gone has none in it, and is in `gone`.
    private var states: [Handle: StateEntry] = [:]
    private var gone: Set<Handle> = []
    private var heap = RecencyHeap()
    private var pages: FreedPages
    private var preview = EvictionPreview()

    init(_ inspection: Inspection, _ usage: PageUsage) throws {
        self.inspection = inspection
        ages = try inspection.accessAges
        pages = try FreedPages(inspection.snapshot, inspection.keyspaces, pageSize: usage.pageSize)
        self.usage = usage
    }

    /// Evicts until no more than `target` pages are left, or nothing more can go.
    mutating func run(
        to target: Int, visit: (EvictionPreview.Victim) throws -> Void
    ) throws -> EvictionPreview {
        let snapshot = inspection.snapshot
        let isAbove = { (simulation: EvictionSimulation) in simulation.pagesLeft > target }
        try snapshot.forEach(in: inspection.keyspaces.recency) { key, _ in
            guard let pair = KeyPair(key) else { return true }
            let listing = RecencyEntry(stamp: Stamp(pair.first), handle: Handle(pair.second))
            while isAbove(self), let next = try nextOfHeap(before: listing) {
                try step(next, isTree: false, visit)
            }
            guard isAbove(self) else { return false }
            // What has changed stands in the heap; what the state does not list there is damage.
            guard states[listing.handle] == nil,
                try entry(listing.handle).recencyStamp == listing.stamp
            else { return true }
            try step(listing, isTree: true, visit)
            return true
        }
        while isAbove(self), let next = try nextOfHeap(before: nil) {
            try step(next, isTree: false, visit)
        }
        preview.bytesInUse = bytes(ofPages: usage.used)
        preview.bytesLeft = bytes(ofPages: pagesLeft)
        preview.isReached = !isAbove(self)
        return preview
    }

    private var pagesLeft: Int { max(0, usage.used - pages.count) }

    private func bytes(ofPages count: Int) -> ByteCount {
        ByteCount(count * usage.pageSize + Generation.sideFiles)
    }

    private mutating func nextOfHeap(before limit: RecencyEntry?) throws -> RecencyEntry? {
        while let first = heap.first {
            if let limit, limit < first { return nil }
            heap.removeFirst()
            // It has been listed anew since, or is gone.
            if try entry(first.handle).recencyStamp == first.stamp, !gone.contains(first.handle) {
                return first
            }
        }
        return nil
    }

    private mutating func step(
        _ listing: RecencyEntry, isTree: Bool, _ visit: (EvictionPreview.Victim) throws -> Void
    ) throws {
        switch try EvictionRule.step(for: listing.handle, in: self) {
        case .release(let handle): try finishRemoval(handle)
        case .evict(let handles, let stamp):
            guard let victim = try evict(handles, accessedAt: stamp, isTree: isTree) else { return }
            preview.add(victim)
            try visit(victim)
        case .relist(let handle, let stamp): try change(handle) { $0.stamp = stamp }
        case .block(let handle, let externalReferences):
            for handle in [handle] + externalReferences { try change(handle) { $0.block() } }
        case .unflag(let handle): try change(handle) { $0.unflag() }
        }
    }

    // MARK: The cache as it has become

    func entry(_ handle: Handle) throws -> StateEntry {
        if gone.contains(handle) { return .unreferenced }
        // What a damaged entry says is not known; the evictor counts then, which this does not.
        return try states[handle] ?? inspection.state(of: handle) ?? .default
    }

    func children(_ handle: Handle) throws -> [Handle] { try record(handle)?.children ?? [] }

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
        pages.note(before, after)
        if let stamp = after.recencyStamp {
            heap.insert(RecencyEntry(stamp: stamp, handle: handle))
        }
    }

    private mutating func remove(_ handle: Handle) throws {
        pages.note(try entry(handle), .default)
        pages.remove(handle)
        states[handle] = nil
        gone.insert(handle)
    }

    // MARK: Taking away

    private mutating func evict(
        _ handles: [Handle], accessedAt stamp: Stamp, isTree: Bool
    ) throws -> EvictionPreview.Victim? {
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
            try erase(record)
            for child in record.children where !members.contains(child) {
                if isPendingRemoval { try eraseSegment(child, accessedAt: stamp) }
                try release(child, at: stamp, isPendingRemoval: isPendingRemoval)
            }
        }
        return first.map {
            EvictionPreview.Victim(
                nameSpace: $0.nameSpace, identifier: $0.identifier, stamp: stamp,
                age: ages.age(of: stamp),
                records: preview.records - recordsBefore, isTree: isTree)
        }
    }

    private mutating func erase(_ record: Record) throws {
        preview.records += 1
        preview.bytes = ByteCount(preview.bytes.bytes + record.storedByteCount)
        try remove(record.handle)
    }

    /// Nothing but its collection refers to a segment.
    private mutating func eraseSegment(_ handle: Handle, accessedAt stamp: Stamp) throws {
        guard let segment = try record(handle), segment.nameSpace == .segment else { return }
        try erase(segment)
        for element in segment.children { try release(element, at: stamp, isPendingRemoval: true) }
    }

    /// As the counts releases what an evicted or a dying record referred to.
    private mutating func release(_ handle: Handle, at stamp: Stamp, isPendingRemoval: Bool) throws
    {
        guard !gone.contains(handle) else { return }
        try change(handle) {
            isPendingRemoval ? $0.drop(removedAt: stamp) : $0.drop(evictedAt: stamp)
        }
        let entry = try entry(handle)
        if entry.referenceCount == 0, !entry.flags.isDisjoint(with: [.tombstone, .nameless]) {
            try remove(handle)
        }
    }

    /// What was dying before: it has no name any more, and is no victim.
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

import EspalierLMDB
import EspalierRecords
import EspalierStore

/// An estimate of how many pages deletes would free in the keyspaces of records.
struct FreedPages {
    private var index: SharedPages
    private var nodes: SharedPages
    /// The pages of each record that stands in chunks.
    private var long: [Handle: Int] = [:]
    private var freedLongPages = 0
    // Too small to be followed leaf by leaf: estimated by their share of the entries.
    private var state: EntryPages
    private var recency: EntryPages

    init(_ inspection: Inspection, pageSize: Int) throws {
        let (snapshot, keyspaces) = (inspection.snapshot, inspection.keyspaces)
        // The rules of `IndexGroups` and `ContainerWriter`.
        index = SharedPages(limit: pageSize - 16, mergedFill: 90)
        // A frame keeps its head and its check as long as it has a record: a tenth of its bytes.
        nodes = SharedPages(limit: pageSize - 16, mergedFill: 95, fixedShare: 10)
        // Pages and groups are partly empty. A state takes about 4 bytes, and an entry of `recency`
        // 5.
        var states = 0
        try snapshot.forEachState(keyspaces) { _, _ in states += 1 }
        state = EntryPages(
            pages: try snapshot.statistics(of: keyspaces.state).pages, entries: states,
            entriesOfPage: 400)
        recency = EntryPages(
            pages: try snapshot.statistics(of: keyspaces.recency).pages,
            entries: try snapshot.recencyCount(keyspaces), entriesOfPage: 400)
        try snapshot.forEachIndexGroup(keyspaces) { index.append(bytes: $0, of: $1) }
        try addContainers(inspection)
        try snapshot.forEachKey(in: keyspaces.long, from: [UInt8]()) { key in
            if let key = ChunkKey(key) { long[Handle(key.number), default: 0] += 1 }
            return true
        }
    }

    private mutating func addContainers(_ inspection: Inspection) throws {
        var containers: [(key: UInt64, bytes: Int)] = []
        try inspection.snapshot.forEach(in: inspection.keyspaces.nodes) { key, value in
            if let key = Handle(key: key) {
                containers.append((key.rawValue, value.byteCount))
            }
            return true
        }
        var position = 0
        var handles: [Handle] = []
        try inspection.stored.forEach { found in
            guard case .block(let block) = found else { return true }
            while position + 1 < containers.count,
                containers[position + 1].key <= block.first.rawValue
            {
                nodes.append(bytes: containers[position].bytes, of: handles)
                handles.removeAll()
                position += 1
            }
            handles += block.handles
            return true
        }
        if !handles.isEmpty { nodes.append(bytes: containers[position].bytes, of: handles) }
    }

    /// Deletes the bytes and the name of a record.
    mutating func remove(_ handle: Handle) {
        index.remove(handle)
        nodes.remove(handle)
        freedLongPages += long.removeValue(forKey: handle) ?? 0
    }

    /// Changes the state of a record.
    mutating func change(_ before: StateEntry, to after: StateEntry) {
        state.lost += (before.isDefault ? 0 : 1) - (after.isDefault ? 0 : 1)
        recency.lost += (before.isInRecency ? 1 : 0) - (after.isInRecency ? 1 : 0)
    }

    /// The pages freed so far.
    var count: Int {
        nodes.freedCount + index.freedCount + freedLongPages + state.freedCount
            + recency.freedCount
    }
}

/// The pages of small entries, which are freed by the share of the entries that go.
private struct EntryPages {
    let pages: Int
    let entries: Int
    /// The entries that a page gets.
    let entriesOfPage: Int
    /// The number of entries that the keyspace loses, less the number that it gains.
    var lost = 0

    /// The pages freed so far: fewer than 0 if the keyspace gains entries. The children of a
    /// collection get entries of their own when the collection is removed.
    var freedCount: Int {
        guard lost > 0, entries > 0 else { return lost / entriesOfPage }
        return Int(Double(lost) / Double(entries) * Double(pages))
    }
}

/// Pages that each hold something of several records, as deletes would leave them: a page that is
/// less than half full takes in a neighbour if both fit in a part of a page.
///
/// The groups of the index and the containers are such pages. An estimate by the share of bytes
/// alone is a fifth too high where the order of eviction is not that of the pages.
struct SharedPages {
    private struct Page {
        var bytes: Int
        var count: Int
        var left: Int?
        var right: Int?
        /// The page that this one was merged into.
        var successor: Int?
    }

    private var pages: [Page] = []
    private var pageOf: [Handle: Int] = [:]
    private let limit: Int
    /// The most bytes of two pages that are merged.
    private let mergedLimit: Int
    /// The share of a page that stays when entries go, in hundredths.
    private let fixedShare: Int
    /// The pages freed so far.
    private(set) var freedCount = 0

    /// - Parameters:
    ///   - limit: The most bytes of a page.
    ///   - mergedFill: How full a merged page may be, in hundredths.
    ///   - fixedShare: The share of a page that stays as long as it has an entry, in hundredths.
    init(limit: Int, mergedFill: Int, fixedShare: Int = 0) {
        self.limit = limit
        self.fixedShare = fixedShare
        mergedLimit = limit * mergedFill / 100
    }

    /// Adds a page behind all others.
    mutating func append(bytes: Int, of handles: [Handle]) {
        let number = pages.count
        if number > 0 { pages[number - 1].right = number }
        pages.append(
            Page(bytes: bytes, count: handles.count, left: number > 0 ? number - 1 : nil))
        for handle in handles { pageOf[handle] = number }
    }

    /// Deletes what a page holds of a record.
    mutating func remove(_ handle: Handle) {
        guard var number = pageOf.removeValue(forKey: handle) else { return }
        while let successor = pages[number].successor { number = successor }
        let page = pages[number]
        guard page.count > 0 else { return }
        pages[number].bytes -= page.bytes * (100 - fixedShare) / 100 / page.count
        pages[number].count -= 1
        if pages[number].count == 0 {
            freedCount += 1
            unlink(number)
        } else if pages[number].bytes < limit / 2 {
            merge(number)
        }
    }

    private mutating func merge(_ number: Int) {
        let room = mergedLimit - pages[number].bytes
        let neighbours = [pages[number].right, pages[number].left]
        guard
            let neighbour = neighbours.compactMap(\.self).first(where: { pages[$0].bytes <= room })
        else { return }
        pages[neighbour].bytes += pages[number].bytes
        pages[neighbour].count += pages[number].count
        pages[number].successor = neighbour
        freedCount += 1
        unlink(number)
    }

    private mutating func unlink(_ number: Int) {
        let (left, right) = (pages[number].left, pages[number].right)
        if let left { pages[left].right = right }
        if let right { pages[right].left = left }
    }
}

import EspalierRecords

@testable import EspalierStore

/// A graph of a few records in memory, and what is to be done with each of them by definition: all
/// paths looked at.
struct MemoryGraph: EvictionGraph {
    /// Handles 1 to `count`.
    let count: Int
    /// Bit b of row a: record a + 1 refers to record b + 1.
    private let rows: [UInt64]
    /// References that none of them makes.
    var outside: [UInt64]
    var stamps: [UInt64]
    var flags: [StateEntry.Flags]

    /// Bit `count * a + b` of `edges` is an edge from record a + 1 to record b + 1.
    init(count: Int, edges: UInt64) {
        self.count = count
        rows = (0..<count).map { edges >> UInt64(count * $0) & (1 << UInt64(count) - 1) }
        outside = Array(repeating: 0, count: count)
        stamps = Array(repeating: 0, count: count)
        flags = Array(repeating: [], count: count)
    }

    func entry(_ handle: Handle) -> StateEntry {
        let record = index(handle)
        let inner = rows.count { $0 >> UInt64(record) & 1 == 1 }
        return StateEntry(
            referenceCount: outside[record] + UInt64(inner), stamp: Stamp(stamps[record]),
            flags: flags[record])
    }

    func children(_ handle: Handle) -> [Handle] { handles(rows[index(handle)]) }

    private func index(_ handle: Handle) -> Int { Int(handle.rawValue) - 1 }

    private func handles(_ bits: UInt64) -> [Handle] {
        (0..<count).filter { bits >> UInt64($0) & 1 == 1 }.map { Handle(UInt64($0) + 1) }
    }

    // MARK: By definition

    /// Bit b of row a: there is a path, of one reference or more, from a to b.
    private var paths: [UInt64] {
        var paths = rows
        for middle in 0..<count {
            for start in 0..<count where paths[start] >> UInt64(middle) & 1 == 1 {
                paths[start] |= paths[middle]
            }
        }
        return paths
    }

    /// The records of the handle's strongly connected component; none where no path leads back to
    /// it.
    func component(of handle: Handle) -> [Handle] {
        let paths = paths
        let record = index(handle)
        return handles(paths[record]).filter { paths[index($0)] >> UInt64(record) & 1 == 1 }
    }

    /// How many records can be reached from one, itself included.
    func reach(of handle: Handle) -> Int {
        (paths[index(handle)] | 1 << UInt64(index(handle))).nonzeroBitCount
    }

    /// How many records of `group` refer to the handle.
    func references(to handle: Handle, within group: [Handle]) -> UInt64 {
        UInt64(group.count { children($0).contains(handle) })
    }

    func expectedStep(for handle: Handle, regardlessOfAge: Bool, searchLimit: Int) -> EvictionStep {
        let entry = entry(handle)
        if entry.flags.contains(.pendingRemoval), !entry.flags.contains(.blocked) {
            return .release(handle)
        }
        if entry.referenceCount == 0 { return .evict([handle], stamp: entry.stamp) }
        guard reach(of: handle) <= searchLimit else {
            return .block(handle, externalReferences: [])
        }
        let group = component(of: handle)
        guard !group.isEmpty else { return .unflag(handle) }
        let externalReferences = group.filter {
            self.entry($0).referenceCount > references(to: $0, within: group)
        }
        guard externalReferences.isEmpty else {
            return .block(handle, externalReferences: externalReferences)
        }
        let newest = group.map { self.entry($0).stamp }.max() ?? entry.stamp
        return newest == entry.stamp || regardlessOfAge
            ? .evict(group, stamp: newest) : .relist(handle, stamp: newest)
    }
}

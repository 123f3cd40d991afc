import EspalierRecords

/// Neighbouring intervals of a group of the index that are written anew, because names among them
/// are added or removed.
///
/// Each changed interval is written together with the one before and the one behind it. What tells
/// a new name from the names beside it is then among the entries of the patch, and intervals that
/// have become short are joined.
struct IndexPatch {
    /// The intervals to replace.
    let intervals: Range<Int>
    /// The positions of the changes among those of the group.
    let removals: Range<Int>
    let additions: Range<Int>
    /// The entries of the intervals.
    var list: IndexEntryList
}

extension IndexPatch {
    /// Returns the patches of a group for changes in ascending order, with the entries as they are
    /// stored. Returns none if more than half of the intervals would change: to write the whole
    /// group is then as fast.
    static func patches(
        of group: IndexGroup, removals: ArraySlice<IndexChange>, additions: ArraySlice<IndexChange>
    ) throws(FormatError) -> [IndexPatch] {
        let removed = try intervals(of: removals, in: group)
        let added = try intervals(of: additions, in: group)
        let ranges = merged(removed + added, in: group)
        let count = ranges.reduce(0) { $0 + $1.count }
        guard count <= group.intervalCount / 2 else { return [] }
        var patches: [IndexPatch] = []
        for range in ranges {
            patches.append(
                IndexPatch(
                    intervals: range, removals: positions(in: range, removed, removals),
                    additions: positions(in: range, added, additions),
                    list: try group.entries(of: range)))
        }
        return patches
    }

    private static func intervals(
        of changes: ArraySlice<IndexChange>, in group: IndexGroup
    ) throws(FormatError) -> [Int] {
        var intervals: [Int] = []
        for change in changes {
            intervals.append(try group.interval(of: change.key, from: intervals.last ?? 0))
        }
        return intervals
    }

    /// Returns the ranges of intervals that the given ones and their neighbours form.
    private static func merged(_ intervals: [Int], in group: IndexGroup) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for interval in intervals.sorted() {
            let range = max(0, interval - 1)..<min(interval + 2, group.intervalCount)
            if let last = ranges.last, range.lowerBound <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
            } else {
                ranges.append(range)
            }
        }
        return ranges
    }

    /// Returns the positions of the changes that stand in some intervals.
    private static func positions(
        in range: Range<Int>, _ intervals: [Int], _ changes: ArraySlice<IndexChange>
    ) -> Range<Int> {
        let start = intervals.firstIndex { $0 >= range.lowerBound } ?? intervals.count
        let end = intervals.firstIndex { $0 >= range.upperBound } ?? intervals.count
        return changes.startIndex + start..<changes.startIndex + end
    }
}

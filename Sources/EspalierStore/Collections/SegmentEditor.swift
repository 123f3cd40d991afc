import EspalierLMDB
import EspalierRecords

/// Edits the segments of one collection: an edit reads and writes the segments it touches, no
/// others.
struct SegmentEditor {
    let commit: CommitTransaction
    private(set) var list: SegmentList

    init(commit: CommitTransaction, list: SegmentList) {
        self.commit = commit
        self.list = list
    }

    // MARK: Edits

    /// New content in place of all, in the segments that are there: what does not change is not
    /// written.
    mutating func replaceAll(_ elements: [StoredElement], in transaction: inout WriteTransaction)
        throws
    {
        var start = 0
        var segments: [SegmentList.Segment] = []
        for (number, size) in SegmentSplitter.sizes(for: elements.count).enumerated() {
            let handle =
                number < list.segments.count ? list.segments[number].handle : commit.makeHandle()
            try write(elements[start..<start + size], to: handle, in: &transaction)
            segments.append(.init(handle: handle, count: size))
            start += size
        }
        for segment in list.segments.dropFirst(segments.count) {
            try commit.removeSegment(segment.handle, in: &transaction)
        }
        list.segments = segments
    }

    mutating func insert(
        _ elements: [StoredElement], at index: Int, in transaction: inout WriteTransaction
    ) throws {
        guard !elements.isEmpty else { return }
        guard let place = list.locate(index) else {
            return try replaceAll(elements, in: &transaction)
        }
        var segment = try read(place.segment, in: transaction)
        segment.insert(contentsOf: elements, at: place.offset)
        try rewrite(place.segment, with: segment, in: &transaction)
    }

    mutating func update(
        _ element: StoredElement, at index: Int, in transaction: inout WriteTransaction
    ) throws {
        guard let place = list.locate(index) else { return }
        var segment = try read(place.segment, in: transaction)
        segment[place.offset] = element
        try rewrite(place.segment, with: segment, in: &transaction)
    }

    /// Returns what was removed.
    mutating func remove(
        _ range: Range<Int>, in transaction: inout WriteTransaction
    ) throws -> [StoredElement] {
        var removed: [StoredElement] = []
        while removed.count < range.count, let place = list.locate(range.lowerBound) {
            var segment = try read(place.segment, in: transaction)
            let end = min(segment.count, place.offset + range.count - removed.count)
            guard place.offset < end else { break }
            removed += segment[place.offset..<end]
            segment.removeSubrange(place.offset..<end)
            try rewrite(place.segment, with: segment, in: &transaction)
        }
        return removed
    }

    /// Takes elements out whose record was deleted, so that indexes count what a reader sees. Free
    /// when nothing is deleted.
    mutating func dropDeleted(in transaction: inout WriteTransaction) throws {
        guard commit.mayHaveTombstones else { return }
        for number in list.segments.indices.reversed() {
            let segment = try read(number, in: transaction)
            let kept = try segment.filter { element in
                guard let target = element.target else { return true }
                return try !commit.counts.entry(target, in: transaction).flags.contains(.tombstone)
            }
            if kept.count < segment.count { try rewrite(number, with: kept, in: &transaction) }
        }
    }

    // MARK: Segments

    /// A segment is damaged, or not the one that its collection lists.
    struct UnreadableSegment: Error {}

    func read(_ number: Int, in transaction: borrowing WriteTransaction) throws -> [StoredElement] {
        let segment = list.segments[number]
        guard let record = try commit.readableRecord(segment.handle, in: transaction),
            let elements = try? SegmentContent.decode(record), elements.count == segment.count
        else { throw UnreadableSegment() }
        return elements
    }

    private func write(
        _ elements: ArraySlice<StoredElement>, to handle: Handle,
        in transaction: inout WriteTransaction
    ) throws {
        let old = try commit.repairedRecord(handle, .segment, in: &transaction)
        let content = try SegmentContent.encode(elements)
        try commit.put(
            .init(
                nameSpace: .segment, identifier: "", children: content.children,
                values: content.values[...]),
            at: handle, over: old, in: &transaction)
    }

    /// Puts `elements` in place of segment `number`, split, joined with a neighbour or gone as its
    /// size asks.
    private mutating func rewrite(
        _ number: Int, with elements: [StoredElement], in transaction: inout WriteTransaction
    ) throws {
        var number = number
        var elements = elements
        for neighbour in [number + 1, number - 1] where list.segments.indices.contains(neighbour) {
            guard SegmentSplitter.joins(elements.count, list.segments[neighbour].count) else {
                continue
            }
            let other = try read(neighbour, in: transaction)
            elements = neighbour > number ? elements + other : other + elements
            try commit.removeSegment(list.segments[neighbour].handle, in: &transaction)
            list.segments.remove(at: neighbour)
            if neighbour < number { number -= 1 }
            break
        }
        let handle = list.segments[number].handle
        guard !elements.isEmpty else {
            try commit.removeSegment(handle, in: &transaction)
            list.segments.remove(at: number)
            return
        }
        var parts: [SegmentList.Segment] = []
        var start = 0
        for (part, size) in SegmentSplitter.parts(of: elements.count).enumerated() {
            let target = part == 0 ? handle : commit.makeHandle()
            try write(elements[start..<start + size], to: target, in: &transaction)
            parts.append(.init(handle: target, count: size))
            start += size
        }
        list.segments.replaceSubrange(number...number, with: parts)
    }
}

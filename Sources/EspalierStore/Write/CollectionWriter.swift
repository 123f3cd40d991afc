import EspalierLMDB
import EspalierModels
import EspalierRecords

/// Edits collections. An edit reads and writes the segments that it touches, and no others.
struct CollectionWriter {
    private let commit: CommitTransaction

    init(_ commit: CommitTransaction) { self.commit = commit }

    /// Applies an operation to the collection under `key`. `handles` are the handles of the tree's
    /// nodes, and of the stored nodes after them, to which the drafts refer by index.
    ///
    /// - Parameter clamps: Whether the edit was made for an earlier state of the collection: it
    ///   does what it can where indexes lie outside of the collection, and nothing if there is
    ///   none, instead of throwing.
    /// - Throws: `.outOfDate` if the stored collection is not what the sender of the edit has,
    ///   `.notFound` if there is none or a segment of it can't be read, `.outOfRange` for an index
    ///   outside it.
    func apply(
        _ operation: CollectionOperation, toCollection key: String,
        expecting neighbours: CollectionNeighbours?, clamps: Bool = false, handles: [Handle],
        in transaction: inout WriteTransaction
    ) throws {
        // The name must not get a handle that has no record.
        if clamps, !operation.makesCollection,
            try commit.namedRecord(RecordName(.collection, key), in: transaction) == nil
        {
            return
        }
        let written = commit.counters.recordsWritten
        // An append would make a list without the elements that were there. Beside optimistic
        // changes it does, because they must not fail when they are applied again.
        if operation.isEdit, operation.makesCollection, !clamps, commit.layers.isEmpty,
            try commit.hasUnreadableRecord(.collection, key, in: transaction)
        {
            throw neighbours == nil ? CacheError.damagedCollection : .outOfDate
        }
        let slot = try commit.slot(.collection, key, in: &transaction)
        let old = slot.old.flatMap { try? SegmentList($0) }
        var editor = SegmentEditor(commit, old ?? SegmentList())
        guard old != nil || operation.makesCollection else {
            throw neighbours == nil ? CacheError.noCollection : .outOfDate
        }
        do {
            switch operation {
            case .replaceAll(let drafts):
                try editor.replaceAll(drafts.elements(handles), in: &transaction)
            case .edit(let edit):
                try replace(
                    edit.range, with: edit.elements.elements(handles), of: &editor,
                    expecting: neighbours, clamps: clamps, in: &transaction)
            case .editNew(let edit):
                try replace(
                    edit.range, with: edit.elements.elements(handles), onlyNew: true, of: &editor,
                    expecting: neighbours, clamps: clamps, in: &transaction)
            case .appendNew(let drafts):
                try editor.removeDeletedElements(in: &transaction)
                try editor.appendNew(drafts.elements(handles), in: &transaction)
            case .move(let source, let destination):
                try editor.removeDeletedElements(in: &transaction)
                let visible = try editor.visibleElements(in: transaction)
                let indices = 0..<visible.count
                if clamps, !indices.contains(source) || !indices.contains(destination) { break }
                guard indices.contains(source), indices.contains(destination) else {
                    throw neighbours == nil ? CacheError.outOfRange(indices.count) : .outOfDate
                }
                try check(
                    neighbours, around: source..<source + 1, editor, visible, in: &transaction)
                guard source != destination else { break }
                let position = visible.position(source)
                let element = try editor.remove(position..<position + 1, in: &transaction)
                let rest = try editor.visibleElements(in: transaction)
                try editor.insert(element, at: rest.position(destination), in: &transaction)
            case .removeAll(let positions):
                let removed = try AppCodeScope.run { try positions(commit, transaction.snapshot) }
                for range in Self.ranges(of: removed).reversed() {
                    _ = try editor.remove(range, in: &transaction)
                }
            }
        } catch is SegmentEditor.UnreadableSegment {
            throw neighbours == nil ? CacheError.damagedCollection : .outOfDate
        }
        try write(
            editor.list, key, at: slot, isEdit: old != nil && operation.isEdit, in: &transaction)
        if commit.counters.recordsWritten > written {
            commit.changes.change(key: key, in: .collection)
        }
    }

    /// Returns the edit as an optimistic change keeps it. If the collection has none of the nodes
    /// that the edit inserts, the server may send them meanwhile, and the change must not insert
    /// them a second time when it is applied again.
    func insertingOnlyNew(
        _ operation: CollectionOperation, ofCollection key: String, handles: [Handle],
        in transaction: borrowing WriteTransaction
    ) throws -> CollectionOperation {
        guard case .edit(let edit) = operation else { return operation }
        let targets = edit.elements.elements(handles).compactMap(\.target)
        guard !targets.isEmpty, Set(targets).count == targets.count else { return operation }
        if let record = try commit.namedRecord(RecordName(.collection, key), in: transaction) {
            guard let list = try? SegmentList(record),
                let known = try? SegmentEditor(commit, list).targets(in: transaction),
                known.isDisjoint(with: targets)
            else { return operation }
        }
        return edit.range == nil ? .appendNew(edit.elements) : .editNew(edit)
    }

    /// Replaces the elements of a range, or appends some if there is no range.
    ///
    /// - Parameter onlyNew: Whether to leave out nodes that the collection has already.
    private func replace(
        _ range: Range<Int>?, with elements: [StoredElement], onlyNew: Bool = false,
        of editor: inout SegmentEditor, expecting neighbours: CollectionNeighbours?, clamps: Bool,
        in transaction: inout WriteTransaction
    ) throws {
        try editor.removeDeletedElements(in: &transaction)
        let visible = try editor.visibleElements(in: transaction)
        let count = visible.count
        var range = range ?? count..<count
        if clamps { range = range.clamped(to: 0..<count) }
        try check(neighbours, around: range, editor, visible, in: &transaction)
        guard range.lowerBound >= 0, range.upperBound <= count else {
            throw CacheError.outOfRange(count)
        }
        var inserted = elements
        if onlyNew {
            let known = try editor.targets(outside: range.map(visible.position), in: transaction)
            inserted.removeAll { $0.target.map(known.contains) ?? false }
        }
        try editor.replace(range, of: visible, with: inserted, in: &transaction)
    }

    /// Returns the runs of neighbouring positions, in order.
    fileprivate static func ranges(of positions: Set<Int>) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for position in positions.sorted() {
            if let last = ranges.last, last.upperBound == position {
                ranges[ranges.count - 1] = last.lowerBound..<position + 1
            } else {
                ranges.append(position..<position + 1)
            }
        }
        return ranges
    }

    /// Throws `.outOfDate` unless the elements around an edit are those that its sender has.
    private func check(
        _ neighbours: CollectionNeighbours?, around range: Range<Int>, _ editor: SegmentEditor,
        _ visible: VisibleElements, in transaction: inout WriteTransaction
    ) throws {
        guard let neighbours else { return }
        let count = visible.count
        // An insertion may be at the end of the list. Any other edit begins at an element.
        let isInside =
            range.isEmpty
            ? (0...count).contains(range.lowerBound) : (0..<count).contains(range.lowerBound)
        guard neighbours.count == count, isInside, range.upperBound <= count,
            try editor.has(neighbours, around: range.lowerBound, of: visible, in: &transaction)
        else { throw CacheError.outOfDate }
    }

    /// Writes the record of a collection. Its segments are written before. An edit dates the list,
    /// and leaves it how old it may be.
    func write(
        _ list: SegmentList, _ key: String, at slot: RecordSlot, isEdit: Bool = false,
        in transaction: inout WriteTransaction
    ) throws {
        let known = try isEdit ? commit.states.entry(slot.handle, in: transaction).expiry : nil
        let content = RecordContent(
            nameSpace: .collection, identifier: key, children: list.segments.map(\.handle),
            values: list.values[...])
        try commit.put(content, at: slot, in: &transaction)
        try commit.states.noteWrite(
            slot.handle, at: WriteTime(commit.now), maxAge: known ?? commit.entryMaxAge,
            in: transaction)
    }
}

/// Which elements of a collection a read returns, where optimistic changes have deleted the nodes
/// of others.
struct VisibleElements {
    /// The number of elements that a read returns.
    let count: Int
    /// The positions of the others, ascending.
    let hidden: [Int]

    /// Returns the position of the element at an index of a read, or the end of the collection.
    func position(_ index: Int) -> Int {
        var position = index
        for other in hidden where other <= position { position += 1 }
        return position
    }
}

/// The segments of one collection while an operation changes them.
struct SegmentEditor {
    private let commit: CommitTransaction
    private(set) var list: SegmentList

    init(_ commit: CommitTransaction, _ list: SegmentList) {
        self.commit = commit
        self.list = list
    }

    // MARK: Edits

    /// Makes the collection have `elements`. Elements at its beginning and at its end that stay
    /// are not written again, unless they share a segment with others that change.
    mutating func replaceAll(
        _ elements: [StoredElement], in transaction: inout WriteTransaction
    ) throws {
        guard list.count > 0, let old = try? self.elements(0..<list.count, in: transaction),
            old.count == list.count
        else { return try rewriteAll(elements, in: &transaction) }
        let start = zip(old, elements).prefix { $0 == $1 }.count
        let rest = min(old.count, elements.count) - start
        let end = zip(old.reversed(), elements.reversed()).prefix(rest).prefix { $0 == $1 }.count
        guard start + end > 0 else { return try rewriteAll(elements, in: &transaction) }
        let inserted = Array(elements[start..<elements.count - end])
        try replace(start..<old.count - end, with: inserted, in: &transaction)
    }

    /// Replaces all elements, and reuses the handles of the old segments. A segment that does not
    /// change is not written.
    private mutating func rewriteAll(
        _ elements: [StoredElement], in transaction: inout WriteTransaction
    ) throws {
        var start = 0
        var segments: [SegmentList.Segment] = []
        for (number, size) in SegmentSizes.sizes(for: elements.count).enumerated() {
            let handle =
                number < list.segments.count
                ? list.segments[number].handle : commit.states.makeHandle()
            try write(elements[start..<start + size], to: handle, in: &transaction)
            segments.append(.init(handle: handle, count: size))
            start += size
        }
        for segment in list.segments.dropFirst(segments.count) {
            try removeSegment(segment.handle, in: &transaction)
        }
        list.segments = segments
    }

    /// Replaces the elements of a range of those that reads return.
    mutating func replace(
        _ range: Range<Int>, of visible: VisibleElements, with elements: [StoredElement],
        in transaction: inout WriteTransaction
    ) throws {
        guard !visible.hidden.isEmpty else {
            return try replace(range, with: elements, in: &transaction)
        }
        for run in CollectionWriter.ranges(of: Set(range.map(visible.position))).reversed() {
            _ = try remove(run, in: &transaction)
        }
        try insert(elements, at: visible.position(range.lowerBound), in: &transaction)
    }

    /// Returns the nodes to which elements refer, without those at some positions.
    func targets(
        outside positions: [Int] = [], in transaction: borrowing WriteTransaction
    ) throws -> Set<Handle> {
        var elements = try elements(0..<list.count, in: transaction)
        for position in positions.sorted().reversed() where position < elements.count {
            elements.remove(at: position)
        }
        return Set(elements.compactMap(\.target))
    }

    /// Replaces the elements of a range.
    private mutating func replace(
        _ range: Range<Int>, with elements: [StoredElement], in transaction: inout WriteTransaction
    ) throws {
        if range.count == elements.count, elements.count == 1 {
            return try update(elements[0], at: range.lowerBound, in: &transaction)
        }
        _ = try remove(range, in: &transaction)
        try insert(elements, at: range.lowerBound, in: &transaction)
    }

    mutating func insert(
        _ elements: [StoredElement], at index: Int, in transaction: inout WriteTransaction
    ) throws {
        guard !elements.isEmpty else { return }
        guard let position = list.locate(index) else {
            return try rewriteAll(elements, in: &transaction)
        }
        var segment = try read(position.segment, in: transaction)
        segment.insert(contentsOf: elements, at: position.offset)
        try rewrite(position.segment, with: segment, in: &transaction)
    }

    /// Appends those elements that refer to nodes to which no element refers yet, and those that
    /// are no nodes. Reads all segments.
    mutating func appendNew(
        _ elements: [StoredElement], in transaction: inout WriteTransaction
    ) throws {
        var known: Set<Handle> = []
        for number in list.segments.indices {
            known.formUnion(try read(number, in: transaction).compactMap(\.target))
        }
        let new = elements.filter { element in
            element.target.map { known.insert($0).inserted } ?? true
        }
        try insert(new, at: list.count, in: &transaction)
    }

    private mutating func update(
        _ element: StoredElement, at index: Int, in transaction: inout WriteTransaction
    ) throws {
        guard let position = list.locate(index) else { return }
        var segment = try read(position.segment, in: transaction)
        segment[position.offset] = element
        try rewrite(position.segment, with: segment, in: &transaction)
    }

    /// Removes the elements of a range and returns them.
    mutating func remove(
        _ range: Range<Int>, in transaction: inout WriteTransaction
    ) throws -> [StoredElement] {
        var removed: [StoredElement] = []
        while removed.count < range.count, let position = list.locate(range.lowerBound) {
            var segment = try read(position.segment, in: transaction)
            let end = min(segment.count, position.offset + range.count - removed.count)
            guard position.offset < end else { break }
            removed += segment[position.offset..<end]
            segment.removeSubrange(position.offset..<end)
            try rewrite(position.segment, with: segment, in: &transaction)
        }
        return removed
    }

    /// Removes the elements whose node was deleted, so that indexes count the elements that a read
    /// returns. Elements stay whose node only an optimistic change has deleted. Costs nothing if no
    /// reference leads to a tombstone.
    mutating func removeDeletedElements(in transaction: inout WriteTransaction) throws {
        guard mayHaveDeletedElements else { return }
        for number in list.segments.indices.reversed() {
            let segment = try read(number, in: transaction)
            let kept = try segment.filter { try !isRemovable($0, in: transaction) }
            if kept.count < segment.count { try rewrite(number, with: kept, in: &transaction) }
        }
    }

    /// Returns how many elements `removeDeletedElements` would remove; 0 if a segment can't be
    /// read.
    func deletedCount(in transaction: borrowing WriteTransaction) throws -> Int {
        guard mayHaveDeletedElements,
            let elements = try? elements(0..<list.count, in: transaction)
        else { return 0 }
        return try elements.reduce(0) { try $0 + (isRemovable($1, in: transaction) ? 1 : 0) }
    }

    /// Whether the node of an element was deleted, and not by an optimistic change alone.
    private func isRemovable(
        _ element: StoredElement, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        guard let target = element.target, !commit.layers.hasLayers(target) else { return false }
        return try isDeleted(target, in: transaction)
    }

    private var mayHaveDeletedElements: Bool {
        commit.counters.tombstones > 0 || commit.states.tombstoneChange > 0
    }

    private func isDeleted(
        _ handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        try commit.states.entry(handle, in: transaction).flags.contains(.tombstone)
    }

    /// Returns which elements a read returns. Called after `removeDeletedElements`.
    func visibleElements(in transaction: borrowing WriteTransaction) throws -> VisibleElements {
        var hidden: [Int] = []
        if !commit.layers.isEmpty, mayHaveDeletedElements {
            let elements = try elements(0..<list.count, in: transaction)
            for (position, element) in elements.enumerated() {
                guard let target = element.target else { continue }
                if try isDeleted(target, in: transaction) { hidden.append(position) }
            }
        }
        return VisibleElements(count: list.count - hidden.count, hidden: hidden)
    }

    // MARK: Neighbours

    /// Returns whether the elements before, at and after `index` are those that the sender of an
    /// edit has there. `index` is in the list, or its end.
    ///
    /// A neighbour is looked up and not read, so it costs the same however large its record is: the
    /// index gives the handle of the identifier, and the element must refer to that handle. If the
    /// index does not hold the whole identifier, its record is read as well.
    func has(
        _ neighbours: CollectionNeighbours, around index: Int, of visible: VisibleElements,
        in transaction: inout WriteTransaction
    ) throws -> Bool {
        let range = max(0, index - 1)..<min(visible.count, index + 2)
        var elements: [StoredElement] = []
        if visible.hidden.isEmpty {
            elements = try self.elements(range, in: transaction)
        } else {
            for position in range.map(visible.position) {
                elements += try self.elements(position..<position + 1, in: transaction)
            }
        }
        guard elements.count == range.count else { return false }
        let expected = [neighbours.previous, neighbours.current, neighbours.next]
        for (identifier, position) in zip(expected, index - 1...index + 1) {
            guard range.contains(position) else {
                if identifier != nil { return false }
                continue
            }
            let element = elements[position - range.lowerBound]
            guard try refers(element, to: identifier, in: &transaction) else { return false }
        }
        return true
    }

    /// Returns whether an element refers to the record of `identifier`. If `identifier` is nil,
    /// returns whether the element is a model without an identifier.
    private func refers(
        _ element: StoredElement, to identifier: String?, in transaction: inout WriteTransaction
    ) throws -> Bool {
        guard let identifier, let target = element.target else {
            return identifier == nil && element.target == nil
        }
        let match = try commit.index.match(.node, identifier, in: transaction.snapshot)
        guard let match, match.handle == target else { return false }
        guard !match.isWhole || IndexKey.isLong(identifier) else {
            // The index entry of a lost record is still there.
            return try commit.records.contains(target)
        }
        return try commit.readableRecord(target)?
            .isNamed(identifier, in: .node) == true
    }

    func elements(
        _ range: Range<Int>, in transaction: borrowing WriteTransaction
    ) throws -> [StoredElement] {
        var elements: [StoredElement] = []
        while elements.count < range.count,
            let position = list.locate(range.lowerBound + elements.count)
        {
            let rest = try read(position.segment, in: transaction).dropFirst(position.offset)
            elements += rest.prefix(range.count - elements.count)
        }
        return elements
    }

    // MARK: Segments

    /// Thrown when a segment is damaged, or does not have the elements that its collection counts.
    struct UnreadableSegment: Error {}

    private func read(
        _ number: Int, in transaction: borrowing WriteTransaction
    ) throws -> [StoredElement] {
        let segment = list.segments[number]
        guard let record = try commit.readableRecord(segment.handle),
            let elements = try? SegmentContent.decode(record), elements.count == segment.count
        else { throw UnreadableSegment() }
        return elements
    }

    private func write(
        _ elements: ArraySlice<StoredElement>, to handle: Handle,
        in transaction: inout WriteTransaction
    ) throws {
        let content = try SegmentContent.encode(elements)
        try commit.put(
            RecordContent(
                nameSpace: .segment, identifier: "", children: content.children,
                values: content.values[...]),
            at: try commit.repairedSlot(handle, in: &transaction), in: &transaction)
    }

    /// Replaces the elements of a segment. Splits the segment, joins it with a neighbour or removes
    /// it, depending on its new size.
    private mutating func rewrite(
        _ number: Int, with elements: [StoredElement], in transaction: inout WriteTransaction
    ) throws {
        var number = number
        var elements = elements
        for neighbour in [number + 1, number - 1] where list.segments.indices.contains(neighbour) {
            guard SegmentSizes.areJoined(elements.count, list.segments[neighbour].count) else {
                continue
            }
            let other = try read(neighbour, in: transaction)
            elements = neighbour > number ? elements + other : other + elements
            try removeSegment(list.segments[neighbour].handle, in: &transaction)
            list.segments.remove(at: neighbour)
            if neighbour < number { number -= 1 }
            break
        }
        let handle = list.segments[number].handle
        guard !elements.isEmpty else {
            try removeSegment(handle, in: &transaction)
            list.segments.remove(at: number)
            return
        }
        var parts: [SegmentList.Segment] = []
        var start = 0
        for (part, size) in SegmentSizes.parts(of: elements.count).enumerated() {
            let target = part == 0 ? handle : commit.states.makeHandle()
            try write(elements[start..<start + size], to: target, in: &transaction)
            parts.append(.init(handle: target, count: size))
            start += size
        }
        list.segments.replaceSubrange(number...number, with: parts)
    }

    /// Removes the record of a segment. The same commit removes the collection's reference to it.
    private func removeSegment(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        if let record = try commit.readableRecord(handle) {
            try commit.remove(record, in: &transaction)
        } else {
            try commit.discardUnreadable(handle, in: &transaction)
            try commit.states.remove(handle, in: transaction)
        }
    }
}

extension [ValueDraft] {
    /// The drafts as elements, with the handles of the nodes to which they refer.
    fileprivate func elements(_ handles: [Handle]) -> [StoredElement] {
        map { StoredElement(bytes: $0.bytes, children: $0.children.map { handles[$0] }) }
    }
}

extension CacheError {
    fileprivate static let noCollection = CacheError(
        .notFound, "There is no collection under this key. Set it, or append to it, first.")

    fileprivate static let damagedCollection = CacheError(
        .notFound, "A part of the collection is damaged. Set the collection anew.")

    fileprivate static let outOfDate = CacheError(
        .outOfDate,
        "The stored collection is not what the sender of the edit has. Set the whole collection.")

    fileprivate static func outOfRange(_ count: Int) -> CacheError {
        CacheError(.outOfRange, "The index is outside the collection of \(count) elements.")
    }
}

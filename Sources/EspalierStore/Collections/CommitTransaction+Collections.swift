import EspalierLMDB
import EspalierModels
import EspalierRecords

extension CommitTransaction {
    /// Applies an edit to the collection under `key`. `handles` are those of the tree the drafts
    /// refer to.
    ///
    /// Throws `.outOfDate` where the edit's sender expects another collection than is stored: what
    /// was written for the edit goes with its transaction.
    func edit(
        collection key: String, _ edit: FlattenedEdit, expecting neighbours: CollectionNeighbours?,
        handles: [Handle],
        in transaction: inout WriteTransaction
    ) throws {
        let written = counters.recordsWritten
        let place = try place(.collection, key, in: &transaction)
        let old = place.old.flatMap { try? SegmentList($0) }
        var editor = SegmentEditor(commit: self, list: old ?? SegmentList())
        guard old != nil || edit.makesCollection else {
            throw neighbours == nil ? CacheError.noCollection : .outOfDate
        }
        do {
            if !edit.isReplacing { try editor.dropDeleted(in: &transaction) }
            if let neighbours {
                guard try isExpected(neighbours, of: edit, editor, in: &transaction) else {
                    throw CacheError.outOfDate
                }
            }
            try apply(edit, handles, to: &editor, in: &transaction)
        } catch is SegmentEditor.UnreadableSegment {
            throw neighbours == nil ? CacheError.damagedCollection : .outOfDate
        }
        try finish(editor.list, key, at: place, in: &transaction)
        if counters.recordsWritten > written { changes.keys.append(key) }
    }

    /// Whether the collection is what the sender of an edit has, as far as it shows.
    private func isExpected(
        _ neighbours: CollectionNeighbours, of edit: FlattenedEdit, _ editor: SegmentEditor,
        in transaction: inout WriteTransaction
    ) throws -> Bool {
        let count = editor.list.count
        guard neighbours.count == count, let index = edit.place(in: count) else { return false }
        return try editor.has(neighbours, around: index, in: &transaction)
    }

    private func apply(
        _ edit: FlattenedEdit, _ handles: [Handle], to editor: inout SegmentEditor,
        in transaction: inout WriteTransaction
    ) throws {
        let count = editor.list.count
        func elements(_ drafts: [ValueDraft]) -> [StoredElement] {
            drafts.map { StoredElement(bytes: $0.bytes, children: $0.children.map { handles[$0] }) }
        }
        func check(_ isInside: Bool) throws {
            guard isInside else {
                throw CacheError(
                    .outOfRange, "The index is outside the collection of \(count) elements.")
            }
        }
        switch edit {
        case .replace(let drafts): try editor.replaceAll(elements(drafts), in: &transaction)
        case .append(let drafts): try editor.insert(elements(drafts), at: count, in: &transaction)
        case .insert(let drafts, let index):
            try check((0...count).contains(index))
            try editor.insert(elements(drafts), at: index, in: &transaction)
        case .update(let draft, let index):
            try check((0..<count).contains(index))
            try editor.update(elements([draft])[0], at: index, in: &transaction)
        case .remove(let range):
            try check(range.lowerBound >= 0 && range.upperBound <= count)
            _ = try editor.remove(range, in: &transaction)
        case .move(let source, let destination):
            try check((0..<count).contains(source) && (0..<count).contains(destination))
            guard source != destination else { return }
            let element = try editor.remove(source..<source + 1, in: &transaction)
            try editor.insert(element, at: destination, in: &transaction)
        }
    }

    /// Writes a collection's own record, once its segments stand.
    func finish(
        _ list: SegmentList, _ key: String, at place: Place, in transaction: inout WriteTransaction
    ) throws {
        let content = Content(
            nameSpace: .collection, identifier: key, children: list.segments.map(\.handle),
            values: list.values[...])
        try put(content, at: place.handle, over: place.old, in: &transaction)
        try counts.touch(place.handle, in: transaction)
    }

    /// Removes a segment's record. Its collection's record stops naming it in the same commit.
    func removeSegment(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        if let record = try readableRecord(handle, in: transaction) {
            try remove(record, in: &transaction)
        } else {
            try discardUnreadable(handle, .segment, in: &transaction)
            try counts.remove(handle, in: transaction)
        }
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
}

import EspalierLMDB
import EspalierRecords

extension CommitSession {
    /// Applies an edit to the collection under `key`. `handles` are those of the tree the drafts refer to.
    func edit(
        collection key: String, _ edit: FlattenedEdit, handles: [Handle], in transaction: inout WriteTransaction
    ) throws {
        let written = counters.recordsWritten
        let place = try place(.collection, key, in: &transaction)
        let old = place.old.flatMap { try? SegmentList($0) }
        var editor = SegmentEditor(session: self, list: old ?? SegmentList())
        let elements = { (drafts: [ValueDraft]) in
            drafts.map { StoredElement(bytes: $0.bytes, children: $0.children.map { handles[$0] }) }
        }
        switch edit {
        case .replace(let drafts): try editor.replaceAll(elements(drafts), in: &transaction)
        case .append(let drafts):
            try editor.dropDeleted(in: &transaction)
            try editor.insert(elements(drafts), at: editor.list.count, in: &transaction)
        default:
            guard old != nil else {
                throw CacheError(.notFound, "There is no collection under this key. Set it, or append to it, first.")
            }
            try editor.dropDeleted(in: &transaction)
            try apply(edit, elements, to: &editor, in: &transaction)
        }
        try finish(editor.list, key, at: place, in: &transaction)
        if counters.recordsWritten > written { changes.keys.append(key) }
    }

    private func apply(
        _ edit: FlattenedEdit, _ elements: ([ValueDraft]) -> [StoredElement], to editor: inout SegmentEditor,
        in transaction: inout WriteTransaction
    ) throws {
        let count = editor.list.count
        func check(_ isInside: Bool) throws {
            guard isInside else {
                throw CacheError(.outOfRange, "The index is outside the collection of \(count) elements.")
            }
        }
        switch edit {
        case .replace, .append: break
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
            nameSpace: .collection, identifier: key, children: list.segments.map(\.handle), values: list.values)
        try put(content, at: place.handle, over: place.old, in: &transaction)
        try ledger.touch(place.handle, in: transaction)
    }

    /// Removes a segment's record. Its collection's record stops naming it in the same commit.
    func removeSegment(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        if let record = try readableRecord(handle, in: transaction) {
            try remove(record, in: &transaction)
        } else {
            try discardUnreadable(handle, .segment, in: &transaction)
            try ledger.remove(handle, in: transaction)
        }
    }
}

import EspalierModels

// The cache gets the edit, if it takes edits, and the whole collection otherwise.
extension CollectionDataProvider {
    /// Inserts before the element at `index`; at `count`, behind the last one.
    public func insert(
        _ newData: [T], at index: Int, shouldCache: Bool = true, context: (any Sendable)? = nil
    ) {
        precondition(index >= 0 && index <= shown.count, "Index out of range: insert at 0 ... count.")
        edit(index..<index, newData, .insert, shouldCache, context)
    }

    /// Inserts behind the last element.
    public func append(_ newData: [T], shouldCache: Bool = true, context: (any Sendable)? = nil) {
        edit(shown.count..<shown.count, newData, .append, shouldCache, context)
    }

    /// Puts `element` in place of the one at `index`; it may be another model.
    public func update(
        _ element: T, at index: Int, shouldCache: Bool = true, context: (any Sendable)? = nil
    ) {
        precondition(shown.indices.contains(index), "Index out of range: update an element that is there.")
        edit(index..<index + 1, [element], .update, shouldCache, context)
    }

    /// Takes the element at `index` out of the collection. The model is not deleted.
    public func remove(at index: Int, shouldCache: Bool = true, context: (any Sendable)? = nil) {
        precondition(shown.indices.contains(index), "Index out of range: remove an element that is there.")
        edit(index..<index + 1, [], .remove, shouldCache, context)
    }

    private func edit(
        _ range: Range<Int>, _ new: [T], _ kind: EditKind, _ save: Bool, _ context: (any Sendable)?
    ) {
        guard !(range.isEmpty && new.isEmpty) else { return }
        let previous = shown
        change {
            guard let paused else {
                return collection.edit(range, new, kind, by: self, save: save, context: context)
            }
            let there = paused.range(for: range, count: collection.elements.count)
            let isGone = there.isEmpty && !range.isEmpty
            let splice = CollectionSplice(range: there, count: isGone ? 0 : new.count)
            if !isGone {
                let end = collection.elements.count
                let kind = kind == .append && there.lowerBound < end ? .insert : kind
                collection.edit(there, new, kind, by: self, save: save, context: context)
            }
            self.paused?.edit(range, new, as: splice)
        }
        publish(
            .changes(kind.changes(CollectionSplice(range: range, count: new.count))), .own, context, previous)
    }
}

/// How a collection has changed, for a view that shows it.
///
/// ```swift
/// switch change {
/// case .reset: tableView.reloadData()
/// case .changes(let changes): for change in changes { animate(change) }      // one by one, in this order
/// }
/// ```
public enum CollectionChange: Hashable, Sendable {
    /// Another collection took its place, or too much happened to tell.
    case reset
    /// Correct when applied one by one in this order: each index counts the elements as the ones
    /// before have left them.
    case changes([CollectionChangeInformation])

    /// The change as a difference between the collections before and after.
    ///
    /// An update is a removal and an insertion at one place; a reset takes out all that was there.
    public func difference<T>(from old: [T], to new: [T]) -> CollectionDifference<T> {
        var removals = Set(old.indices)
        var kept: [Int?] = []
        if case .changes(let changes) = self {
            kept = old.indices.map { $0 }
            for change in changes {
                switch change {
                case .update(let index) where kept.indices.contains(index): kept[index] = nil
                case .delete(let index) where kept.indices.contains(index): kept.remove(at: index)
                case .insert(let index) where index >= 0 && index <= kept.count:
                    kept.insert(nil, at: index)
                default: break
                }
            }
        }
        // Changes of other collections than these: all of it.
        if kept.count != new.count { kept = Array(repeating: nil, count: new.count) }
        for case let index? in kept { removals.remove(index) }
        let steps: [CollectionDifference<T>.Change] =
            removals.map { .remove(offset: $0, element: old[$0], associatedWith: nil) }
            + kept.indices.filter { kept[$0] == nil }.map {
                .insert(offset: $0, element: new[$0], associatedWith: nil)
            }
        // No changes at all are always valid.
        return CollectionDifference(steps) ?? CollectionDifference([])!
    }
}

/// One step of a collection's change.
public enum CollectionChangeInformation: Hashable, Sendable {
    case update(index: Int)
    case delete(index: Int)
    case insert(index: Int)
}

extension Collection where Element == CollectionChangeInformation {
    public func numberOfDeletedElements() -> Int {
        count { if case .delete = $0 { true } else { false } }
    }

    public func numberOfInsertedElements() -> Int {
        count { if case .insert = $0 { true } else { false } }
    }

    /// By how much the collection has grown.
    public func deltaNumberOfElements() -> Int {
        numberOfInsertedElements() - numberOfDeletedElements()
    }
}

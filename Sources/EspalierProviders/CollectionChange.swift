/// The change of a collection, for a view that shows it. Unlike a `CollectionEdit`, it contains
/// single steps without elements, each with the index that a table or collection view expects.
///
/// ```swift
/// switch change {
/// case .reset: tableView.reloadData()
/// case .changes(let steps): for step in steps { animate(step) }      // one by one, in this order
/// }
/// ```
public enum CollectionChange: Hashable, Sendable {
    /// Another collection took its place, or the steps are not known.
    case reset
    /// The steps, to be applied one by one in this order. Each index refers to the collection after
    /// the steps before.
    case changes([CollectionChangeInformation])

    /// Returns the change as a difference between the collections before and after.
    ///
    /// An update becomes a removal and an insertion at the same place. A reset removes all old
    /// elements.
    ///
    /// - Parameters:
    ///   - old: The collection before the change.
    ///   - new: The collection after the change.
    /// - Returns: The difference. If the steps do not lead from `old` to `new`, it replaces all
    ///   elements.
    /// - Complexity: O(*n* + *m* · *s*), where *n* and *m* are the lengths before and after, and
    ///   *s* is the number of steps.
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
        // The steps belong to other collections.
        if kept.count != new.count { kept = Array(repeating: nil, count: new.count) }
        for case let index? in kept { removals.remove(index) }
        let steps: [CollectionDifference<T>.Change] =
            removals.map { .remove(offset: $0, element: old[$0], associatedWith: nil) }
            + kept.indices.filter { kept[$0] == nil }.map {
                .insert(offset: $0, element: new[$0], associatedWith: nil)
            }
        // `!` because an empty difference is always valid.
        return CollectionDifference(steps) ?? CollectionDifference([])!
    }
}

/// One step of a collection's change.
public enum CollectionChangeInformation: Hashable, Sendable {
    /// The element at the index was replaced.
    case update(index: Int)
    /// The element at the index was removed.
    case delete(index: Int)
    /// An element was inserted, and now has the index.
    case insert(index: Int)
}

extension Collection where Element == CollectionChangeInformation {
    /// Returns the number of removed elements.
    ///
    /// - Complexity: O(*n*) in the number of steps.
    public func numberOfDeletedElements() -> Int {
        count { if case .delete = $0 { true } else { false } }
    }

    /// Returns the number of inserted elements.
    ///
    /// - Complexity: O(*n*) in the number of steps.
    public func numberOfInsertedElements() -> Int {
        count { if case .insert = $0 { true } else { false } }
    }

    /// Returns by how many elements the collection has grown; negative if it has shrunk.
    ///
    /// - Complexity: O(*n*) in the number of steps.
    public func deltaNumberOfElements() -> Int {
        numberOfInsertedElements() - numberOfDeletedElements()
    }
}

/// A change that a delegate has not been notified of.
struct PendingChange {
    let change: CollectionChange
    /// The nodes that changed; empty for a reset.
    let identifiers: Set<String>
    let context: (any Sendable)?

    /// Returns this change and the next one as one.
    func followed(by next: PendingChange) -> PendingChange {
        guard case .changes(let steps) = change, case .changes(let more) = next.change else {
            return PendingChange(change: .reset, identifiers: [], context: next.context)
        }
        return PendingChange(
            change: .changes(steps + more), identifiers: identifiers.union(next.identifiers),
            context: next.context)
    }
}

import EspalierConsistency
import EspalierModels

/// The latest edits of a collection, for updates that were computed for the list before them.
///
/// An update names places in the list that it was computed for. The log moves these places to where
/// they are after the edits since. Elements that an edit has inserted are newer than every update
/// that was submitted before it, even if the update was computed for a list that contains them. An
/// edit is kept until all updates before it have been delivered.
struct EditLog {
    /// Removals by updates are among them only because they move places.
    private(set) var edits: [TreeEdit] = []

    var isEmpty: Bool { edits.isEmpty }

    mutating func append(_ edit: TreeEdit) { edits.append(edit) }

    /// Records that an update has removed an element, which moves the places of earlier edits.
    mutating func recordRemoval(at index: Int, _ revision: ChangeTime) {
        if !edits.isEmpty { edits.append(TreeEdit(.remove(at: index), from: nil, to: revision)) }
    }

    mutating func removeThrough(_ revision: ChangeTime) {
        edits.removeAll { $0.new <= revision }
        edits.removeFirst(edits.prefix { $0.old == nil }.count)
    }

    mutating func removeAll() { edits = [] }

    /// Returns the changes of an update of a list, at the places where the elements are now, last
    /// place first.
    ///
    /// - Parameter base: The revision of the list to which the update applies.
    func changes<T>(
        _ changed: [Int: NodeChange], inListOf base: ChangeTime
    ) -> [(place: Int, element: T?)] {
        let places = places(inListOf: base)
        return changed.compactMap { ordinal, change in
            places.now(ordinal).map { ($0, change.model as? T) }
        }.sorted { $0.place > $1.place }
    }

    /// Returns a map from the places in the list with the revision `base` to the places now.
    func places(inListOf base: ChangeTime) -> Places {
        var exempt: Set<Int> = []
        for edit in edits.lazy.filter({ $0.new <= base }) {
            exempt = Set(exempt.compactMap(edit.moved)).union(edit.childEdit.insertedIndices)
        }
        return Places(exempt: exempt, moves: edits.filter { $0.new > base })
    }

    struct Places {
        /// The places of elements that were inserted after the update was submitted.
        let exempt: Set<Int>
        let moves: [TreeEdit]

        /// Returns the place of an element now; `nil` if it was removed, or if it is newer than the
        /// update.
        func now(_ index: Int) -> Int? {
            guard !exempt.contains(index) else { return nil }
            var index = index
            for move in moves {
                guard let moved = move.moved(index) else { return nil }
                index = moved
            }
            return index
        }
    }
}

extension TreeEdit {
    /// Returns the index after the edit of the element at `index`; `nil` if it was removed.
    func moved(_ index: Int) -> Int? { move.map { $0.moved(index) } ?? childEdit.moved(index) }
}

extension CollectionEdit {
    /// Returns the edit with a range, which is that of the end for an edit without range.
    ///
    /// - Parameter count: The number of elements before the edit.
    func resolved(count: Int) -> Self {
        range == nil ? Self(range: count..<count, elements: elements) : self
    }

    /// Returns the index after the edit of the element at `index`; `nil` if it was removed.
    func moved(_ index: Int) -> Int? {
        guard let range, index >= range.lowerBound else { return index }
        return index < range.upperBound ? nil : index + elements.count - range.count
    }

    /// The indexes of the new elements after the edit, which must be resolved.
    var insertedIndices: Range<Int> {
        guard let range else { preconditionFailure("The edit is not resolved.") }
        return range.lowerBound..<range.lowerBound + elements.count
    }

    /// The steps of the edit, which must be resolved, for a view.
    var steps: [CollectionChangeInformation] {
        if let range, range.count == elements.count { return range.map { .update(index: $0) } }
        return (range ?? 0..<0).reversed().map { .delete(index: $0) }
            + insertedIndices.map { .insert(index: $0) }
    }
}

import EspalierConsistency
import EspalierModels

/// A change of a collection, as the providers that show it record it.
enum MemberChange<T> {
    case reset
    /// An edit with a range.
    case edit(CollectionEdit<T>)
    case move(ElementMove)
    /// Another list took the place of this one. The steps lead from one to the other.
    case replaced([CollectionChangeInformation])
    /// Updates and deletions of elements, last place first.
    case updates([CollectionChangeInformation])

    var steps: CollectionChange {
        switch self {
        case .reset: .reset
        case .edit(let edit): .changes(edit.steps)
        case .move(let move): .changes(move.steps)
        case .replaced(let steps), .updates(let steps): .changes(steps)
        }
    }
}

/// The elements that a paused provider continues to show, with their places in the collection.
struct PausedCollection<T: SimpleModel> {
    private(set) var elements: [T]
    /// The place of each element in the collection; `nil` if it is no longer there.
    private var places: [Int?]
    /// The elements that were updated during the pause.
    private var updated: Set<Int> = []
    /// Whether others have edited the collection. The provider is then reset when it is resumed.
    private(set) var isEdited = false
    private(set) var context: (any Sendable)?
    private(set) var isTouched = false
    /// The nodes that changed during the pause.
    private(set) var identifiers: Set<String> = []

    init(_ elements: [T]) {
        self.elements = elements
        places = elements.indices.map { $0 }
    }

    // MARK: Changes of the collection

    mutating func record(
        _ change: MemberChange<T>, _ identifiers: Set<String>, context: (any Sendable)?
    ) {
        self.context = context
        self.identifiers.formUnion(identifiers)
        isTouched = true
        switch change {
        case .reset, .replaced:
            places = elements.map { _ in nil }
            isEdited = true
        case .edit(let edit):
            move(edit)
            isEdited = true
        case .move(let move):
            places = places.map { $0.map(move.moved) }
            isEdited = true
        case .updates(let steps):
            // The places before the first deletion. The steps go from the last place to the first,
            // so they refer to these.
            var positions: [Int: Int] = [:]
            for (position, place) in places.enumerated() {
                if let place { positions[place] = position }
            }
            for step in steps {
                switch step {
                case .update(let index):
                    if let position = positions[index] { updated.insert(position) }
                case .delete(let index): move(.remove(at: index))
                case .insert: break
                }
            }
        }
    }

    private mutating func move(_ edit: CollectionEdit<T>) {
        for position in places.indices { places[position] = places[position].flatMap(edit.moved) }
    }

    // MARK: The provider's own edits

    /// Returns the range of the collection that corresponds to a shown element, or to the place
    /// before one.
    func range(for shown: Range<Int>, count: Int) -> Range<Int> {
        precondition(shown.count <= 1, "Neighbours need not be neighbours in the collection.")
        if let place = places[shown].first ?? nil { return place..<place + 1 }
        let start = places[shown.lowerBound...].lazy.compactMap { $0 }.first ?? count
        return start..<start
    }

    /// Applies an edit of the shown elements.
    ///
    /// - Parameters:
    ///   - edit: The edit of the shown elements.
    ///   - collectionEdit: The edit of the collection that corresponds to it. It has no elements if
    ///     the edited element has left the collection.
    mutating func edit(_ edit: CollectionEdit<T>, as collectionEdit: CollectionEdit<T>) {
        guard let shown = edit.range else { preconditionFailure("The edit is not resolved.") }
        elements.replaceSubrange(shown, with: edit.elements)
        places.replaceSubrange(shown, with: edit.elements.map { _ in nil })
        move(collectionEdit)
        for (offset, place) in collectionEdit.insertedIndices.enumerated() {
            places[shown.lowerBound + offset] = place
        }
        updated = Set(updated.compactMap { edit.moved($0) })
    }

    /// Returns the ranges of the collection, in order and apart, where shown elements are.
    func ranges(for shown: RangeSet<Int>) -> [Range<Int>] {
        let there = places[shown].compactMap(\.self)
        return Array(RangeSet(there.lazy.map { $0..<$0 + 1 }).ranges)
    }

    /// Removes shown elements.
    ///
    /// - Parameter ranges: Where they are in the collection.
    mutating func remove(_ shown: RangeSet<Int>, from ranges: [Range<Int>]) {
        let kept = elements.indices.filter { !shown.contains($0) }
        updated = Set(kept.indices.filter { updated.contains(kept[$0]) })
        elements.removeSubranges(shown)
        places.removeSubranges(shown)
        for range in ranges.reversed() { move(.remove(range)) }
    }

    /// Returns the move of the collection that corresponds to a move of a shown element: in front
    /// of the same following element. `nil` if the element has left the collection.
    ///
    /// - Parameter count: The number of elements in the collection.
    func move(for shown: ElementMove, count: Int) -> ElementMove? {
        guard let source = places[shown.source] else { return nil }
        var others = places
        others.remove(at: shown.source)
        let next = others[shown.destination...].lazy.compactMap { $0 }.first ?? count
        return ElementMove(from: source, to: next > source ? next - 1 : next)
    }

    /// Moves a shown element.
    ///
    /// - Parameter collectionMove: The move of the collection that corresponds to it.
    mutating func move(_ shown: ElementMove, as collectionMove: ElementMove?) {
        shown.apply(to: &elements)
        shown.apply(to: &places)
        if let collectionMove { places = places.map { $0.map(collectionMove.moved) } }
        updated = Set(updated.map(shown.moved))
    }

    // MARK: Resuming

    /// Returns the change from the shown elements to `new`; `nil` if they are the same.
    ///
    /// - Complexity: O(*n*) in the nodes of the elements that are compared.
    func change(to new: [T]) -> CollectionChange? {
        guard !isEdited else {
            return areEqual(elements, new) ? nil : .reset
        }
        let changes = elements.indices.reversed().compactMap {
            position -> CollectionChangeInformation? in
            guard let place = places[position] else { return .delete(index: position) }
            guard updated.contains(position), new.indices.contains(place),
                !elements[position].isEqualToModel(new[place])
            else { return nil }
            return .update(index: position)
        }
        return changes.isEmpty ? nil : .changes(changes)
    }
}

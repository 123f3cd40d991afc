import EspalierModels

/// What a paused provider goes on showing, and where in the collection each of it is now.
struct PausedCollection<T: SimpleModel> {
    private(set) var elements: [T]
    /// The place in the collection; nil for what is not there any more.
    private var places: [Int?]
    /// The elements that were updated meanwhile.
    private var updated: Set<Int> = []
    /// Whether others have edited the collection: then no step by step account is given.
    private(set) var isEdited = false
    private(set) var context: (any Sendable)?
    private(set) var isTouched = false

    init(_ elements: [T]) {
        self.elements = elements
        places = elements.indices.map { $0 }
    }

    // MARK: What happens to the collection

    mutating func edited(_ splice: CollectionSplice, context: (any Sendable)?) {
        move(splice)
        isEdited = true
        touch(context)
    }

    mutating func reset(context: (any Sendable)?) {
        places = elements.map { _ in nil }
        isEdited = true
        touch(context)
    }

    mutating func changed(_ changes: [CollectionChangeInformation], context: (any Sendable)?) {
        touch(context)
        // Of places before the first deletion, which is what the steps are about from the last to
        // the first.
        var positions: [Int: Int] = [:]
        for (position, place) in places.enumerated() {
            if let place { positions[place] = position }
        }
        for change in changes {
            switch change {
            case .update(let index):
                if let position = positions[index] { updated.insert(position) }
            case .delete(let index): move(CollectionSplice(range: index..<index + 1, count: 0))
            case .insert: break
            }
        }
    }

    private mutating func touch(_ context: (any Sendable)?) {
        self.context = context
        isTouched = true
    }

    private mutating func move(_ splice: CollectionSplice) {
        for position in places.indices { places[position] = places[position].flatMap(splice.moved) }
    }

    // MARK: What the provider does itself

    /// The range of the collection that a range of what is shown stands for.
    func range(for shown: Range<Int>, count: Int) -> Range<Int> {
        let there = places[shown].compactMap { $0 }
        if let first = there.first, let last = there.last { return first..<last + 1 }
        let start = places[shown.lowerBound...].lazy.compactMap { $0 }.first ?? count
        return start..<start
    }

    mutating func edit(_ shown: Range<Int>, _ new: [T], as splice: CollectionSplice) {
        elements.replaceSubrange(shown, with: new)
        places.replaceSubrange(shown, with: new.map { _ in nil })
        move(splice)
        // What takes the place of an element that is gone is shown only here.
        for (offset, place) in splice.inserted.enumerated() {
            places[shown.lowerBound + offset] = place
        }
        updated = Set(
            updated.compactMap { CollectionSplice(range: shown, count: new.count).moved($0) })
    }

    // MARK: Resuming

    /// What it takes to show `new`; nil if that is the same.
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

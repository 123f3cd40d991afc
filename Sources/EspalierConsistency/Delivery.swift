package import EspalierModels

/// The part of an update that concerns one listener.
package struct Delivery: Sendable {
    let listener: ListenerEntry
    /// The tree that the update was applied to.
    package let base: ListenerBase
    /// The new tree; `nil` if the whole tree was deleted.
    package let model: (any ConsistencyManagerModel)?
    package let updates: ModelUpdates
    /// The changes of the children of the base's root, by place; empty if the root was replaced as
    /// a whole.
    package let childChanges: [Int: NodeChange]
    package let context: (any Sendable)?
    /// The time at which the update was submitted.
    package let time: ChangeTime
    /// The revision that a listener with revisions assigns to the new tree.
    package let revision: ChangeTime
    /// Whether the update was read from the store, so that it need not be stored again.
    package var isFetched = false
}

/// The change of a node, with the changes below it.
package struct NodeChange: Sendable {
    /// The new node; `nil` if it was deleted.
    package var model: (any ConsistencyManagerModel)?
    package var updates = ModelUpdates()
}

/// The tree that a listener shows, on which an update is based.
package struct ListenerBase: Sendable {
    package let model: any ConsistencyManagerModel
    /// The revision of the tree, if the listener numbers its trees: equal revisions, equal trees.
    package let revision: ChangeTime?
    /// The latest edits that led to the tree, which the index may not contain yet.
    let edits: [TreeEdit]
    /// The start of the recording that the tree belongs to, if the listener is paused.
    var recording: ChangeTime?

    package init(
        model: any ConsistencyManagerModel, revision: ChangeTime?, edits: [TreeEdit] = []
    ) {
        self.model = model
        self.revision = revision
        self.edits = edits
    }

    /// Returns whether both are the same tree: by revision if both have one, and by comparison
    /// otherwise.
    func isTree(of other: ListenerBase) -> Bool {
        if let revision, let other = other.revision { return revision == other }
        return Self.areSame(model, other.model)
    }

    package static func areSame(_ a: any ConsistencyManagerModel, _ b: any ConsistencyManagerModel)
        -> Bool
    {
        guard type(of: a) == type(of: b) else { return false }
        if type(of: a) is AnyClass, a as AnyObject === b as AnyObject { return true }
        return a.isEqualToModel(b)
    }
}

/// An edit of the children of a listener's root, between two revisions of the listener's tree.
package struct TreeEdit: Sendable {
    package let childEdit: CollectionEdit<any ConsistencyManagerModel>
    /// The revision before the edit; `nil` for a removal by an update, which the index contains.
    package let old: ChangeTime?
    /// The revision after the edit.
    package let new: ChangeTime
    /// The places of a child that was moved, before and after; `nil` for any other edit. A move has
    /// an empty `childEdit`. The index does not apply it: the next update indexes the tree again.
    package let move: ElementMove?

    package init(
        _ childEdit: CollectionEdit<any ConsistencyManagerModel>, from old: ChangeTime?,
        to new: ChangeTime
    ) {
        self.childEdit = childEdit
        self.old = old
        self.new = new
        move = nil
    }

    package init(_ move: ElementMove, from old: ChangeTime, to new: ChangeTime) {
        childEdit = CollectionEdit(range: 0..<0, elements: [])
        self.old = old
        self.new = new
        self.move = move
    }
}

/// The move of one element of a list.
package struct ElementMove: Sendable {
    /// The index of the element before the move.
    package let source: Int
    /// The index of the element after the move.
    package let destination: Int

    package init(from source: Int, to destination: Int) {
        self.source = source
        self.destination = destination
    }

    /// Returns the index after the move of the element at `index`.
    package func moved(_ index: Int) -> Int {
        if index == source { return destination }
        let passesDown = source < index && index <= destination
        let passesUp = destination <= index && index < source
        return passesDown ? index - 1 : passesUp ? index + 1 : index
    }

    /// Moves the element of `list`.
    package func apply<Element>(to list: inout [Element]) {
        list.insert(list.remove(at: source), at: destination)
    }
}

/// A root that gives access to its children by place, so that an update skips thousands of children
/// at no cost: visiting them like other children takes 14 ns for each.
package protocol ListModel: ConsistencyManagerModel {
    var childCount: Int { get }
    func child(at place: Int) -> any ConsistencyManagerModel
    /// Returns a copy with other children in some places; `nil` removes a child.
    func replacing(_ children: [Int: (any ConsistencyManagerModel)?]) -> any ConsistencyManagerModel
}

/// A listener that receives whole deliveries, with times and places.
@MainActor
package protocol TreeListener: ConsistencyManagerListener {
    /// The tree that is shown, with its revision; `nil` if there is none.
    var base: ListenerBase? { get }
    func apply(_ delivery: Delivery)
}

extension TreeListener {
    package var base: ListenerBase? {
        currentModel().map { ListenerBase(model: $0, revision: nil) }
    }
}

/// A listener that waits for models that no listener shows yet.
@MainActor
package protocol WaitingListener: ConsistencyManagerUpdatesListener, TreeListener {
    /// The node that the listener waits for; nil if it waits for none.
    var awaited: ShownNode? { get }

    /// Shows the model that the listener waits for, if `changes` contain it.
    ///
    /// - Returns: Whether they do. The manager then listens to the model before it applies the next
    ///   update.
    func adoptModel(
        from changes: [String: ModelChange], context: (any Sendable)?, time: ChangeTime
    ) -> Bool
}

/// A round of calls on the main actor. Notifications that are sent once for all calls of a round
/// are sent at its end.
@MainActor
package enum DeliveryRound {
    private static var depth = 0
    private static var endings: [(key: ObjectIdentifier, body: @MainActor () -> Void)] = []

    package static func run(_ body: () -> Void) {
        depth += 1
        body()
        depth -= 1
        guard depth == 0 else { return }
        while !endings.isEmpty { endings.removeFirst().body() }
    }

    /// Runs `body` at the end of the current round, once for each object; at once if there is no
    /// round.
    package static func atEnd(for object: AnyObject, _ body: @escaping @MainActor () -> Void) {
        guard depth > 0 else { return body() }
        let key = ObjectIdentifier(object)
        if !endings.contains(where: { $0.key == key }) { endings.append((key, body)) }
    }
}

/// A context from a caller that cannot promise a `Sendable` value: a client in language mode 5.
///
/// The value is passed through and never read, so it is as safe as its client. Listeners, delegates
/// and caches receive the value and not the box.
package struct UncheckedContext: @unchecked Sendable {
    // `@unchecked` because this is the one place where a client's promise is taken over.
    private let value: Any

    /// Returns `nil` for no context, and a context that is boxed already as it is.
    package init?(_ context: Any?) {
        guard let context else { return nil }
        self = context as? UncheckedContext ?? UncheckedContext(value: context)
    }

    private init(value: Any) { self.value = value }

    /// Returns the value in the box, or `context` itself if it is not boxed.
    package static func value(of context: Any?) -> Any? {
        (context as? UncheckedContext)?.value ?? context
    }
}

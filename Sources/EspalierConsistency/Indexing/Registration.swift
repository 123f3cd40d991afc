package import EspalierModels

/// A listener as the index knows it. Confined to the actor that owns the index.
final class Registration {
    let listener: WeakListener
    let owner: ModelIndex.Owner
    /// The tree in the index, which is that of `snapshot`.
    var root: ModelIndex.Slot = ModelIndex.none
    /// Parts that were listened to on their own: found by identifier, until the whole tree is
    /// indexed anew.
    var parts: [ModelIndex.Slot] = []
    /// Nil when the index may not be what the listener shows.
    var snapshot: Snapshot?
    /// The latest of the listener's own versions that the index has in it.
    var latestRevision = ChangeTime.zero

    init(listener: WeakListener, owner: ModelIndex.Owner) {
        self.listener = listener
        self.owner = owner
    }
}

/// The tree that the index holds for a listener, to be recognised when the listener is asked for it
/// again.
///
/// Objects are held weakly, so that nothing outlives its listener for it; values share what they
/// are made of.
enum Snapshot {
    /// A tree that its listener numbers: equal numbers, equal trees.
    case revision(ChangeTime)
    case object(WeakObject)
    case value(any ConsistencyManagerModel)
    /// A batch is made anew whenever it is asked for; what is in it is not.
    case batch([Snapshot?])

    struct WeakObject {
        weak var object: AnyObject?
    }

    init(_ base: ListenerBase) {
        if let revision = base.revision {
            self = .revision(revision)
        } else {
            self.init(of: base.model)
        }
    }

    private init(of model: any ConsistencyManagerModel) {
        if let batch = model as? BatchUpdateModel {
            self = .batch(batch.models.map { $0.map { Snapshot(of: $0) } })
        } else if type(of: model) is AnyClass {
            self = .object(WeakObject(object: model as AnyObject))
        } else {
            self = .value(model)
        }
    }

    func isTree(of base: ListenerBase) -> Bool {
        if case .revision(let revision) = self { return revision == base.revision }
        return isTree(base.model)
    }

    /// A tree of equal nodes has the same places as this one, whatever objects it is made of.
    private func isTree(_ model: any ConsistencyManagerModel) -> Bool {
        switch self {
        case .revision: return false
        case .value(let known): return ListenerBase.areSame(known, model)
        case .object(let weak):
            guard let object = weak.object, type(of: model) is AnyClass else { return false }
            if model as AnyObject === object { return true }
            return (object as? any ConsistencyManagerModel).map { ListenerBase.areSame($0, model) }
                ?? false
        case .batch(let snapshots):
            guard let batch = model as? BatchUpdateModel, batch.models.count == snapshots.count
            else { return false }
            return zip(snapshots, batch.models).allSatisfy { snapshot, model in
                guard let snapshot, let model else { return snapshot == nil && model == nil }
                return snapshot.isTree(model)
            }
        }
    }
}

/// What a listener shows, as the update that is to change it finds it.
package struct ListenerBase: Sendable {
    package let model: any ConsistencyManagerModel
    /// Set by listeners that number their trees.
    package let revision: ChangeTime?
    /// Which beginning of gathering it is a later version of; nil unless the listener is paused.
    let gathering: ChangeTime?

    /// The latest edits that led to it, which the index may not know yet.
    let splices: [TreeSplice]

    package init(
        model: any ConsistencyManagerModel, revision: ChangeTime?, splices: [TreeSplice] = []
    ) {
        self.init(model: model, revision: revision, gathering: nil, splices: splices)
    }

    init(
        model: any ConsistencyManagerModel, revision: ChangeTime?, gathering: ChangeTime?,
        splices: [TreeSplice] = []
    ) {
        self.model = model
        self.revision = revision
        self.gathering = gathering
        self.splices = splices
    }

    /// Whether the listener has gone on showing what it did: the same numbers where it numbers its
    /// trees, else an equal tree.
    func isTree(of other: ListenerBase) -> Bool {
        if let revision, let other = other.revision { return revision == other }
        return Self.areSame(model, other.model)
    }

    static func areSame(_ a: any ConsistencyManagerModel, _ b: any ConsistencyManagerModel) -> Bool
    {
        guard type(of: a) == type(of: b) else { return false }
        if type(of: a) is AnyClass, a as AnyObject === b as AnyObject { return true }
        return a.isEqualToModel(b)
    }
}

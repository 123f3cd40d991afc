package import EspalierModels

/// A listener as the index knows it. Confined to the actor that owns the index.
final class Registration {
    let listener: WeakListener
    let owner: ModelIndex.Owner
    /// The tree in the index, which is that of `snapshot`.
    var root: ModelIndex.Slot = ModelIndex.none
    /// Parts that were listened to on their own: found by identifier, until the whole tree is indexed anew.
    var parts: [ModelIndex.Slot] = []
    /// Nil when the index may not be what the listener shows.
    var snapshot: Snapshot?

    init(listener: WeakListener, owner: ModelIndex.Owner) {
        self.listener = listener
        self.owner = owner
    }
}

/// The tree that the index holds for a listener, to be recognised when the listener is asked for it again.
///
/// Objects are held weakly, so that nothing outlives its listener for it; values share what they are made of.
enum Snapshot {
    /// A tree that its listener numbers: equal numbers, equal trees.
    case revision(ChangeTime)
    case object(WeakObject)
    case value(any ConsistencyManagerModel)

    struct WeakObject {
        weak var object: AnyObject?
    }

    init(_ base: ListenerBase) {
        if let revision = base.revision {
            self = .revision(revision)
        } else if type(of: base.model) is AnyClass {
            self = .object(WeakObject(object: base.model as AnyObject))
        } else {
            self = .value(base.model)
        }
    }

    /// A tree of equal nodes has the same places as this one, whatever objects it is made of.
    func isTree(of base: ListenerBase) -> Bool {
        switch self {
        case .revision(let revision): return revision == base.revision
        case .value(let model): return type(of: model) == type(of: base.model) && model.isEqualToModel(base.model)
        case .object(let weak):
            guard let object = weak.object else { return false }
            guard type(of: base.model) is AnyClass else { return false }
            if base.model as AnyObject === object { return true }
            guard let model = object as? any ConsistencyManagerModel, type(of: model) == type(of: base.model) else {
                return false
            }
            return model.isEqualToModel(base.model)
        }
    }
}

/// What a listener shows, as the update that is to change it finds it.
package struct ListenerBase: Sendable {
    package let model: any ConsistencyManagerModel
    /// Set by listeners that number their trees.
    package let revision: ChangeTime?

    package init(model: any ConsistencyManagerModel, revision: ChangeTime?) {
        self.model = model
        self.revision = revision
    }
}

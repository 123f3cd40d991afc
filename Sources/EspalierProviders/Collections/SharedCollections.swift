import EspalierModels

/// The collections that someone shows, edits or fetches, by their keys: one for a key and a type of
/// element.
@MainActor
final class SharedCollections {
    private struct Name: Hashable {
        let key: String
        let type: ObjectIdentifier
    }
    private struct WeakCollection {
        weak var collection: AnyObject?
    }
    private var collections: [Name: WeakCollection] = [:]
    private var limit = 64
    private var queues: [Name: Queue] = [:]

    /// An edit of a collection that has to be loaded first; it says when it is done.
    typealias Turn = @MainActor (_ done: @escaping @MainActor () -> Void) -> Void

    private struct Queue {
        var waiting: ArraySlice<Turn> = []
        /// A turn has begun and is not done.
        var isBusy = false
        /// `run` is at it: a turn that is done at once is followed by the next from there, and not
        /// from inside it.
        var isRunning = false
    }

    nonisolated init() {}

    /// The collection under a key, made if nobody has it.
    func collection<T: SimpleModel>(_ key: String, in manager: DataModelManager)
        -> SharedCollection<T>
    {
        let name = Name(key: key, type: ObjectIdentifier(T.self))
        if let known = collections[name]?.collection as? SharedCollection<T> { return known }
        let collection = SharedCollection<T>(key: key, manager)
        collections[name] = WeakCollection(collection: collection)
        if collections.count > limit {
            collections = collections.filter { $0.value.collection != nil }
            limit = max(64, collections.count * 2)
        }
        return collection
    }

    /// Whether edits wait for their collections, or for others to be done.
    var isEditing: Bool { !queues.isEmpty }

    /// Edits of one collection one after the other, in the order of the calls: each finds what the
    /// one before has left. At once, if none is under way.
    func inTurn<T: SimpleModel>(_ key: String, of type: T.Type, _ turn: @escaping Turn) {
        let name = Name(key: key, type: ObjectIdentifier(type))
        queues[name, default: Queue()].waiting.append(turn)
        run(name)
    }

    private func run(_ name: Name) {
        guard queues[name]?.isRunning == false else { return }
        queues[name]?.isRunning = true
        while queues[name]?.isBusy == false, let turn = queues[name]?.waiting.popFirst() {
            queues[name]?.isBusy = true
            turn { [self] in
                queues[name]?.isBusy = false
                run(name)
            }
        }
        queues[name]?.isRunning = false
        if queues[name]?.isBusy == false { queues[name] = nil }
    }
}

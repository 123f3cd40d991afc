import EspalierConsistency
import EspalierModels

/// The collections that providers show, edit or fetch: one for each key and type of element; and
/// the queues of static edits.
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
    private var queues: [Name: EditQueue] = [:]

    /// An edit of a collection that has to be loaded first. It calls `done` when it is complete.
    typealias StaticEdit = @MainActor (_ done: @escaping @MainActor () -> Void) -> Void

    private struct EditQueue {
        var waiting: ArraySlice<StaticEdit> = []
        /// Whether an edit has begun and is not complete.
        var isBusy = false
        /// Whether `run` is active. The next edit then starts from there, and not from inside the
        /// edit before.
        var isRunning = false
    }

    nonisolated init() {}

    /// Returns the collection under `key`, which is created if no provider has it.
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

    /// Reads collections again that others have changed in the cache.
    ///
    /// - Parameters:
    ///   - keys: The keys; nil for all collections.
    ///   - identifiers: The identifiers of nodes that collections may have lost. Collections that
    ///     show such an element are read, whatever their keys.
    ///   - clearing: Whether a collection that is not stored becomes empty.
    func refresh(_ keys: Set<String>?, containing identifiers: Set<String>, clearing: Bool) {
        for (name, known) in collections {
            guard let collection = known.collection as? any RefreshableCollection else { continue }
            if keys?.contains(name.key) ?? true
                || !identifiers.isEmpty && collection.hasElement(in: identifiers)
            {
                collection.refresh(clearing: clearing)
            }
        }
    }

    /// Reads the collections under a key again that have elements of other types: one of `type` has
    /// changed the list that they share in the cache.
    func refreshOthers(_ key: String, than type: Any.Type) {
        for (name, known) in collections
        where name.key == key && name.type != ObjectIdentifier(type) {
            (known.collection as? any RefreshableCollection)?.refresh(clearing: false)
        }
    }

    /// Whether static edits wait for their collections, or for earlier edits.
    var isEditing: Bool { !queues.isEmpty }

    /// Runs static edits of one collection one after the other, in the order of the calls. An edit
    /// starts at once if none is in progress.
    func enqueueEdit<T: SimpleModel>(of key: String, _ type: T.Type, _ edit: @escaping StaticEdit) {
        let name = Name(key: key, type: ObjectIdentifier(type))
        queues[name, default: EditQueue()].waiting.append(edit)
        run(name)
    }

    private func run(_ name: Name) {
        guard queues[name]?.isRunning == false else { return }
        queues[name]?.isRunning = true
        while queues[name]?.isBusy == false, let edit = queues[name]?.waiting.popFirst() {
            queues[name]?.isBusy = true
            edit { [self] in
                queues[name]?.isBusy = false
                run(name)
            }
        }
        queues[name]?.isRunning = false
        if queues[name]?.isBusy == false { queues[name] = nil }
    }
}

/// A collection of any type of element.
@MainActor
protocol RefreshableCollection: AnyObject {
    /// Reads the elements from the cache, and shows them if they are others.
    ///
    /// - Parameter clearing: Whether a collection that is not stored becomes empty.
    func refresh(clearing: Bool)

    /// Returns whether an element has one of the identifiers.
    func hasElement(in identifiers: Set<String>) -> Bool
}

/// The tree of a collection for the consistency manager: a root without identifier, whose children
/// are the elements. A deleted element is left out.
struct CollectionModel<T: SimpleModel>: ListModel {
    let elements: [T]

    var modelIdentifier: String? { nil }

    func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)? {
        CollectionModel(elements: elements.compactMap { transform($0) as? T })
    }

    func forEach(_ visit: (any ConsistencyManagerModel) -> Void) {
        for element in elements { visit(element) }
    }

    var childCount: Int { elements.count }

    func child(at place: Int) -> any ConsistencyManagerModel { elements[place] }

    func replacing(_ children: [Int: (any ConsistencyManagerModel)?]) -> any ConsistencyManagerModel
    {
        var new = elements
        for (place, child) in children {
            if let child = child as? T { new[place] = child }
        }
        let removed = children.filter { !($0.value is T) }.keys.sorted()
        new.removeSubranges(RangeSet(removed, within: new))
        return CollectionModel(elements: new)
    }

    func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool {
        guard let other = other as? CollectionModel else { return false }
        return areEqual(elements, other.elements)
    }
}

extension CollectionNeighbours {
    /// The neighbours of a place in a list.
    init(of index: Int, in elements: [some SimpleModel]) {
        func identifier(_ index: Int) -> String? {
            elements.indices.contains(index) ? elements[index].modelIdentifier : nil
        }
        self.init(
            count: elements.count, previous: identifier(index - 1), current: identifier(index),
            next: identifier(index + 1))
    }
}

extension Delivery {
    /// The nodes below the elements of a list that have changed or are gone.
    var changedIdentifiers: Set<String> {
        childChanges.values.reduce(into: []) {
            $0.formUnion($1.updates.changedModelIds)
            $0.formUnion($1.updates.deletedModelIds)
        }
    }
}

/// Returns whether two lists have equal elements.
///
/// - Complexity: O(*n*) in the nodes of the elements.
func areEqual<T: SimpleModel>(_ a: [T], _ b: [T]) -> Bool {
    guard a.count == b.count else { return false }
    return zip(a, b).allSatisfy { $0.isEqualToModel($1) }
}

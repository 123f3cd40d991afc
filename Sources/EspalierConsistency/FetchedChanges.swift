package import EspalierModels
import Synchronization

/// A node that a listener shows or waits for, as the type that the listener has.
package struct ShownNode: Sendable {
    package let identifier: String
    package let type: any ConsistencyManagerModel.Type

    package init(identifier: String, type: any ConsistencyManagerModel.Type) {
        self.identifier = identifier
        self.type = type
    }
}

/// A node that a store does not have any more.
package struct GoneNode: Sendable {
    package let identifier: String
    /// The type as which the node can't be read; nil for all types.
    package let type: (any ConsistencyManagerModel.Type)?

    package init(_ identifier: String, as type: (any ConsistencyManagerModel.Type)?) {
        self.identifier = identifier
        self.type = type
    }
}

/// A node as one type sees it, for sets of nodes.
package struct NodeView: Hashable, Sendable {
    private let identifier: NodeIdentifier
    private let type: ObjectIdentifier

    package init(_ identifier: String, _ type: any ConsistencyManagerModel.Type) {
        self.identifier = NodeIdentifier(identifier)
        self.type = ObjectIdentifier(type)
    }
}

/// Nodes that listeners show, once for each type, in the order in which they were found.
private struct ShownNodes {
    private(set) var nodes: [ShownNode] = []
    private var known: Set<NodeView> = []

    mutating func add(_ identifier: String, _ type: any ConsistencyManagerModel.Type) {
        if known.insert(NodeView(identifier, type)).inserted {
            nodes.append(ShownNode(identifier: identifier, type: type))
        }
    }
}

// What a store has, and another writer has written there: the trees of listeners follow it.
extension ConsistencyWorker {
    /// Returns the nodes of listeners' trees that have one of `identifiers`, once for each type,
    /// parents before their children; and such nodes that listeners wait for.
    ///
    /// - Parameter identifiers: Nil for all: then only the topmost nodes of each tree.
    /// - Complexity: O(*n*) in the nodes of the trees that have one of the nodes.
    func shownNodes(_ identifiers: Set<NodeIdentifier>?) async -> [ShownNode] {
        var found = ShownNodes()
        func collect(_ model: any ConsistencyManagerModel) {
            if let text = model.modelIdentifier,
                identifiers?.contains(NodeIdentifier(text)) ?? true
            {
                found.add(text, type(of: model))
                if identifiers == nil { return }
            }
            model.forEach(collect)
        }
        for base in await bases(showing: identifiers) { collect(base.model) }
        for node in await awaitedNodes()
        where identifiers?.contains(NodeIdentifier(node.identifier)) ?? true {
            found.add(node.identifier, node.type)
        }
        return found.nodes
    }

    /// Returns the topmost nodes of listeners' trees that contain a node with one of `identifiers`,
    /// once for each type.
    ///
    /// - Complexity: O(*n*) in the nodes of the trees that have one of the nodes.
    func nodes(containing identifiers: Set<NodeIdentifier>) async -> [ShownNode] {
        var found = ShownNodes()
        func collect(_ model: any ConsistencyManagerModel) {
            guard let text = model.modelIdentifier else { return model.forEach(collect) }
            if Self.contains(identifiers, model) { found.add(text, type(of: model)) }
        }
        for base in await bases(showing: identifiers) { collect(base.model) }
        return found.nodes
    }

    /// Posts models and deletes nodes as a store had them at `fetch`, in one update. Leaves out
    /// those that were posted since, and returns their identifiers.
    ///
    /// A tree that contains such a node is left out as a whole: a part of it may be older than what
    /// is shown.
    func post(
        fetched models: [any ConsistencyManagerModel], deleting deleted: [GoneNode],
        at fetch: ChangeTime, epoch: Int
    ) async -> Set<String> {
        let newer = identifiersPosted(since: fetch)
        var stale: Set<String> = []
        var fresh: [any ConsistencyManagerModel] = []
        for model in models {
            guard let identifier = model.modelIdentifier else { continue }
            if !newer.isEmpty, Self.contains(newer, model) {
                stale.insert(identifier)
            } else {
                fresh.append(model)
            }
        }
        var gone: [GoneNode] = []
        for node in deleted {
            if newer.contains(NodeIdentifier(node.identifier)) {
                stale.insert(node.identifier)
            } else {
                gone.append(node)
            }
        }
        guard !fresh.isEmpty || !gone.isEmpty else { return stale }
        await post(
            PostedUpdate(
                model: BatchUpdateModel(models: fresh), isDeletion: false, context: nil,
                time: fetch, epoch: epoch, onCascade: nil, isFetched: true, gone: gone))
        return stale
    }

    private static func contains(
        _ identifiers: Set<NodeIdentifier>, _ model: any ConsistencyManagerModel
    ) -> Bool {
        if let identifier = NodeIdentifier(of: model), identifiers.contains(identifier) {
            return true
        }
        var isFound = false
        model.forEach { if !isFound { isFound = contains(identifiers, $0) } }
        return isFound
    }
}

/// The position of a change in the order of all changes of this process.
///
/// Each new time is later than all times created before it, on any thread. It is a counter and says
/// nothing about clocks.
///
/// ```swift
/// let earlier = ChangeTime()
/// let later = ChangeTime()
/// later.after(earlier)        // true
/// ```
public struct ChangeTime: Hashable, Comparable, Sendable {
    private static let latest = Atomic<Int>(0)

    private let ordinal: Int

    /// Creates a time that is later than all others so far. May be called on any thread.
    public init() { ordinal = Self.latest.add(1, ordering: .relaxed).newValue }

    private init(ordinal: Int) { self.ordinal = ordinal }

    /// The time before all others: the time of data that was never set.
    public static let zero = ChangeTime(ordinal: 0)

    /// Returns whether this time is later than `other`.
    public func after(_ other: ChangeTime) -> Bool { ordinal > other.ordinal }

    /// Returns whether `a` is earlier than `b`.
    public static func < (a: ChangeTime, b: ChangeTime) -> Bool { a.ordinal < b.ordinal }
}

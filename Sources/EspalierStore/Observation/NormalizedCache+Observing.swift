public import EspalierModels
public import EspalierRecords
import Synchronization

// Each observation shows the current state first, and then the state after each commit that has
// changed a node of it: of this process or another one. A slow consumer misses states in between
// and never the last one. An observation that no code holds any longer costs nothing.
extension NormalizedCache {
    /// Follows the tree of a node.
    ///
    /// ```swift
    /// for await person in cache.updates(of: Person.self, "Person:1") {
    ///     name = person?.name
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - identifier: The node's identifier.
    /// - Returns: The model with everything below it, now and after each change of it; nil while it
    ///   can't be read. The sequence ends when it is cancelled or the cache is closed.
    /// - Complexity: O(*n*) in the records of the tree for each element.
    public func updates<Model: IdentifiedModel>(of type: Model.Type, _ identifier: String)
        -> AsyncStream<Model?>
    {
        stream { send in
            observation(.node(type, identifier), send) { try $0.node(type, identifier, into: &$1) }
        }
    }

    /// Follows the trees of several nodes.
    ///
    /// - Parameters:
    ///   - type: The type as which the nodes are read.
    ///   - identifiers: The identifiers of the nodes.
    /// - Returns: The models that can be read, by identifier, now and after each change of one.
    public func updates<Model: IdentifiedModel>(of type: Model.Type, ids identifiers: [String])
        -> AsyncStream<[String: Model]>
    {
        let models = Mutex(KnownModels<Model>(waiting: Set(identifiers)))
        return stream { send in
            let observations = Set(identifiers).map { identifier in
                observation(.node(type, identifier)) { model in
                    let all = models.withLock { $0.set(model, identifier) }
                    if let all { send(all) }
                } _: {
                    try $0.node(type, identifier, into: &$1)
                }
            }
            if identifiers.isEmpty { send([:]) }
            return CacheObservation { _ = observations }
        }
    }

    /// Follows a collection and its elements.
    ///
    /// - Parameters:
    ///   - key: The collection's key.
    ///   - type: The type as which the elements are read.
    /// - Returns: The elements in order, now and after each change of the collection or of an
    ///   element; nil while the collection can't be read.
    public func updates<Model: IdentifiedModel>(
        ofCollection key: String, of type: Model.Type = Model.self
    ) -> AsyncStream<[Model]?> {
        stream { send in
            observation(.collection(type, key), send) {
                try $0.collection(type, forKey: key, into: &$1)
            }
        }
    }

    /// Calls `handler` with the tree of a node, now and after each change of it.
    ///
    /// ```swift
    /// let observation = cache.observe(Person.self, "Person:1") { person in ... }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - identifier: The node's identifier.
    ///   - handler: Receives the model; nil while it can't be read. Called on a thread of the
    ///     cache's, one call after the other. It delays all observations, so it returns soon; it
    ///     may read and submit writes, and must not wait for the cache.
    /// - Returns: The observation, which ends when it is released. A call may still be under way
    ///   then.
    public func observe<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String,
        _ handler: @escaping @Sendable (Model?) -> Void
    ) -> CacheObservation {
        observation(.node(type, identifier), handler) { try $0.node(type, identifier, into: &$1) }
    }

    /// Makes a sequence of the states that an observation sends.
    private func stream<Value: Sendable>(
        _ begin: (@escaping @Sendable (Value) -> Void) -> CacheObservation
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream<Value>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let end = closing.whenClosed { continuation.finish() }
        let observation = begin { continuation.yield($0) }
        let held = Mutex<[CacheObservation]>([observation, end])
        continuation.onTermination = { _ in held.withLock { $0 = [] } }
        return stream
    }

    /// Begins an observation of what `body` reads.
    private func observation<Value: Sendable>(
        _ target: ReadTarget, _ send: @escaping @Sendable (Value?) -> Void,
        _ body: @escaping SendableReadBody<Value>
    ) -> CacheObservation {
        let center = engine.observations
        guard !isClosed else { return CacheObservation {} }
        let number = center.add(dependingOn: target.identifier) { [weak engine] completion in
            guard let engine else { return completion([target.identifier], false) }
            let names = Mutex<Set<String>>([target.identifier])
            // A screen does not lose what it shows because that has become too old.
            engine.read(target.accepting(.stale), .snapshot, .touch) { reader, value in
                reader.notesNames = true
                defer { names.withLock { $0.formUnion(reader.names) } }
                return try body(reader, &value)
            } completion: { outcome in
                // The last state stays when the cache is closed.
                if !engine.observations.isClosed { send(outcome.value) }
                completion(names.withLock { $0 }, outcome.reason?.lacksNames == true)
            }
        }
        return CacheObservation { [weak center] in number.map { center?.remove($0) } }
    }
}

extension MissReason {
    /// Whether records were not read that may be written again, or deleted, under names which the
    /// read does not know.
    fileprivate var lacksNames: Bool {
        switch self {
        case .lost, .damaged, .dangling, .newerVersion, .unavailable: true
        default: false
        }
    }
}

/// The models of an observation of several nodes.
private struct KnownModels<Model: Sendable> {
    private var waiting: Set<String>
    private var models: [String: Model] = [:]

    init(waiting: Set<String>) { self.waiting = waiting }

    /// Sets a model. Returns all models once each was read.
    mutating func set(_ model: Model?, _ identifier: String) -> [String: Model]? {
        waiting.remove(identifier)
        models[identifier] = model
        return waiting.isEmpty ? models : nil
    }
}

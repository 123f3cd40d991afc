import EspalierModels
public import EspalierRecords

// A collection keeps its elements in order, the same element twice if it was added twice. It is
// stored in segments, so that the cost of an edit does not grow with the length of the collection.
//
// Indexes count the elements that exist. Elements whose own node was deleted do not count. An
// element that a read leaves out because something that it can't exist without was deleted does
// count, because that depends on the type as which the reader reads it.
extension NormalizedCache {
    // MARK: - Reads

    /// Reads the collection under `key`. Blocks the calling thread.
    ///
    /// The result leaves out elements whose node was deleted. Any other gap makes the whole
    /// collection a miss.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - key: The collection's key.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The elements in order, or the reason of the miss.
    public func collectionOutcome<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) -> ReadOutcome<[Model]> {
        outcome(.collection(type, key).accepting(freshness).dated, consistency, access) {
            [wallClock] in
            try $0.dated(by: wallClock).collection(type, forKey: key, into: &$1)
        }
    }

    /// Reads the collection under `key`: at once if it is in memory, on another thread if not.
    ///
    /// The result leaves out elements whose node was deleted. Any other gap makes the whole
    /// collection a miss.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - key: The collection's key.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The elements in order, or the reason of the miss.
    public nonisolated(nonsending) func collectionOutcome<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) async -> ReadOutcome<[Model]> {
        await outcome(.collection(type, key).accepting(freshness).dated, consistency, access) {
            [wallClock] in
            try $0.dated(by: wallClock).collection(type, forKey: key, into: &$1)
        }
    }

    /// Reads the collection under `key`. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - key: The collection's key.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The elements in order, without those whose node was deleted; nil for a miss.
    public func collection<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) -> [Model]? {
        if let known = memoryHit(
            .collection(type, key).accepting(freshness), as: [Model].self, consistency, access)
        {
            return known.value(as: [Model].self)
        }
        return decoded(.collection(type, key).accepting(freshness), consistency, access) {
            try $0.collection(type, forKey: key, into: &$1)
        }
    }

    /// Reads the collection under `key`: at once if it is in memory, on another thread if not.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - key: The collection's key.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The elements in order, without those whose node was deleted; nil for a miss.
    public nonisolated(nonsending) func collection<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) async -> [Model]? {
        if !Task.isCancelled,
            let known = memoryHit(
                .collection(type, key).accepting(freshness), as: [Model].self, consistency, access)
        {
            return known.value(as: [Model].self)
        }
        return await decoded(.collection(type, key).accepting(freshness), consistency, access) {
            try $0.collection(type, forKey: key, into: &$1)
        }
    }

    /// Reads a part of the collection under `key`: a page of a list. Blocks the calling thread.
    ///
    /// ```swift
    /// let page = cache.collection(of: Message.self, forKey: "inbox", range: 40..<60)
    /// ```
    ///
    /// Elements whose own node was deleted do not count, as in edits.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - key: The collection's key.
    ///   - range: The indexes of the elements. A range that reaches behind the end is cut off.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The elements in order, or the reason of the miss.
    /// - Complexity: O(*n*) in the records of these elements. While the cache has deleted nodes to
    ///   which records still refer, also a look-up for each element in front of them.
    public func collectionOutcome<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, range: Range<Int>,
        consistency: Consistency = .latest, access: Access = .touch,
        accepting freshness: Freshness = .fresh
    ) -> ReadOutcome<[Model]> {
        outcome(.collection(type, key).accepting(freshness), consistency, access) { [wallClock] in
            try $0.dated(by: wallClock).collection(type, forKey: key, in: range, into: &$1)
        }
    }

    /// Reads a part of the collection under `key` on another thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - key: The collection's key.
    ///   - range: The indexes of the elements. A range that reaches behind the end is cut off.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The elements in order, or the reason of the miss.
    public nonisolated(nonsending) func collectionOutcome<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, range: Range<Int>,
        consistency: Consistency = .latest, access: Access = .touch,
        accepting freshness: Freshness = .fresh
    ) async -> ReadOutcome<[Model]> {
        await outcome(.collection(type, key).accepting(freshness), consistency, access) {
            [wallClock] in
            try $0.dated(by: wallClock).collection(type, forKey: key, in: range, into: &$1)
        }
    }

    /// Reads a part of the collection under `key`. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - key: The collection's key.
    ///   - range: The indexes of the elements. A range that reaches behind the end is cut off.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The elements in order; nil for a miss.
    public func collection<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, range: Range<Int>,
        consistency: Consistency = .latest, access: Access = .touch,
        accepting freshness: Freshness = .fresh
    ) -> [Model]? {
        outcome(.collection(type, key).accepting(freshness), consistency, access) {
            try $0.collection(type, forKey: key, in: range, into: &$1)
        }.value
    }

    /// Reads a part of the collection under `key` on another thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - key: The collection's key.
    ///   - range: The indexes of the elements. A range that reaches behind the end is cut off.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The elements in order; nil for a miss.
    public nonisolated(nonsending) func collection<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, range: Range<Int>,
        consistency: Consistency = .latest, access: Access = .touch,
        accepting freshness: Freshness = .fresh
    ) async -> [Model]? {
        await outcome(.collection(type, key).accepting(freshness), consistency, access) {
            try $0.collection(type, forKey: key, in: range, into: &$1)
        }.value
    }

    /// Returns the number of elements of the collection under `key`; nil for a miss. Blocks the
    /// calling thread.
    ///
    /// Elements whose own node was deleted do not count, as in edits. An element that a read leaves
    /// out because something below it was deleted does count.
    ///
    /// - Parameters:
    ///   - key: The collection's key.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    /// - Complexity: O(1). While the cache has deleted nodes to which records still refer, a
    ///   look-up for each element.
    public func collectionCount(
        forKey key: String, consistency: Consistency = .latest, access: Access = .touch
    ) -> Int? {
        outcome(.collection(AnyElement.self, key).accepting(.stale), consistency, access) {
            try $0.collectionCount(forKey: key, into: &$1)
        }.value
    }

    /// Returns the number of elements of the collection under `key`, which it reads on another
    /// thread; nil for a miss.
    ///
    /// - Parameters:
    ///   - key: The collection's key.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the collection the last to be evicted.
    public nonisolated(nonsending) func collectionCount(
        forKey key: String, consistency: Consistency = .latest, access: Access = .touch
    ) async -> Int? {
        await outcome(.collection(AnyElement.self, key).accepting(.stale), consistency, access) {
            try $0.collectionCount(forKey: key, into: &$1)
        }.value
    }

    // MARK: - Edits

    /// Sets the collection under `key`.
    ///
    /// Elements with identifiers become nodes to which the collection refers; the collection
    /// contains the others. If there is a collection under `key` already, elements at its beginning
    /// and its end that stay are not written again.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare;
    ///     nil: the types decide.
    ///   - maxAge: How old the collection and the records of its elements may be, see
    ///     ``IdentifiedModel/maxAge``; nil: the types decide.
    /// - Returns: A ticket. It fails with `noIdentifier` when `key` is empty, and otherwise for the
    ///   same reasons as that of `set(_:policy:maxAge:)`.
    @discardableResult
    public func setCollection<Model: IdentifiedModel>(
        _ models: [Model], forKey key: String, policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) -> WriteTicket {
        setCollection(models, forKey: key, TreePolicy(policy, root: Model.writePolicy), maxAge)
    }

    /// Inserts elements before the element at `index`.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - index: An index of the collection, or its number of elements, which appends.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare;
    ///     nil: the types decide.
    /// - Returns: A ticket. It fails with `notFound` when there is no collection, and with
    ///   `outOfRange` when `index` is outside of it.
    @discardableResult
    public func insert<Model: IdentifiedModel>(
        _ models: [Model], at index: Int, inCollection key: String, policy: WritePolicy? = nil
    ) -> WriteTicket {
        edit(
            key, .insert(models.map(ModelStorage.encoding), at: index),
            TreePolicy(policy, root: Model.writePolicy))
    }

    /// Appends elements; creates the collection if there is none.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare;
    ///     nil: the types decide.
    /// - Returns: A ticket that fails for the same reasons as that of `set(_:policy:maxAge:)`.
    @discardableResult
    public func append<Model: IdentifiedModel>(
        _ models: [Model], toCollection key: String, policy: WritePolicy? = nil
    ) -> WriteTicket {
        edit(
            key, .append(models.map(ModelStorage.encoding)),
            TreePolicy(policy, root: Model.writePolicy))
    }

    /// Appends those elements that are not in the collection yet; creates the collection if there
    /// is none.
    ///
    /// A page of a list may overlap with the one before, because elements were added on the server
    /// meanwhile. An element that is in the collection stays where it is, and its node is written.
    /// Elements without identifiers are always appended.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare;
    ///     nil: the types decide.
    /// - Returns: A ticket that fails for the same reasons as that of `set(_:policy:maxAge:)`.
    /// - Complexity: O(*n*) in the elements of the collection, of which only references are read.
    @discardableResult
    public func appendNew<Model: IdentifiedModel>(
        _ models: [Model], toCollection key: String, policy: WritePolicy? = nil
    ) -> WriteTicket {
        write { $0.appendNew(models, toCollection: key, policy: policy) }
    }

    /// Replaces the element at `index` by `model`.
    ///
    /// - Parameters:
    ///   - model: The new element.
    ///   - index: The index of the element to replace.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare;
    ///     nil: the types decide.
    /// - Returns: A ticket. It fails with `notFound` when there is no collection, and with
    ///   `outOfRange` when `index` is outside of it.
    @discardableResult
    public func update<Model: IdentifiedModel>(
        _ model: Model, at index: Int, inCollection key: String, policy: WritePolicy? = nil
    ) -> WriteTicket {
        edit(
            key, .update(ModelStorage.encoding(model), at: index),
            TreePolicy(policy, root: Model.writePolicy))
    }

    /// Removes elements from the collection; their nodes stay.
    ///
    /// - Parameters:
    ///   - range: The indexes of the elements.
    ///   - key: The collection's key; not empty.
    /// - Returns: A ticket. It fails with `notFound` when there is no collection, and with
    ///   `outOfRange` when `range` is not inside of it.
    @discardableResult
    public func remove(_ range: Range<Int>, fromCollection key: String) -> WriteTicket {
        edit(key, .remove(range), .replace)
    }

    /// Removes the element at `index` from the collection; its node stays.
    ///
    /// - Parameters:
    ///   - index: The index of the element.
    ///   - key: The collection's key; not empty.
    /// - Returns: A ticket. It fails with `notFound` when there is no collection, and with
    ///   `outOfRange` when `index` is outside of it.
    @discardableResult
    public func remove(at index: Int, fromCollection key: String) -> WriteTicket {
        edit(key, .remove(at: index), .replace)
    }

    /// Removes the elements that satisfy a condition; their nodes stay.
    ///
    /// ```swift
    /// cache.remove(Message.self, fromCollection: "inbox") { $0.isRead }
    /// ```
    ///
    /// No other write, of any process, comes between the reading and the removal. An element that a
    /// read leaves out stays.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - key: The collection's key; not empty.
    ///   - isRemoved: Returns whether to remove an element. Called on the thread that commits, more
    ///     than once for an element if the commit has to be repeated; it must not wait for the
    ///     cache.
    /// - Returns: A ticket. It fails with `notFound` when there is no collection, or it can't be
    ///   read as this type. Nothing is removed then.
    /// - Complexity: O(*n*) in the records of all elements and below.
    @discardableResult
    public func remove<Model: IdentifiedModel>(
        _ type: Model.Type, fromCollection key: String,
        where isRemoved: @escaping @Sendable (Model) -> Bool
    ) -> WriteTicket {
        guard !key.isEmpty else { return reject(.noIdentifier) }
        let limits = engine.configuration.limits
        return submit(isDroppable: false) { flattener in
            let removal = CollectionOperation.removeAll { commit, snapshot in
                let reader = SnapshotReader(commit, snapshot, limits: limits)
                switch try reader.positions(type, inCollection: key, where: isRemoved) {
                case .hit(let hit): return hit.value
                case .miss(let reason): throw CacheError.unreadableCollection(reason)
                }
            }
            return .collection(key, removal, flattener.finish())
        }
    }

    /// Moves an element.
    ///
    /// - Parameters:
    ///   - source: The element's index before the move.
    ///   - destination: The element's index after the move.
    ///   - key: The collection's key; not empty.
    /// - Returns: A ticket. It fails with `notFound` when there is no collection, and with
    ///   `outOfRange` when an index is outside of it.
    @discardableResult
    public func move(from source: Int, to destination: Int, inCollection key: String) -> WriteTicket
    {
        move(from: source, to: destination, inCollection: key, expecting: nil)
    }

    /// Submits a move. A full queue never drops it, like an edit.
    func move(
        from place: Int, to destination: Int, inCollection key: String,
        expecting neighbours: CollectionNeighbours?, source: Int = 0
    ) -> WriteTicket {
        guard !key.isEmpty else { return reject(.noIdentifier) }
        return submit(isDroppable: false) { flattener in
            .collection(
                key, .move(from: place, to: destination), flattener.finish(),
                expecting: neighbours, source: source)
        }
    }

    /// Deletes the collection; the nodes of its elements stay.
    ///
    /// - Parameter key: The collection's key; not empty.
    /// - Returns: A ticket. It succeeds when there is no such collection.
    @discardableResult
    public func deleteCollection(forKey key: String) -> WriteTicket {
        delete([(.collection, key)])
    }

    /// Submits the elements of a whole collection.
    func setCollection(
        _ elements: [any IdentifiedModel], forKey key: String, _ policy: TreePolicy,
        _ maxAge: Duration? = nil, source: Int = 0
    ) -> WriteTicket {
        guard !key.isEmpty else { return reject(.noIdentifier) }
        return submit(elements, .collection, key, policy, maxAge, source: source) { flattener in
            let drafts = try elements.map { try flattener.value(ModelStorage.encoding($0)) }
            return .collection(key, .replaceAll(drafts), flattener.finish(), source: source)
        }
    }

    /// Submits an edit. A full queue never drops it: the edits after it would be out of date.
    func edit(
        _ key: String, _ edit: CollectionEdit<ModelEncoding>, _ policy: TreePolicy,
        expecting neighbours: CollectionNeighbours? = nil, source: Int = 0
    ) -> WriteTicket {
        guard !key.isEmpty else { return reject(.noIdentifier) }
        return submit(isDroppable: false) { flattener in
            flattener.policy = policy
            let drafts = try edit.map { try flattener.value($0) }
            return .collection(
                key, .edit(drafts), flattener.finish(), expecting: neighbours,
                source: source)
        }
    }
}

/// Encodes one model, on the thread that flattens it.
typealias ModelEncoding = @Sendable (ValueEncoder) throws -> Void

extension ModelStorage {
    static func encoding(_ model: some IdentifiedModel) -> ModelEncoding {
        { try encode(model, into: $0) }
    }
}

/// Stands in statistics for elements whose type a read does not know.
enum AnyElement {}

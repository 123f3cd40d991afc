import EspalierLMDB
import EspalierModels
public import EspalierRecords

/// Writes that take effect together: all of them, or none.
///
/// ```swift
/// let ticket = cache.write { batch in
///     batch.set(user)
///     batch.set(issues)
///     batch.setCollection(issues, forKey: "open issues")
///     batch.delete("Issue:7")
/// }
/// try await ticket.committed
/// ```
///
/// The models may be of any types. The steps take effect in the order of the calls, and no read and
/// no other write comes between them. Where several models of a batch contain the same node with
/// different content, the first determines its record, as in `set` of an array, and
/// ``WriteTicket/contradictions`` counts the others. A step that deletes, or one whose policy is
/// not that of the step before, begins anew: what follows it overwrites what comes before.
public struct WriteBatch: Sendable {
    /// A step whose models are not flattened yet.
    private struct Draft: Sendable {
        let policy: TreePolicy
        /// Whether the step deletes, so that the models before it and those after it are not one
        /// tree.
        var isDelete = false
        /// Whether a full queue may drop the step.
        var isDroppable = false
        /// How old the records may be; nil for what their types say.
        var maxAge: Duration?
        let flatten: @Sendable (Flattener) throws -> BatchSection.Step
    }

    private var drafts: [Draft] = []
    /// Why the batch can't be written; nil if it can.
    private(set) var failure: CacheError?

    init() {}

    /// Whether a full queue may drop the batch: it has nothing but models to set.
    var isDroppable: Bool { drafts.allSatisfy(\.isDroppable) }

    // MARK: - Models

    /// Stores a tree, as `NormalizedCache.set` does.
    ///
    /// - Parameters:
    ///   - model: The root of the tree. It must have an identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records of the tree may be, see ``IdentifiedModel/maxAge``; nil for
    ///     what their types say.
    public mutating func set<Model: IdentifiedModel>(
        _ model: Model, policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) {
        guard model.modelIdentifier?.isEmpty == false else {
            return fail(.noIdentifier(of: Model.self))
        }
        add(TreePolicy(policy, root: Model.writePolicy), isDroppable: true, maxAge) {
            .root(try $0.root(of: model))
        }
    }

    /// Stores several trees.
    ///
    /// - Parameters:
    ///   - models: The roots of the trees. Each must have an identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records of the tree may be, see ``IdentifiedModel/maxAge``; nil for
    ///     what their types say.
    public mutating func set<Model: IdentifiedModel>(
        _ models: [Model], policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) {
        for model in models { set(model, policy: policy, maxAge: maxAge) }
    }

    /// Stores a tree under a key, as ``NormalizedCache/setModel(_:forKey:policy:maxAge:)`` does.
    ///
    /// - Parameters:
    ///   - model: The root of the tree.
    ///   - key: The key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records of the tree may be, see ``IdentifiedModel/maxAge``; nil for
    ///     what their types say.
    public mutating func setModel<Model: IdentifiedModel>(
        _ model: Model, forKey key: String, policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) {
        guard !key.isEmpty else { return fail(.noIdentifier) }
        if let identifier = model.modelIdentifier, Identifier(identifier) == Identifier(key) {
            return set(model, policy: policy, maxAge: maxAge)
        }
        add(TreePolicy(policy, root: Model.writePolicy), isDroppable: true, maxAge) { flattener in
            .key(key, try flattener.value { try ModelStorage.encode(model, into: $0) })
        }
    }

    /// Deletes the node `identifier`, as ``NormalizedCache/delete(_:)`` does.
    ///
    /// - Parameter identifier: The node's identifier.
    public mutating func delete(_ identifier: String) { delete(.node, identifier) }

    /// Deletes the entry of `key`, as ``NormalizedCache/deleteModel(forKey:)`` does.
    ///
    /// - Parameter key: The key.
    public mutating func deleteModel(forKey key: String) { delete(.key, key) }

    // MARK: - Collections

    /// Sets the collection under `key`, as
    /// ``NormalizedCache/setCollection(_:forKey:policy:maxAge:)`` does.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records may be, see ``IdentifiedModel/maxAge``; nil for
    ///     what their types say.
    public mutating func setCollection<Model: IdentifiedModel>(
        _ models: [Model], forKey key: String, policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) {
        let encodings = models.map(ModelStorage.encoding)
        collection(key, TreePolicy(policy, root: Model.writePolicy), isDroppable: true, maxAge) {
            flattener in
            .replaceAll(try encodings.map { try flattener.value($0) })
        }
    }

    /// Appends elements to a collection, as ``NormalizedCache/append(_:toCollection:policy:)``
    /// does.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    public mutating func append<Model: IdentifiedModel>(
        _ models: [Model], toCollection key: String, policy: WritePolicy? = nil
    ) {
        let encodings = models.map(ModelStorage.encoding)
        collection(key, TreePolicy(policy, root: Model.writePolicy)) { flattener in
            .edit(.append(try encodings.map { try flattener.value($0) }))
        }
    }

    /// Appends those elements that are not in a collection yet, as
    /// ``NormalizedCache/appendNew(_:toCollection:policy:)`` does.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    public mutating func appendNew<Model: IdentifiedModel>(
        _ models: [Model], toCollection key: String, policy: WritePolicy? = nil
    ) {
        let encodings = models.map(ModelStorage.encoding)
        collection(key, TreePolicy(policy, root: Model.writePolicy)) { flattener in
            .appendNew(try encodings.map { try flattener.value($0) })
        }
    }

    /// Inserts elements into a collection, as
    /// ``NormalizedCache/insert(_:at:inCollection:policy:)`` does.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - index: An index of the collection, or its number of elements, which appends.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    public mutating func insert<Model: IdentifiedModel>(
        _ models: [Model], at index: Int, inCollection key: String, policy: WritePolicy? = nil
    ) {
        let encodings = models.map(ModelStorage.encoding)
        collection(key, TreePolicy(policy, root: Model.writePolicy)) { flattener in
            .edit(.insert(try encodings.map { try flattener.value($0) }, at: index))
        }
    }

    /// Removes elements from a collection, as ``NormalizedCache/remove(_:fromCollection:)`` does.
    ///
    /// - Parameters:
    ///   - range: The indexes of the elements.
    ///   - key: The collection's key; not empty.
    public mutating func remove(_ range: Range<Int>, fromCollection key: String) {
        collection(key, .ofTypes) { _ in .edit(.remove(range)) }
    }

    /// Deletes a collection, as ``NormalizedCache/deleteCollection(forKey:)`` does.
    ///
    /// - Parameter key: The collection's key; not empty.
    public mutating func deleteCollection(forKey key: String) { delete(.collection, key) }

    // MARK: - Implementation

    private mutating func add(
        _ policy: TreePolicy, isDroppable: Bool, _ maxAge: Duration?,
        _ flatten: @escaping @Sendable (Flattener) throws -> BatchSection.Step
    ) {
        drafts.append(
            Draft(policy: policy, isDroppable: isDroppable, maxAge: maxAge, flatten: flatten))
    }

    private mutating func collection(
        _ key: String, _ policy: TreePolicy, isDroppable: Bool = false,
        _ maxAge: Duration? = nil,
        _ flatten: @escaping @Sendable (Flattener) throws -> CollectionOperation
    ) {
        guard !key.isEmpty else { return fail(.noIdentifier) }
        add(policy, isDroppable: isDroppable, maxAge) { .collection(key, try flatten($0)) }
    }

    private mutating func delete(_ nameSpace: NameSpace, _ identifier: String) {
        guard !identifier.isEmpty else { return fail(.noIdentifier) }
        let name = RecordName(nameSpace, identifier)
        drafts.append(Draft(policy: .ofTypes, isDelete: true) { _ in .delete(name) })
    }

    private mutating func fail(_ error: CacheError) { failure = failure ?? error }

    /// Returns the batch as one operation.
    func operation(_ flattener: Flattener) throws -> WriteOperation {
        .batch(try sections(flattener))
    }

    /// Flattens all models.
    func sections(_ flattener: Flattener) throws -> [BatchSection] {
        var sections: [BatchSection] = []
        var rest = drafts[...]
        while let first = rest.first {
            let part = rest.prefix {
                $0.policy == first.policy && $0.isDelete == first.isDelete
                    && $0.maxAge == first.maxAge
            }
            rest = rest.dropFirst(part.count)
            flattener.policy = first.policy
            flattener.maxAge = first.maxAge
            let steps = try part.map { try $0.flatten(flattener) }
            sections.append(BatchSection(tree: flattener.finish(), steps: steps))
        }
        return sections
    }
}

/// Steps of a batch whose models are one tree.
struct BatchSection: Sendable {
    enum Step: Sendable {
        /// Counts the node at an index of the tree as written by itself.
        case root(Int)
        case key(String, ValueDraft)
        case collection(String, CollectionOperation)
        case delete(RecordName)
    }

    let tree: FlattenedTree
    let steps: [Step]

    /// See `WriteOperation.targets`.
    var targets: [RecordName] {
        steps.compactMap { step in
            guard case .collection(let key, let operation) = step, operation.isEdit else {
                return nil
            }
            return RecordName(.collection, key)
        } + tree.names
    }

    /// Whether all steps delete.
    var isDelete: Bool {
        steps.allSatisfy { if case .delete = $0 { true } else { false } }
    }
}

extension CommitTransaction {
    /// Applies the sections of a batch.
    ///
    /// - Parameters:
    ///   - clamps: Whether edits of collections were made for earlier states of these, see
    ///     `CollectionWriter.apply`.
    ///   - isChange: Whether the batch is a new optimistic change.
    /// - Returns: The sections; those of a change as it keeps them, see `insertingOnlyNew`.
    @discardableResult
    func apply(
        _ sections: [BatchSection], clamps: Bool = false, isChange: Bool = false,
        in transaction: inout WriteTransaction
    ) throws -> [BatchSection] {
        let kept = try sections.map {
            try apply($0, clamps: clamps, isChange: isChange, in: &transaction)
        }
        counters.writes += 1
        return kept
    }

    /// Writes the nodes of a section, then takes its steps in their order.
    private func apply(
        _ section: BatchSection, clamps: Bool, isChange: Bool,
        in transaction: inout WriteTransaction
    ) throws -> BatchSection {
        if !layers.isEmpty {
            try reserveLayeredNodes(of: section.tree, among: nil, in: &transaction)
        }
        let handles = try TreeWriter(self).write(section.tree, in: &transaction)
        entryMaxAge = section.tree.maxAge ?? maxAge
        var steps = section.steps
        for (number, step) in section.steps.enumerated() {
            switch step {
            case .root(let root):
                try finishRoot(root, of: section.tree, handles, in: &transaction)
            case .key(let key, let value):
                try writeKey(key, value, handles, in: &transaction)
            case .collection(let key, let operation):
                let writer = CollectionWriter(self)
                if isChange {
                    let kept = try writer.insertingOnlyNew(
                        operation, ofCollection: key, handles: handles, in: transaction)
                    steps[number] = .collection(key, kept)
                }
                try writer.apply(
                    operation, toCollection: key, expecting: nil, clamps: clamps,
                    handles: handles, in: &transaction)
            case .delete(let name):
                if try delete(name.nameSpace, name.identifier.string, in: &transaction) {
                    counters.deletes += 1
                }
            }
        }
        return BatchSection(tree: section.tree, steps: steps)
    }
}

extension NormalizedCache {
    /// Makes several writes that take effect together: all of them, or none.
    ///
    /// ```swift
    /// let ticket = cache.write { batch in
    ///     batch.set(user)
    ///     batch.setCollection(issues, forKey: "open issues")
    ///     batch.delete("Issue:7")
    /// }
    /// ```
    ///
    /// Returns at once, as every write does. To read what the cache has before you decide what to
    /// write, use `transaction`.
    ///
    /// - Parameter body: Adds the writes to a ``WriteBatch``. Called once, before the function
    ///   returns.
    /// - Returns: A ticket. It succeeds if all steps are stored, and fails for the same reasons as
    ///   that of each step by itself; nothing of the batch is stored then. An empty batch succeeds.
    /// - Throws: The error that `body` throws. Nothing is written then.
    /// - Complexity: O(1) for each step; flattening and one commit on other threads.
    @discardableResult
    public func write(_ body: (inout WriteBatch) throws -> Void) rethrows -> WriteTicket {
        var batch = WriteBatch()
        try body(&batch)
        if let failure = batch.failure { return reject(failure) }
        return submit(isDroppable: batch.isDroppable) { [batch] in try batch.operation($0) }
    }

    /// Makes several writes that take effect together, once the queue of writes has room for them.
    ///
    /// ```swift
    /// for page in pages {
    ///     try await cache.writeAwaitingRoom { $0.set(page) }
    /// }
    /// ```
    ///
    /// Other writes return at once, and a full queue drops the oldest of those that wait. Use this
    /// one where more is written than the disk can take, for example in an import: it waits, and is
    /// never dropped. Writes that wait for room get it in the order of the calls, and at the latest
    /// when nothing waits any more that was submitted before. A queue that is full then drops other
    /// writes for it, or holds one such write beyond its limit if it must not drop any.
    ///
    /// - Parameter body: Adds the writes to a ``WriteBatch``. Called once, before the wait.
    /// - Returns: A ticket, which may still be pending. It succeeds if all steps are stored.
    /// - Throws: The error that `body` throws, or `CancellationError` if the task is cancelled
    ///   during the wait. Nothing is written then.
    @discardableResult
    public func writeAwaitingRoom(
        _ body: (inout WriteBatch) throws -> Void
    ) async throws -> WriteTicket {
        var batch = WriteBatch()
        try body(&batch)
        if let failure = batch.failure { return reject(failure) }
        guard !isClosed else { return WriteTicket(failed: .closed) }
        return try await engine.submitAwaitingRoom { [batch] in try batch.operation($0) }
    }
}

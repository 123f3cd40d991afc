import EspalierModels
public import EspalierRecords

// A collection keeps its elements in order, the same element twice if it was added twice. It is
// stored in segments, so that the cost of an edit does not grow with the length of the collection.
//
// Indexes count the elements that exist. Elements whose own node was deleted do not count. An
// element that a read leaves out because something that it can't exist without was deleted does
// count, because that depends on the type as which the reader reads it.
extension NormalizedCache {
    /// Sets the collection under `key`.
    ///
    /// Elements with identifiers become nodes to which the collection refers; the collection
    /// contains the others.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare.
    /// - Returns: A ticket. It fails with `noIdentifier` when `key` is empty, and otherwise for the
    ///   same reasons as that of ``set(_:policy:)``.
    @discardableResult
    public func setCollection<Model: IdentifiedModel>(
        _ models: [Model], forKey key: String, policy: WritePolicy = .replace
    ) -> WriteTicket {
        edit(key, models, policy, isDroppable: true) { .replace($0) }
    }

    /// Inserts elements before the element at `index`.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - index: An index of the collection, or its number of elements, which appends.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare.
    /// - Returns: A ticket. It fails with `notFound` when there is no collection, and with
    ///   `outOfRange` when `index` is outside of it.
    @discardableResult
    public func insert<Model: IdentifiedModel>(
        _ models: [Model], at index: Int, inCollection key: String, policy: WritePolicy = .replace
    ) -> WriteTicket {
        edit(key, models, policy) { .insert($0, at: index) }
    }

    /// Appends elements; creates the collection if there is none.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare.
    /// - Returns: A ticket that fails for the same reasons as that of ``set(_:policy:)``.
    @discardableResult
    public func append<Model: IdentifiedModel>(
        _ models: [Model], toCollection key: String, policy: WritePolicy = .replace
    ) -> WriteTicket {
        edit(key, models, policy) { .append($0) }
    }

    /// Replaces the element at `index` by `model`.
    ///
    /// - Parameters:
    ///   - model: The new element.
    ///   - index: The index of the element to replace.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare.
    /// - Returns: A ticket. It fails with `notFound` when there is no collection, and with
    ///   `outOfRange` when `index` is outside of it.
    @discardableResult
    public func update<Model: IdentifiedModel>(
        _ model: Model, at index: Int, inCollection key: String, policy: WritePolicy = .replace
    ) -> WriteTicket {
        edit(key, [model], policy) { .update($0[0], at: index) }
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
        edit(key) { .remove(range) }
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
        guard index >= 0, index < Int.max else {
            return WriteTicket(
                failed: CacheError(.outOfRange, "The index is outside the collection."))
        }
        return remove(index..<index + 1, fromCollection: key)
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
        edit(key) { .move(from: source, to: destination) }
    }

    /// Deletes the collection; the nodes of its elements stay.
    ///
    /// - Parameter key: The collection's key; not empty.
    /// - Returns: A ticket. It succeeds when there is no such collection.
    @discardableResult
    public func deleteCollection(forKey key: String) -> WriteTicket {
        delete([(.collection, key)])
    }

    private func edit(_ key: String, _ make: @escaping @Sendable () -> FlattenedEdit) -> WriteTicket
    {
        edit(key, [], .replace, isDroppable: false) { _ in make() }
    }

    private func edit<Model: IdentifiedModel>(
        _ key: String, _ models: [Model], _ policy: WritePolicy, isDroppable: Bool = false,
        _ make: @escaping @Sendable ([ValueDraft]) -> FlattenedEdit
    ) -> WriteTicket {
        let elements = models.map { model in
            { @Sendable (encoder: ValueEncoder) throws in
                try ModelStorage.encode(model, into: encoder)
            }
        }
        return edit(key, elements, policy, isDroppable: isDroppable, make)
    }

    /// Submits the edit that `make` returns for the flattened elements.
    ///
    /// - Parameter elements: Functions that encode one model each.
    func edit(
        _ key: String, _ elements: [@Sendable (ValueEncoder) throws -> Void], _ policy: WritePolicy,
        isDroppable: Bool, expecting neighbours: CollectionNeighbours? = nil,
        _ make: @escaping @Sendable ([ValueDraft]) -> FlattenedEdit
    ) -> WriteTicket {
        guard !key.isEmpty else { return WriteTicket(failed: .noIdentifier) }
        return submit(isDroppable: isDroppable) { flattener in
            let drafts = try elements.map { try flattener.value($0) }
            return .collection(
                key, make(drafts), flattener.finish(), policy: policy, expecting: neighbours)
        }
    }
}

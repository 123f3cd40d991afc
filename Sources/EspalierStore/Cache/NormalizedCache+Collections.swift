import EspalierModels
public import EspalierRecords

// Collections keep their elements in order, the same one twice if it is there twice. They are
// stored in segments, so that an edit costs the edit and not the length. Indexes count the elements
// that are there: those whose own node was deleted are not. An element that a read leaves out
// because something it can't be without was deleted still counts: which types an element is read as
// is the reader's business.
extension NormalizedCache {
    /// Sets the collection under `key`: elements with identifiers become nodes that it refers to,
    /// others stand in it.
    @discardableResult
    public func setCollection<Model: IdentifiedModel>(
        _ models: [Model], forKey key: String, policy: WritePolicy = .replace
    ) -> WriteTicket {
        edit(key, models, policy, isDroppable: true) { .replace($0) }
    }

    /// Inserts before the element at `index`; `count` of the collection appends. Fails with
    /// `.notFound` when there is no collection and with `.outOfRange` for an index outside it.
    @discardableResult
    public func insert<Model: IdentifiedModel>(
        _ models: [Model], at index: Int, inCollection key: String, policy: WritePolicy = .replace
    ) -> WriteTicket {
        edit(key, models, policy) { .insert($0, at: index) }
    }

    /// Appends; makes the collection if there is none.
    @discardableResult
    public func append<Model: IdentifiedModel>(
        _ models: [Model], toCollection key: String, policy: WritePolicy = .replace
    ) -> WriteTicket {
        edit(key, models, policy) { .append($0) }
    }

    /// Puts `model` in place of the element at `index`.
    @discardableResult
    public func update<Model: IdentifiedModel>(
        _ model: Model, at index: Int, inCollection key: String, policy: WritePolicy = .replace
    ) -> WriteTicket {
        edit(key, [model], policy) { .update($0[0], at: index) }
    }

    /// Takes elements out of the collection; their nodes stay.
    @discardableResult
    public func remove(_ range: Range<Int>, fromCollection key: String) -> WriteTicket {
        edit(key) { .remove(range) }
    }

    /// Takes the element at `index` out of the collection; its node stays.
    @discardableResult
    public func remove(at index: Int, fromCollection key: String) -> WriteTicket {
        guard index >= 0, index < Int.max else {
            return WriteTicket(
                failed: CacheError(.outOfRange, "The index is outside the collection."))
        }
        return remove(index..<index + 1, fromCollection: key)
    }

    /// Moves an element: `destination` is its index afterwards.
    @discardableResult
    public func move(from source: Int, to destination: Int, inCollection key: String) -> WriteTicket
    {
        edit(key) { .move(from: source, to: destination) }
    }

    /// Deletes the collection; the nodes of its elements stay.
    @discardableResult
    public func deleteCollection(forKey key: String) -> WriteTicket {
        delete([(.collection, key)])
    }

    private func edit(_ key: String, _ make: @escaping @Sendable () -> FlattenedEdit) -> WriteTicket
    {
        guard !key.isEmpty else { return WriteTicket(failed: .noIdentifier) }
        return submit(isDroppable: false) {
            .collection(key, make(), $0.finish(), policy: .replace)
        }
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

    /// `elements` write one model each.
    @discardableResult
    func edit(
        _ key: String, _ elements: [@Sendable (ValueEncoder) throws -> Void], _ policy: WritePolicy,
        isDroppable: Bool,
        expecting neighbours: CollectionNeighbours? = nil,
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

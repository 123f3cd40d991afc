public import EspalierModels
import EspalierRecords

/// Edits of collections from data providers. Unlike a collection that is set, an edit is never
/// dropped for a full queue of writes: the edits after it would be out of date.
///
/// Completions are called when the edit is committed or will not be, in no order among each other,
/// on a thread that may wait for the cache; never on the caller's, so that they may take a lock
/// that is held during the call. Contexts are not used.
extension NormalizedCache: CollectionCacheDelegate {
    /// Costs what the edit costs, and for each neighbour a look at the index. One that is out of
    /// date costs the writes that would have been committed with it a commit each, as any write
    /// that fails. Where it comes by a damaged part of the collection it is out of date.
    public func editCollection(
        _ edit: CollectionEdit, forKey cacheKey: String, expecting neighbours: CollectionNeighbours,
        context: Any?,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        let models: [any SimpleModel]
        let make: @Sendable ([ValueDraft]) -> FlattenedEdit
        switch edit {
        case .insert(let inserted, let index):
            models = inserted
            make = { .insert($0, at: index) }
        case .append(let appended):
            models = appended
            make = { .append($0) }
        case .update(let model, let index):
            models = [model]
            make = { .update($0[0], at: index) }
        case .remove(let index):
            models = []
            // The highest index, after which there is none, is outside every collection: so is an
            // empty range there.
            make = { _ in .remove(index..<(index < .max ? index + 1 : index)) }
        }
        let ticket = self.edit(
            cacheKey, models.map(Self.encoding), .replace, isDroppable: false,
            expecting: neighbours, make)
        ticket.whenDone { [engine] result in
            let outcome = CollectionEditOutcome(result)
            engine.tell { completion(outcome) }
        }
    }
}

extension CollectionEditOutcome {
    fileprivate init(_ result: Result<Void, CacheError>) {
        switch result {
        case .success: self = .applied
        case .failure(let error): self = error.code == .outOfDate ? .outOfDate : .failed(error)
        }
    }
}

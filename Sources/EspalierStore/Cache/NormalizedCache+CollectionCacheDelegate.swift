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
        _ edit: CollectionEdit<any SimpleModel>, forKey cacheKey: String,
        expecting neighbours: CollectionNeighbours, context: Any?,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        let make: @Sendable ([ValueDraft]) -> FlattenedEdit
        switch (edit.range, edit.elements.count) {
        case (nil, _): make = { .append($0) }
        case (let range?, 0)
        where range.count == 1 || !range.isEmpty && range.upperBound <= neighbours.count:
            make = { _ in .remove(range) }
        case (let range?, 1) where range.count == 1:
            make = { .update($0[0], at: range.lowerBound) }
        case (let range?, _) where range.isEmpty:
            make = { .insert($0, at: range.lowerBound) }
        default:
            // `FlattenedEdit` does not have such edits: the sender sets the whole collection.
            engine.tell { completion(.outOfDate) }
            return
        }
        let ticket = self.edit(
            cacheKey, edit.elements.map(Self.encoding), .replace, isDroppable: false,
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

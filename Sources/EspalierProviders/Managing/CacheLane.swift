import EspalierConsistency
import EspalierModels

/// The way to the cache: one call after the other, in the order submitted, off the main actor.
///
/// Reads wait for no answer before the next call, and a cache that answers late, twice or never delays and confuses nobody:
/// whoever asked is called once, on the main actor.
final class CacheLane: Sendable {
    private let cache: any CacheDelegate
    private let queue = WorkQueue()
    private let answers = Answers()
    private let deletions = Deletions()

    /// Whether the cache has to be told what a deletion takes along: one that stores nodes apart finds out by itself.
    let savesCascades: Bool

    init(_ cache: any CacheDelegate) {
        self.cache = cache
        savesCascades = !(cache is any CollectionCacheDelegate)
    }

    // MARK: Models

    func save(_ models: [any SimpleModel], context: (any Sendable)?) {
        let named = models.compactMap { model in model.modelIdentifier.map { (model, $0) } }
        guard !named.isEmpty else { return }
        let time = ChangeTime()
        queue.submit { [cache, deletions] in
            for (model, key) in named {
                cache.setModel(model, forKey: key, context: context)
                await deletions.noteSaved(key, time)
            }
        }
    }

    func save(_ model: any SimpleModel, forKey key: String, context: (any Sendable)?) {
        let time = ChangeTime()
        queue.submit { [cache, deletions] in
            cache.setModel(model, forKey: key, context: context)
            await deletions.noteSaved(key, time)
        }
    }

    func delete(_ model: any SimpleModel, forKey key: String?, context: (any Sendable)?, time: ChangeTime) {
        queue.submit { [cache, deletions, savesCascades] in
            cache.deleteModel(model, forKey: key, context: context)
            if savesCascades, key != nil { await deletions.begin(time) }
        }
    }

    /// What could not be without the model deleted at `time`; but not what was saved anew since.
    func deleteCascaded(
        _ models: [any ConsistencyManagerModel], context: (any Sendable)?, time: ChangeTime
    ) {
        queue.submit { [cache, deletions] in
            for case let model as any SimpleModel in models {
                guard let key = model.modelIdentifier, await !deletions.isSaved(key, after: time) else { continue }
                cache.deleteModel(model, forKey: key, context: context)
            }
            await deletions.end(time)
        }
    }

    // MARK: Collections

    func save<T: SimpleModel>(collection: [T], forKey key: String, context: (any Sendable)?) {
        queue.submit { [cache] in cache.setCollection(collection, forKey: key, context: context) }
    }

    func save(collection: [any SimpleModel], forKey key: String, context: (any Sendable)?) {
        queue.submit { [cache] in cache.setCollection(collection, forKey: key, context: context) }
    }

    /// A collection that the deletion at `time` took elements from, if that deletion went to the cache.
    func save<T: SimpleModel>(
        _ collection: [T], forKey key: String, afterDeletionAt time: ChangeTime, context: (any Sendable)?
    ) {
        guard savesCascades else { return }
        queue.submit { [cache, deletions] in
            guard await deletions.went(time) else { return }
            cache.setCollection(collection, forKey: key, context: context)
        }
    }

    // MARK: Answers

    /// Asks, and hands the first answer to `completion`; an error if there never is one.
    func fetch<Value: Sendable>(
        _ ask: @escaping @Sendable (any CacheDelegate, @escaping @Sendable (Value?, (any Error)?) -> Void) -> Void,
        completion: @escaping @MainActor @Sendable (Value?, (any Error)?) -> Void
    ) {
        queue.submit { [cache, answers] in
            let answer = Answer<(Value?, (any Error)?)>(unless: (nil, DataProviderError.noAnswer))
            ask(cache) { answer.give(($0, $1)) }
            await answers.wait(for: answer.stream) { await completion($0.0, $0.1) }
        }
    }

    /// The edit, to a cache that takes edits; the whole collection to others, and to one whose collection is another by now.
    func edit(_ edit: StoredEdit) {
        queue.submit { [cache, answers] in
            guard let cache = cache as? any CollectionCacheDelegate else {
                return cache.setCollection(edit.whole(), forKey: edit.key, context: edit.context)
            }
            let answer = Answer<CollectionEditOutcome>(unless: .failed(DataProviderError.noAnswer))
            cache.editCollection(
                edit.edit, forKey: edit.key, expecting: edit.neighbours, context: edit.context
            ) { answer.give($0) }
            await answers.wait(for: answer.stream) { outcome in
                if case .outOfDate = outcome { await edit.onOutOfDate() }
            }
        }
    }

    func flush() async {
        await queue.flush()
        await answers.flush()
        // What the answers asked for in turn.
        await queue.flush()
        await answers.flush()
        try? await (cache as? any CollectionCacheDelegate)?.flush()
    }
}

/// An edit on its way to the cache.
struct StoredEdit: Sendable {
    let key: String
    let edit: CollectionEdit
    let neighbours: CollectionNeighbours
    /// The collection after the edit.
    let whole: @Sendable () -> [any SimpleModel]
    let context: (any Sendable)?
    let onOutOfDate: @MainActor @Sendable () -> Void
}

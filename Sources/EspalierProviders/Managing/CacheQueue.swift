import EspalierConsistency
import EspalierModels
import Synchronization

/// The way to the cache: one call after the other, in the order submitted, off the main actor.
///
/// Reads wait for no answer before the next call, and a cache that answers late, twice or never
/// delays and confuses nobody: whoever asked is called once, on the main actor.
final class CacheQueue: Sendable {
    private let cache: any CacheDelegate
    private let queue = WorkQueue()
    private let answers = PendingReplies()
    private let deletions = Deletions()

    private let calls = Atomic<Int>(0)

    /// Whether the cache takes edits of collections as edits. Then it also stores nodes apart, and
    /// finds out by itself what a deletion takes along.
    let takesEdits: Bool

    init(_ cache: any CacheDelegate) {
        self.cache = cache
        takesEdits = cache is any CollectionCacheDelegate
    }

    // MARK: Models

    func save(_ model: any SimpleModel, forKey key: String, context: (any Sendable)?) {
        let time = ChangeTime()
        submit { [cache, deletions] in
            cache.setModel(model, forKey: key, context: context)
            await deletions.noteSaved(key, time)
        }
    }

    func delete(
        _ model: any SimpleModel, forKey key: String?, context: (any Sendable)?, time: ChangeTime
    ) {
        submit { [cache, deletions, takesEdits] in
            cache.deleteModel(model, forKey: key, context: context)
            if !takesEdits, key != nil { await deletions.begin(time) }
        }
    }

    /// What could not be without the model deleted at `time`; but not what was saved anew since.
    func deleteCascaded(
        _ models: [any ConsistencyManagerModel], context: (any Sendable)?, time: ChangeTime
    ) {
        submit { [cache, deletions] in
            var deleted: Set<String> = []
            for case let model as any SimpleModel in models {
                guard let key = model.modelIdentifier, deleted.insert(key).inserted,
                    await !deletions.isSaved(key, after: time)
                else { continue }
                cache.deleteModel(model, forKey: key, context: context)
            }
            await deletions.end(time)
        }
    }

    // MARK: Collections

    func save<T: SimpleModel>(collection: [T], forKey key: String, context: (any Sendable)?) {
        submit { [cache] in cache.setCollection(collection, forKey: key, context: context) }
    }

    /// A collection that the deletion at `time` took elements from, if that deletion went to the
    /// cache; `fetch` if it is the first that is heard of since, together with all others since.
    func save<T: SimpleModel>(
        _ collection: [T], forKey key: String, afterDeletionAt time: ChangeTime,
        since fetch: ChangeTime?,
        context: (any Sendable)?
    ) {
        submit { [cache, deletions] in
            guard await deletions.went(time, since: fetch) else { return }
            cache.setCollection(collection, forKey: key, context: context)
        }
    }

    // MARK: PendingReplies

    /// Asks, and hands the first answer to `completion`; an error if there never is one.
    func fetch<Value: Sendable>(
        _ ask:
            @escaping @Sendable (
                any CacheDelegate, @escaping @Sendable (Value?, (any Error)?) -> Void
            ) -> Void,
        completion: @escaping @MainActor @Sendable (Value?, (any Error)?) -> Void
    ) {
        let completion = Completion<(Value?, (any Error)?)> { completion($0.0, $0.1) }
        submit { [cache, answers] in
            let answer = await answers.answer(unless: (nil, DataProviderError.noAnswer), completion)
            ask(cache) { answer.give(($0, $1)) }
        }
    }

    /// To be asked of a cache that `takesEdits` only.
    func edit(
        _ edit: CollectionEdit, forKey key: String, expecting neighbours: CollectionNeighbours,
        context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable (CollectionEditOutcome) -> Void
    ) {
        let completion = Completion(completion)
        submit { [cache, answers] in
            guard let cache = cache as? any CollectionCacheDelegate else { return }
            let answer = await answers.answer(
                unless: .failed(DataProviderError.noAnswer), completion)
            cache.editCollection(edit, forKey: key, expecting: neighbours, context: context) {
                answer.give($0)
            }
        }
    }

    // MARK: Flushing

    /// How many calls there have been: by this a flush finds out whether what it waited for has
    /// asked for more.
    var callCount: Int { calls.load(ordering: .relaxed) }

    /// Returns when the cache has been asked everything submitted before, and has answered.
    func flush() async {
        await queue.flush()
        await answers.flush()
    }

    /// Returns when a cache that tells has written what it was asked.
    func flushCache() async {
        try? await (cache as? any CollectionCacheDelegate)?.flush()
    }

    private func submit(_ body: @escaping @Sendable () async -> Void) {
        calls.add(1, ordering: .relaxed)
        queue.submit(body)
    }
}

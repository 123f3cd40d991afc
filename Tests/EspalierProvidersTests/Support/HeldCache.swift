import EspalierModels
import Testing

/// A cache that replies when a test tells it to, in any order and any number of times.
///
///     let cache = HeldCache()
///     provider.fetchDataFromCache(withCacheKey: "k") { ... }
///     await cache.waitForReads(1)
///     cache.reply("k", model)
final class HeldCache: CacheDelegate {
    private struct State {
        var reads = 0
        var held: [String: [@Sendable ([any SimpleModel]?, (any Error)?) -> Void]] = [:]
        var calls: [String] = []
    }
    private let state = Guarded(State())

    var calls: [String] { state.withLock { $0.calls } }

    /// Waits until the total number of reads is `count`.
    func waitForReads(_ count: Int) async {
        await until { self.state.withLock { $0.reads >= count } }
    }

    /// Replies to the oldest read of `key` that is held. With `again` the read stays held, so that
    /// the cache can reply once more.
    func reply(
        _ key: String, _ model: (any SimpleModel)?, error: (any Error)? = nil, again: Bool = false
    ) {
        reply(key, all: model.map { [$0] }, error: error, again: again)
    }

    func reply(
        _ key: String, all: [any SimpleModel]?, error: (any Error)? = nil, again: Bool = false
    ) {
        let completion = state.withLock { state in
            again
                ? state.held[key]?.first
                : state.held[key]?.isEmpty == false ? state.held[key]?.removeFirst() : nil
        }
        completion?(all, error)
    }

    /// Releases all reads without a reply.
    func drop() { state.withLock { $0.held = [:] } }

    private func hold(
        _ key: String?, _ completion: @escaping @Sendable ([any SimpleModel]?, (any Error)?) -> Void
    ) {
        state.withLock { state in
            state.held[key ?? "nil", default: []].append(completion)
            state.reads += 1
        }
    }

    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
        hold(cacheKey) { models, error in completion(models?.first as? T, error) }
    }

    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) {
        hold(cacheKey) { models, error in completion(models as? [T], error) }
    }

    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        record("set \(cacheKey)")
    }
    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {
        record("set all \(cacheKey) \(collection.map { $0.modelIdentifier ?? "-" })")
    }
    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        record("delete \(cacheKey ?? "nil")")
    }

    private func record(_ call: String) { state.withLock { $0.calls.append(call) } }
}

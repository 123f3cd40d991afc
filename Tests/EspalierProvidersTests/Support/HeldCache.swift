import EspalierModels
import Testing

/// A cache that answers when a test says so, in any order, as often as it says.
///
///     let cache = HeldCache()
///     provider.fetchDataFromCache(withCacheKey: "k") { ... }
///     await cache.asked(1)
///     cache.answer("k", model)
final class HeldCache: CacheDelegate {
    private struct State {
        var asked = 0
        var held: [String: [@Sendable ([any SimpleModel]?, (any Error)?) -> Void]] = [:]
        var calls: [String] = []
    }
    private let state = Guarded(State())

    var calls: [String] { state.withLock { $0.calls } }

    /// Returns when so many reads have been asked for since the beginning.
    func asked(_ count: Int) async { await until { self.state.withLock { $0.asked >= count } } }

    /// PendingReplies the oldest read of `key` that is held; `again` leaves it held, to be answered
    /// once more.
    func answer(
        _ key: String, _ model: (any SimpleModel)?, error: (any Error)? = nil, again: Bool = false
    ) {
        answer(key, all: model.map { [$0] }, error: error, again: again)
    }

    func answer(
        _ key: String, all: [any SimpleModel]?, error: (any Error)? = nil, again: Bool = false
    ) {
        let completion = state.withLock { state in
            again
                ? state.held[key]?.first
                : state.held[key]?.isEmpty == false ? state.held[key]?.removeFirst() : nil
        }
        completion?(all, error)
    }

    /// Lets go of all reads without an answer.
    func drop() { state.withLock { $0.held = [:] } }

    private func hold(
        _ key: String?, _ completion: @escaping @Sendable ([any SimpleModel]?, (any Error)?) -> Void
    ) {
        state.withLock { state in
            state.held[key ?? "nil", default: []].append(completion)
            state.asked += 1
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
        note("set \(cacheKey)")
    }
    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {
        note("set all \(cacheKey) \(collection.map { $0.modelIdentifier ?? "-" })")
    }
    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        note("delete \(cacheKey ?? "nil")")
    }

    private func note(_ call: String) { state.withLock { $0.calls.append(call) } }
}

import EspalierConsistency
import EspalierModels
import EspalierRecords
import Synchronization

/// Calls the cache: one call after the other, in the order of submission, off the main actor.
///
/// The next call does not wait for the reply to a read. A cache may reply late or twice, or release
/// the completion without a reply: the caller of a read is called once, on the main actor. A cache
/// that keeps the completion without calling it makes the caller, and `flush`, wait for ever.
final class CacheQueue: Sendable {
    private let cache: any CacheDelegate
    private let queue = WorkQueue()
    private let replies = PendingReplies()
    private let deletions = RecentDeletions()
    private let calls = Atomic<Int>(0)
    /// The cache, if it tells the outcome of each write.
    private let shared: (any SharedCacheDelegate)?
    private let source: Int
    /// The policy of the manager; nil if the types of the models decide.
    private let policy: WritePolicy?
    let failures = SaveFailures()

    /// Whether the cache accepts edits of collections. Such a cache also stores nodes apart, so
    /// that a deletion has its consequences in the cache without further calls.
    let acceptsEdits: Bool

    /// Whether the cache can take a list without the models of its elements, and moves.
    var keepsModels: Bool { shared != nil }

    /// - Parameter source: Who writes, for a manager that follows its cache; otherwise 0.
    init(_ cache: any CacheDelegate, source: Int, policy: WritePolicy? = nil) {
        self.cache = cache
        self.policy = policy
        self.source = source
        shared = cache as? any SharedCacheDelegate
        acceptsEdits = cache is any CollectionCacheDelegate
    }

    // MARK: Models

    func save(_ model: any SimpleModel, forKey key: String, context: (any Sendable)?) {
        let time = ChangeTime()
        let options = options(WriteCall.active?.policy ?? policyInCache(of: type(of: model)))
        write([key]) { [self] done in
            if let shared {
                shared.setModel(model, forKey: key, options: options, completion: done)
            } else {
                cache.setModel(model, forKey: key, context: UncheckedContext.value(of: context))
                done(nil)
            }
            await deletions.recordSave(of: key, time)
        }
    }

    /// Saves models that have identifiers in one step, in a cache that can.
    func save(_ models: [any SimpleModel], _ policy: TreePolicy) {
        write(models.compactMap(\.modelIdentifier)) { [self] done in
            shared?.setModels(models, options: options(policy), completion: done)
        }
    }

    /// Merges a model into what the cache has, and lets a key refer to it.
    ///
    /// - Parameter completion: Called once, when the model is stored or could not be.
    func merge(
        _ model: any SimpleModel, forKey key: String, _ policy: TreePolicy,
        completion: @escaping @Sendable () -> Void
    ) {
        write([key]) { [self] done in
            shared?.setModel(model, forKey: key, options: options(policy, merges: true)) {
                completion()
                done($0)
            }
        }
    }

    /// Merges models into what the cache has. The manager hears of the changes, as of those that
    /// others make, because only the cache knows the merged models.
    ///
    /// - Parameter completion: Called once, when the models are stored or could not be.
    func merge(
        _ models: [any SimpleModel], _ policy: TreePolicy,
        completion: @escaping @Sendable () -> Void
    ) {
        write(models.compactMap(\.modelIdentifier)) { [self] done in
            shared?.setModels(models, options: options(policy, merges: true)) {
                completion()
                done($0)
            }
        }
    }

    /// The manager hears of its own merges like of others' writes. The policy of a manager that
    /// does not follow its cache is that of the models' types.
    private func options(_ policy: TreePolicy, merges: Bool = false) -> CacheWriteOptions {
        guard source != 0 else { return CacheWriteOptions() }
        return CacheWriteOptions(
            policy: policy.given, source: merges || policy == .merge ? 0 : source)
    }

    /// Returns the policy by which the cache stores a model, whether or not the manager follows
    /// the cache.
    private func policyInCache(of type: any SimpleModel.Type) -> TreePolicy {
        TreePolicy(policy, root: type.writePolicy)
    }

    /// Calls the cache by `body`, which receives a function for the outcome. Reports a failure to
    /// `failures` and to the change that the call belongs to. The first outcome counts; a function
    /// that is released without a call counts as `noAnswer`. A cache that tells no outcomes has
    /// succeeded when it was called.
    private func write(
        _ names: [String],
        _ body: @escaping @Sendable (@escaping @Sendable ((any Error)?) -> Void) async -> Void
    ) {
        let call = WriteCall.beginCall()
        submit { [self] in
            guard shared != nil else {
                await body { _ in }
                if let rest = call?.end(nil) { await rest() }
                return
            }
            let noAnswer: (any Error)? = DataProviderError.noAnswer
            let reply = await replies.add(default: noAnswer) { [self] error in
                let failure = error.map { SaveFailure(names: names, error: $0) }
                if let failure { failures.send(failure) }
                if let rest = call?.end(failure) { await rest() }
            }
            await body { reply.fulfill($0) }
        }
    }

    /// Reports that a write can't be made, without calling the cache.
    func refuse(_ error: any Error, _ names: [String] = []) {
        let failure = SaveFailure(names: names, error: error)
        failures.send(failure)
        WriteCall.active?.fail(failure)
    }

    func delete(
        _ model: any SimpleModel, forKey key: String?, context: (any Sendable)?, time: ChangeTime
    ) {
        write([key ?? model.modelIdentifier].compactMap(\.self)) { [self] done in
            if let shared {
                shared.deleteModel(model, forKey: key, completion: done)
            } else {
                cache.deleteModel(model, forKey: key, context: UncheckedContext.value(of: context))
                done(nil)
            }
            if !acceptsEdits, key != nil { await deletions.begin(time) }
        }
    }

    /// Deletes the models that required the model deleted at `time`, except those that were saved
    /// since.
    func deleteCascaded(
        _ models: [any ConsistencyManagerModel], context: (any Sendable)?, time: ChangeTime
    ) {
        submit { [cache, deletions] in
            var deleted: Set<String> = []
            for case let model as any SimpleModel in models {
                guard let key = model.modelIdentifier, deleted.insert(key).inserted,
                    await !deletions.isSaved(key, after: time)
                else { continue }
                cache.deleteModel(model, forKey: key, context: UncheckedContext.value(of: context))
            }
            await deletions.end(time)
        }
    }

    // MARK: Collections

    func save<T: SimpleModel>(collection: [T], forKey key: String, context: (any Sendable)?) {
        let call = WriteCall.active
        var options = options(call?.policy ?? policyInCache(of: T.self))
        options.keepsModels = call?.keepsModels ?? false
        write([key]) { [self, options] done in
            if let shared {
                shared.setCollection(
                    collection, forKey: key, options: options, completion: done)
            } else {
                cache.setCollection(
                    collection, forKey: key, context: UncheckedContext.value(of: context))
                done(nil)
            }
        }
    }

    /// Saves a collection from which the deletion at `time` has removed elements, if that deletion
    /// reached the cache.
    ///
    /// - Parameter fetch: The time at which the collection was requested, if this deletion is the
    ///   first since. The earlier deletions since then count too.
    func save<T: SimpleModel>(
        _ collection: [T], forKey key: String, afterDeletionAt time: ChangeTime,
        since fetch: ChangeTime?, context: (any Sendable)?
    ) {
        submit { [cache, deletions] in
            guard await deletions.hasReachedCache(time, since: fetch) else { return }
            cache.setCollection(
                collection, forKey: key, context: UncheckedContext.value(of: context))
        }
    }

    /// Sends an edit to a cache that accepts edits.
    ///
    /// The models of the edit are posted with it, so the cache must have them even if the edit is
    /// out of date, and at this place in the order of all writes: sent later, they would replace
    /// newer ones. A cache that tells outcomes is therefore sent the models by themselves as well.
    /// Merged models are not: they are not posted, and a merge need not give the same result twice.
    ///
    /// - Parameter merges: Whether a node of the models merges.
    func edit(
        _ edit: CollectionEdit<any SimpleModel>, forKey key: String,
        expecting neighbours: CollectionNeighbours, policy: TreePolicy, merges: Bool,
        context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable (CollectionEditOutcome) -> Void
    ) {
        sendEdit(of: key, completion) { [self] reply in
            guard let shared else {
                (cache as? any CollectionCacheDelegate)?.editCollection(
                    edit, forKey: key, expecting: neighbours,
                    context: UncheckedContext.value(of: context)
                ) { reply.fulfill($0) }
                return
            }
            let options = options(policy)
            let named = edit.elements.filter { $0.modelIdentifier?.isEmpty == false }
            guard !merges, !named.isEmpty else {
                return shared.editCollection(
                    edit, forKey: key, expecting: neighbours, options: options
                ) { reply.fulfill($0) }
            }
            let outcome = EditOutcome(reply)
            let stored = PendingReply<(any Error)?>(default: DataProviderError.noAnswer) {
                outcome.setModels($0)
            }
            shared.setModels(named, options: options) { stored.fulfill($0) }
            shared.editCollection(edit, forKey: key, expecting: neighbours, options: options) {
                outcome.setEdit($0)
            }
        }
    }

    /// Sends a move to a cache that tells outcomes.
    func move(
        _ move: ElementMove, forKey key: String, expecting neighbours: CollectionNeighbours,
        completion: @escaping @MainActor @Sendable (CollectionEditOutcome) -> Void
    ) {
        sendEdit(of: key, completion) { [self] reply in
            shared?.moveElement(
                from: move.source, to: move.destination, inCollection: key,
                expecting: neighbours, options: CacheWriteOptions(source: source)
            ) { reply.fulfill($0) }
        }
    }

    /// Calls the cache by `body`, and reports a failure.
    private func sendEdit(
        of key: String,
        _ completion: @escaping @MainActor @Sendable (CollectionEditOutcome) -> Void,
        _ body: @escaping @Sendable (PendingReply<CollectionEditOutcome>) -> Void
    ) {
        let callback = ReplyCallback<CollectionEditOutcome> { [failures] outcome in
            if case .failed(let error) = outcome {
                failures.send(SaveFailure(names: [key], error: error))
            }
            completion(outcome)
        }
        submit { [replies] in
            body(await replies.add(default: .failed(DataProviderError.noAnswer), callback))
        }
    }

    // MARK: Reading

    /// Reads the model under a key. Calls `completion` with the first reply of the cache; with an
    /// error if the cache never replies.
    func model<T: SimpleModel>(
        _ key: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable (T?, (any Error)?) -> Void
    ) {
        guard let key, let shared else {
            return fetch(
                {
                    $0.modelForKey(
                        key, context: UncheckedContext.value(of: context), completion: $1)
                }, completion: completion)
        }
        let record = MissRecord.active
        fetch(
            { _, reply in
                guard record?.acceptsExpired == true else {
                    return shared.readModel(T.self, forKey: key) { Self.answer($0, record, reply) }
                }
                shared.readStaleModel(T.self, forKey: key) { Self.answer(stale: $0, record, reply) }
            }, completion: completion)
    }

    /// Reads the collection under a key, like `model`.
    func collection<T: SimpleModel>(
        _ key: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable ([T]?, (any Error)?) -> Void
    ) {
        guard let key, let shared else {
            return fetch(
                {
                    $0.collectionForKey(
                        key, context: UncheckedContext.value(of: context), completion: $1)
                },
                completion: completion)
        }
        let record = MissRecord.active
        fetch(
            { _, reply in
                guard record?.acceptsExpired == true else {
                    return shared.readCollection(of: T.self, forKey: key) {
                        Self.answer($0, record, reply)
                    }
                }
                shared.readStaleCollection(of: T.self, forKey: key) {
                    Self.answer(stale: $0, record, reply)
                }
            }, completion: completion)
    }

    private static func answer<Value>(
        stale result: Result<StaleRead<Value>, MissReason>, _ record: MissRecord?,
        _ reply: (Value?, (any Error)?) -> Void
    ) {
        if case .success(let read) = result { record?.isExpired = read.isExpired }
        answer(result.map(\.value), record, reply)
    }

    private static func answer<Value>(
        _ result: Result<Value, MissReason>, _ record: MissRecord?,
        _ reply: (Value?, (any Error)?) -> Void
    ) {
        switch result {
        case .success(let value): reply(value, nil)
        case .failure(let reason):
            record?.reason = reason
            reply(nil, reason.isError ? reason : nil)
        }
    }

    /// Calls the cache by `request`, and `completion` with its first reply; with an error if the
    /// cache never replies.
    private func fetch<Value: Sendable>(
        _ request:
            @escaping @Sendable (
                any CacheDelegate, @escaping @Sendable (Value?, (any Error)?) -> Void
            ) -> Void,
        completion: @escaping @MainActor @Sendable (Value?, (any Error)?) -> Void
    ) {
        let callback = ReplyCallback<(Value?, (any Error)?)> { completion($0.0, $0.1) }
        submit { [cache, replies] in
            let reply = await replies.add(default: (nil, DataProviderError.noAnswer), callback)
            request(cache) { reply.fulfill(($0, $1)) }
        }
    }

    /// Returns what the cache has of a model under a key, or of a collection, that is shown. A hit
    /// for a cache that tells no age.
    ///
    /// - Throws: `CancellationError` at once if the task is cancelled.
    func step<T: SimpleModel>(
        ofShown type: T.Type, _ key: String, isCollection: Bool, acceptsExpired: Bool
    ) async throws -> CacheStep {
        guard let shared else { return .hit(isExpired: false) }
        await afterCalls()
        let end = Resumption<Result<CacheStep, any Error>>()
        let reply = PendingReply(default: CacheStep.hit(isExpired: false)) {
            end.resume(.success($0))
        }
        switch (isCollection, acceptsExpired) {
        case (false, false):
            shared.readModel(type, forKey: key) { reply.fulfill(CacheStep(ofFresh: $0)) }
        case (false, true):
            shared.readStaleModel(type, forKey: key) { reply.fulfill(CacheStep(ofStale: $0)) }
        case (true, false):
            shared.readCollection(of: type, forKey: key) { reply.fulfill(CacheStep(ofFresh: $0)) }
        case (true, true):
            shared.readStaleCollection(of: type, forKey: key) {
                reply.fulfill(CacheStep(ofStale: $0))
            }
        }
        return try await end.cancellableValue()
    }

    // MARK: Flushing

    /// The number of calls so far. A flush compares it to find out whether the work that it waited
    /// for has submitted more.
    var callCount: Int { calls.load(ordering: .relaxed) }

    /// Waits until the cache has been called for everything that was submitted before, and has
    /// replied.
    func flush() async {
        await queue.flush()
        await replies.flush()
    }

    /// Waits until the cache has been called for everything that was submitted before.
    func afterCalls() async { await queue.flush() }

    /// Waits until a cache that can be flushed has written its changes.
    func flushCache() async {
        try? await (cache as? any CollectionCacheDelegate)?.flush()
    }

    private func submit(_ body: @escaping @Sendable () async -> Void) {
        calls.add(1, ordering: .relaxed)
        queue.submit(body)
    }
}

/// The deletions that reached the cache, and the models that were saved since. A model that was
/// saved after a deletion is not deleted along with it.
private actor RecentDeletions {
    /// The deletions whose cascade is not known yet.
    private var open: [ChangeTime] = []
    private var saved: [String: ChangeTime] = [:]
    private var latest: [ChangeTime] = []
    /// The number of completed deletions that are kept, for collections that were being fetched
    /// meanwhile.
    private static let limit = 64

    func begin(_ time: ChangeTime) {
        open.append(time)
        latest.append(time)
    }

    /// Ends a deletion whose cascade is known. Collections are saved after it and before the next
    /// deletion, so all earlier deletions are complete.
    func end(_ time: ChangeTime) {
        open.removeAll { $0 == time }
        if open.isEmpty { saved = [:] }
        let complete = latest.prefix { time.after($0) }.count
        latest.removeFirst(max(0, min(complete, latest.count - Self.limit)))
    }

    func recordSave(of key: String, _ time: ChangeTime) {
        if !open.isEmpty { saved[key] = time }
    }

    func isSaved(_ key: String, after time: ChangeTime) -> Bool { saved[key]?.after(time) ?? false }

    /// Returns whether the deletion at `time` reached the cache, and not only the memory; or, if
    /// `fetch` is given, another deletion between the fetch and `time`.
    func hasReachedCache(_ time: ChangeTime, since fetch: ChangeTime?) -> Bool {
        latest.contains { deletion in
            deletion == time || fetch.map { deletion.after($0) && time.after(deletion) } ?? false
        }
    }
}

/// A write that the cache could not store.
public struct SaveFailure: Sendable {
    /// The identifiers of the models, or the key of the collection.
    public let names: [String]
    /// The cache's reason.
    public let error: any Error
}

/// The outcome of an edit whose models are stored by a write of their own, from the outcomes of
/// both.
///
/// An edit that was applied has stored its models, so that only one that is out of date waits for
/// the other write: if that failed, the edit has failed.
private final class EditOutcome: Sendable {
    private struct State {
        var isOutOfDate = false
        var areModelsDone = false
        var error: (any Error)?
    }
    private let state = Mutex(State())
    private let reply: PendingReply<CollectionEditOutcome>

    init(_ reply: PendingReply<CollectionEditOutcome>) { self.reply = reply }

    func setEdit(_ outcome: CollectionEditOutcome) {
        guard case .outOfDate = outcome else { return reply.fulfill(outcome) }
        replyIfComplete { $0.isOutOfDate = true }
    }

    func setModels(_ error: (any Error)?) {
        replyIfComplete { ($0.areModelsDone, $0.error) = (true, error) }
    }

    private func replyIfComplete(_ change: (inout State) -> Void) {
        let state = state.withLock { state in
            change(&state)
            return state
        }
        guard state.isOutOfDate, state.areModelsDone else { return }
        reply.fulfill(state.error.map { .failed($0) } ?? .outOfDate)
    }
}

/// Sends failures to those who listen, on any thread.
final class SaveFailures: Sendable {
    private struct State {
        var latest = 0
        var listeners: [Int: AsyncStream<SaveFailure>.Continuation] = [:]
    }
    private let state = Mutex(State())

    deinit {
        for listener in state.withLock({ $0.listeners }).values { listener.finish() }
    }

    func subscribe() -> AsyncStream<SaveFailure> {
        let (stream, continuation) = AsyncStream<SaveFailure>.makeStream(
            bufferingPolicy: .bufferingNewest(256))
        let number = state.withLock { state in
            state.latest += 1
            state.listeners[state.latest] = continuation
            return state.latest
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    func send(_ failure: SaveFailure) {
        // Not under the lock, which a stream that ends takes.
        for listener in state.withLock({ $0.listeners }).values { listener.yield(failure) }
    }
}

import EspalierConsistency
import EspalierModels
import EspalierRecords
import Synchronization

// What becomes of the network's answer to a fetch with a policy.
//
//     provider -- joins the request of the key (`SingleFlight`) or begins it
//                   |
//                   v
//     request: an attempt begins (`OpenRequest`) --> the network answers --> applied once:
//                   |                                                        posted and saved,
//                   |  the root is set or the list is edited meanwhile       for all screens
//                   v                                                          |
//     the answer is out of date: neither posted nor saved                      v
//                                                     each provider shows it, with all updates
//                                                     that were posted since the attempt began
//
// The request applies the answer, and not the providers that wait for it. So an answer is saved
// once, and also if all of them have left.

/// What has become of the network's answer to a fetch with a policy, for the delegate.
///
/// ```swift
/// func dataProvider<T>(_ provider: DataProvider<T>, fetched outcome: NetworkOutcome) {
///     if case .failed(let error) = outcome { banner.show(error) }
/// }
/// ```
public enum NetworkOutcome: Sendable {
    /// The answer is shown, and on its way to the cache. If it can't be stored, the delegate is
    /// told as of every other write.
    case shown
    /// The provider shows something newer, because it was set, edited or fetched after the fetch
    /// began; or a newer version of the model or the collection was set elsewhere, and is shown.
    case outOfDate
    /// The network has failed at the last attempt. What was shown before is still shown.
    case failed(any Error)
}

/// The models and collections that were changed while requests are under way, and when. A request
/// whose model was changed since is out of date.
///
/// Only roots count. The answer to a request may contain nodes that others have changed meanwhile:
/// it is newer than those. An element of a list that was deleted meanwhile is left out of the
/// answer, because a deletion that the user sees must not be undone.
struct RecentRoots: Sendable {
    fileprivate struct Root: Hashable {
        /// Nil for all types: a deletion.
        let type: ObjectIdentifier?
        let isCollection: Bool
        let identifier: Identifier
    }

    /// When the open requests began, in this order.
    private var openRequests: [ChangeTime] = []
    private var changed: [Root: ChangeTime] = [:]

    /// The number of roots that are kept.
    var count: Int { changed.count }

    /// Begins a request. Changes from now on are kept until `endRequest` is called with the time
    /// that is returned.
    mutating func beginRequest() -> ChangeTime {
        let time = ChangeTime()
        openRequests.append(time)
        return time
    }

    /// Ends a request, and forgets the changes that are older than all requests left.
    mutating func endRequest(_ time: ChangeTime) {
        guard let position = openRequests.firstIndex(of: time) else { return }
        openRequests.remove(at: position)
        guard let oldest = openRequests.first else { return changed = [:] }
        if position == 0 { changed = changed.filter { $0.value.after(oldest) } }
    }

    /// Notes a model that is set.
    mutating func note(_ model: any ConsistencyManagerModel) {
        if let identifier = model.modelIdentifier { note(type(of: model), identifier) }
    }

    mutating func note(_ type: Any.Type, _ identifier: String) {
        note(ObjectIdentifier(type), isCollection: false, identifier)
    }

    /// Notes a model that is about to be set.
    ///
    /// - Returns: The notes of the model before and now, for `withdraw`.
    mutating func noteAttempt(_ type: Any.Type, _ identifier: String) -> Attempt {
        let root = Root(
            type: ObjectIdentifier(type), isCollection: false, identifier: Identifier(identifier))
        let before = changed[root]
        note(type, identifier)
        return Attempt(root: root, before: before, now: changed[root])
    }

    /// Takes back the note of a model that was not set after all, unless it was set since.
    mutating func withdraw(_ attempt: Attempt) {
        if changed[attempt.root] == attempt.now { changed[attempt.root] = attempt.before }
    }

    /// The notes of a model around the beginning of an attempt to set it.
    struct Attempt: Sendable {
        fileprivate let root: Root
        fileprivate let before: ChangeTime?
        fileprivate let now: ChangeTime?
    }

    /// Notes a model that is deleted.
    mutating func note(deleted identifier: String) {
        note(nil, isCollection: false, identifier)
    }

    /// Notes a collection that is set or edited.
    mutating func note(collection key: String, of type: Any.Type) {
        note(ObjectIdentifier(type), isCollection: true, key)
    }

    private mutating func note(
        _ type: ObjectIdentifier?, isCollection: Bool, _ identifier: String
    ) {
        guard !openRequests.isEmpty else { return }
        let root = Root(
            type: type, isCollection: isCollection, identifier: Identifier(identifier))
        changed[root] = ChangeTime()
    }

    /// Whether a model was deleted after a request began, and not set again.
    func isDeleted(
        _ model: any ConsistencyManagerModel, since time: ChangeTime
    ) -> Bool {
        guard let identifier = model.modelIdentifier.map(Identifier.init),
            let deleted = changed[Root(type: nil, isCollection: false, identifier: identifier)],
            deleted.after(time)
        else { return false }
        let type = ObjectIdentifier(Swift.type(of: model))
        let set = changed[Root(type: type, isCollection: false, identifier: identifier)]
        return set.map { deleted.after($0) } ?? true
    }

    /// Whether a model or a collection was changed after a request began.
    func hasChanged(
        _ identifier: String, as type: Any.Type, isCollection: Bool = false, since time: ChangeTime
    ) -> Bool {
        [ObjectIdentifier(type), nil].contains { type in
            let root = Root(
                type: type, isCollection: isCollection, identifier: Identifier(identifier))
            return changed[root]?.after(time) ?? false
        }
    }
}

/// An attempt of a request that is under way, or whose answer was not shown by all yet: the updates
/// posted since are kept until then.
final class OpenRequest: Sendable {
    let time: ChangeTime
    /// A time just before `time`: changes since then are kept.
    private let firstChange: ChangeTime
    private let manager: DataModelManager

    init(_ manager: DataModelManager) {
        self.manager = manager
        firstChange = manager.order.withLock { $0.beginRequest() }
        time = manager.beginFetch()
    }

    deinit {
        manager.endFetch(time)
        manager.order.withLock { $0.endRequest(firstChange) }
    }
}

/// The answer to a request, after it was posted and saved.
struct NetworkAnswer<Value: Sendable>: Sendable {
    /// The model, or the collection.
    let value: Value
    let request: OpenRequest
    /// Whether the root was changed since the attempt began, so that the answer was not applied.
    let isOutOfDate: Bool
    /// When the answer was posted. Updates after it are newer.
    let applied: ChangeTime
    /// Whether the cache merges the answer, so that a screen which shows the model waits for the
    /// merged one.
    var isMerged = false
    /// The write of the answer.
    let call: WriteCall
}

/// How a fetch asks the network.
struct NetworkRequest<Value: Sendable>: Sendable {
    let key: String
    let retry: RetryPolicy
    let clock: any Clock<Duration>
    let isWorthRetrying: @Sendable (any Error) -> Bool
    let context: (any Sendable)?
    let network: @Sendable () async throws -> Value

    /// Asks until the network answers or the policy of retries gives up.
    ///
    /// - Returns: The answer, and the attempt that it belongs to.
    func ask(for manager: DataModelManager) async throws -> (Value, OpenRequest) {
        try await retry.run(on: clock, when: isWorthRetrying) {
            // What changes between two attempts is older than the second one.
            let request = OpenRequest(manager)
            return (try await network(), request)
        }
    }
}

extension DataModelManager {
    /// Joins or begins the request for a model. Its answer is posted and saved once.
    func join<T: SimpleModel>(
        _ request: NetworkRequest<T>, isKept: Bool
    ) -> Passage<NetworkAnswer<T>> {
        flights.join(SingleFlight.Key(.model, T.self, request.key), isKept: isKept) { turn in
            let (model, attempt) = try await request.ask(for: self)
            return try turn.apply { self.apply(model, request, attempt) }
        }
    }

    /// Joins or begins the request for a collection. Its answer is posted and saved once.
    ///
    /// - Parameter collection: The collection under the key. The request holds it, so that edits
    ///   made meanwhile are known when the answer comes, also if no provider shows it any more.
    func joinCollection<T: SimpleModel>(
        _ request: NetworkRequest<[T]>, isKept: Bool, collection: SharedCollection<T>
    ) -> Passage<NetworkAnswer<SharedCollection<T>>> {
        flights.join(SingleFlight.Key(.collection, T.self, request.key), isKept: isKept) { turn in
            let (elements, attempt) = try await request.ask(for: self)
            return try await self.apply(elements, to: collection, request, attempt, turn)
        }
    }

    /// Posts and saves an answer, unless its root was changed meanwhile. Both in one step: no other
    /// change comes between.
    private func apply<T: SimpleModel>(
        _ model: T, _ request: NetworkRequest<T>, _ attempt: OpenRequest
    ) -> NetworkAnswer<T> {
        let policy = policy(of: T.self, nil)
        let call = WriteCall(policy: policy)
        let isMerged = policy.merges(model)
        let identifiers = isMerged ? model.outermostIdentifiers : []
        let isApplied = call.perform {
            order.withLock { roots in
                let name = model.modelIdentifier ?? request.key
                guard !roots.hasChanged(name, as: T.self, since: attempt.time) else { return false }
                roots.note(model)
                if isMerged {
                    cacheQueue.merge(model, forKey: request.key, policy) { [weak self] in
                        self?.refresh(identifiers)
                    }
                } else {
                    post(model, request.context)
                    cacheModel(model, forKey: request.key, context: request.context)
                }
                return true
            }
        }
        return NetworkAnswer(
            value: model, request: attempt, isOutOfDate: !isApplied, applied: ChangeTime(),
            isMerged: isMerged, call: call)
    }

    /// Shows and saves an answer in all providers of a collection, unless the collection was
    /// changed meanwhile.
    @MainActor
    private func apply<T: SimpleModel>(
        _ elements: [T], to collection: SharedCollection<T>, _ request: NetworkRequest<[T]>,
        _ attempt: OpenRequest, _ turn: AnswerTurn
    ) throws -> NetworkAnswer<SharedCollection<T>> {
        let answer = try turn.apply {
            // Collections change on the main actor only: none comes between.
            let isOutOfDate =
                collection.isKnown
                && order.withLock {
                    $0.hasChanged(
                        request.key, as: T.self, isCollection: true, since: attempt.time)
                }
            let call = WriteCall()
            call.perform {
                guard !isOutOfDate else { return }
                let elements = order.withLock { roots in
                    elements.filter { !roots.isDeleted($0, since: attempt.time) }
                }
                collection.replace(
                    with: elements, by: nil, save: policy(of: T.self, nil),
                    context: request.context)
            }
            return NetworkAnswer(
                value: collection, request: attempt, isOutOfDate: isOutOfDate,
                applied: ChangeTime(), call: call)
        }
        // After the turn: a delegate may run the loop of the main thread, where another answer for
        // the key is applied.
        if !answer.isOutOfDate { collection.notifyMembers() }
        return answer
    }
}

// MARK: - Asking by a policy

/// What the cache had for a fetch.
enum CacheStep: Sendable {
    case hit(isExpired: Bool)
    case miss(MissReason?)
    /// The cache can't be read.
    case failure(any Error)

    /// Makes what the reply to a read says; `record` is the record of the read.
    init(isHit: Bool, _ error: (any Error)?, _ record: MissRecord) {
        if isHit {
            self = .hit(isExpired: record.isExpired)
        } else {
            self = error.map { .failure($0) } ?? .miss(record.reason)
        }
    }

    /// Makes what a read says of something that is shown, if the read accepts only what is fresh.
    init(ofFresh result: Result<some Sendable, MissReason>) {
        switch result {
        case .success: self = .hit(isExpired: false)
        case .failure(let reason): self = reason.isError ? .failure(reason) : .miss(reason)
        }
    }

    /// Makes what a read says of something that is shown, if the read also accepts what has
    /// expired. After a miss, what is shown is at hand all the same, as something that has expired.
    init<Value>(ofStale result: Result<StaleRead<Value>, MissReason>) {
        self = .hit(isExpired: (try? result.get().isExpired) != false)
    }
}

extension MissReason {
    /// Whether fetching anew would not cure the miss, so that it counts as an error.
    var isError: Bool {
        switch self {
        case .notStorable, .unavailable: true
        default: false
        }
    }
}

/// A provider that asks the cache, the network, or both, as a policy says.
@MainActor
protocol PolicyFetching: AnyObject {
    /// What the network answers with.
    associatedtype Payload: Sendable
    /// What is shown of it.
    associatedtype Shown: Sendable

    var dataModelManager: DataModelManager { get }
    /// The time at which the provider was last set, edited or asked for something.
    var lastRequested: ChangeTime { get }

    /// Shows what the cache has.
    ///
    /// - Returns: What it had, and the time of the reading: an answer is out of date if the
    ///   provider was changed after that.
    /// - Throws: `CancellationError` if the task is cancelled.
    func readStep(
        _ request: NetworkRequest<Payload>, acceptsExpired: Bool
    ) async throws -> (step: CacheStep, time: ChangeTime)

    /// Joins or begins the request to the network.
    func join(
        _ request: NetworkRequest<Payload>, isKept: Bool
    ) -> Passage<NetworkAnswer<Shown>>

    /// Shows the network's answer unless the provider was changed after `time`, and tells the
    /// delegate.
    func show(_ result: Result<NetworkAnswer<Shown>, any Error>, since time: ChangeTime)
}

extension PolicyFetching {
    /// Asks the cache, the network, or both, and shows what they have.
    ///
    /// - Throws: As the public functions of the providers.
    func ask(_ request: NetworkRequest<Payload>, _ policy: FetchPolicy) async throws {
        switch policy {
        case .cacheOnly:
            switch try await readStep(request, acceptsExpired: false).step {
            // A read that accepts only what is fresh is never an expired hit.
            case .hit: break
            case .miss(let reason): throw FetchError.miss(reason ?? .notFound)
            case .failure(let error): throw error
            }
        case .cacheThenNetwork:
            let read = try await readStep(request, acceptsExpired: false)
            if case .hit(isExpired: false) = read.step { break }
            try await show(join(request, isKept: false), since: read.time)
        case .networkThenCache:
            let start = ChangeTime()
            do {
                try await show(join(request, isKept: false), since: start)
            } catch {
                // If the provider was set meanwhile, the cache's reply is out of date as well.
                guard !Task.isCancelled, !lastRequested.after(start),
                    case .hit = try await readStep(request, acceptsExpired: true).step
                else { throw error }
            }
        case .cacheAndNetwork:
            // Before the cache is read, so that neither waits for the other.
            let passage = join(request, isKept: false)
            let read = try await readStep(request, acceptsExpired: true)
            do {
                try await show(passage, since: read.time)
            } catch {
                // The delegate was told. What the cache had is shown.
                guard !Task.isCancelled, case .hit = read.step else { throw error }
            }
        case .staleWhileRevalidate:
            let read = try await readStep(request, acceptsExpired: true)
            switch read.step {
            case .hit(isExpired: false): break
            case .hit(isExpired: true):
                let passage = join(request, isKept: true)
                Task { [weak self] in
                    let answer: Result<NetworkAnswer<Shown>, any Error>
                    do {
                        answer = .success(try await passage.value)
                    } catch {
                        answer = .failure(error)
                    }
                    self?.show(answer, since: read.time)
                }
            case .miss, .failure: try await show(join(request, isKept: false), since: read.time)
            }
        }
    }

    /// Waits for the network's answer and shows it.
    ///
    /// - Throws: The network's error; `CancellationError` if the task is cancelled.
    private func show(
        _ passage: Passage<NetworkAnswer<Shown>>, since time: ChangeTime
    ) async throws {
        do {
            show(.success(try await passage.value), since: time)
        } catch {
            // A caller who has left is told nothing.
            try Task.checkCancellation()
            show(.failure(error), since: time)
            throw error
        }
    }
}

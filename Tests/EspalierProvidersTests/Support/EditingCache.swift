import EspalierModels

/// A cache that stores collections as lists of identifiers and accepts edits, as the engine does. A
/// test can set its replies, or hold them back.
final class EditingCache: CollectionCacheDelegate {
    struct State {
        var models: [String: any SimpleModel] = [:]
        var collections: [String: [any SimpleModel]] = [:]
        var calls: [String] = []
        /// The outcomes of the next edits, which are not applied.
        var outcomes: [CollectionEditOutcome] = []
        var isHolding = false
        var held: [@Sendable () -> Void] = []

        /// Stores each node once, as the engine does: the first of several versions in one write
        /// counts.
        mutating func store(_ new: [any SimpleModel]) {
            for model in new.reversed() {
                if let key = model.modelIdentifier { models[key] = model }
            }
        }
    }
    let state = Guarded(State())

    var calls: [String] { state.withLock { $0.calls } }
    var isHolding: Bool {
        get { state.withLock { $0.isHolding } }
        set { state.withLock { $0.isHolding = newValue } }
    }

    func model<T>(_ key: String, _: T.Type = T.self) -> T? {
        state.withLock { $0.models[key] as? T }
    }
    func count(_ prefix: String) -> Int { calls.count { $0.hasPrefix(prefix) } }
    func collection<T>(_ key: String, _: T.Type = T.self) -> [T]? {
        state.withLock { $0.collections[key] as? [T] }
    }
    func put(_ collection: [any SimpleModel], _ key: String) {
        state.withLock { $0.collections[key] = collection }
    }
    func answerNext(_ outcomes: CollectionEditOutcome...) {
        state.withLock { $0.outcomes += outcomes }
    }

    /// Sends all replies that are held, the latest first if `reversed`.
    func release(reversed: Bool = false) {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for answer in reversed ? held.reversed() : held { answer() }
    }

    func editCollection(
        _ edit: CollectionEdit<any SimpleModel>, forKey cacheKey: String,
        expecting neighbours: CollectionNeighbours, context: Any?,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        let (outcome, isHeld) = state.withLock { state -> (CollectionEditOutcome, Bool) in
            state.calls.append("edit \(cacheKey)")
            let outcome =
                state.outcomes.isEmpty
                ? Self.apply(edit, to: &state.collections[cacheKey], neighbours)
                : state.outcomes.removeFirst()
            if case .applied = outcome { state.store(edit.elements) }
            if state.isHolding { state.held.append { completion(outcome) } }
            return (outcome, state.isHolding)
        }
        if !isHeld { completion(outcome) }
    }

    /// Applies a move, as an edit of one element.
    func move(
        from source: Int, to destination: Int, inCollection key: String,
        expecting neighbours: CollectionNeighbours,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        let (outcome, isHeld) = state.withLock { state -> (CollectionEditOutcome, Bool) in
            state.calls.append("move \(key)")
            let outcome: CollectionEditOutcome
            if state.outcomes.isEmpty {
                // An edit without a change tells whether the list is as expected.
                let probe = CollectionEdit<any SimpleModel>(range: source..<source, elements: [])
                outcome = Self.apply(probe, to: &state.collections[key], neighbours)
            } else {
                outcome = state.outcomes.removeFirst()
            }
            if case .applied = outcome, let element = state.collections[key]?.remove(at: source) {
                state.collections[key]?.insert(element, at: destination)
            }
            if state.isHolding { state.held.append { completion(outcome) } }
            return (outcome, state.isHolding)
        }
        if !isHeld { completion(outcome) }
    }

    private static func apply(
        _ edit: CollectionEdit<any SimpleModel>, to stored: inout [any SimpleModel]?,
        _ neighbours: CollectionNeighbours
    ) -> CollectionEditOutcome {
        var list = stored ?? []
        if edit.range == nil {
            if stored == nil, neighbours.count > 0 { return .outOfDate }
        } else if stored == nil {
            return .outOfDate
        }
        let range = edit.range ?? list.count..<list.count
        let index = range.lowerBound
        func identifier(_ index: Int) -> String? {
            list.indices.contains(index) ? list[index].modelIdentifier : nil
        }
        let found = CollectionNeighbours(
            count: list.count, previous: identifier(index - 1), current: identifier(index),
            next: identifier(index + 1))
        guard found == neighbours else { return .outOfDate }
        list.replaceSubrange(range, with: edit.elements)
        stored = list
        return .applied
    }

    func flush() async throws { state.withLock { $0.calls.append("flush") } }

    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
        completion(state.withLock { state in cacheKey.flatMap { state.models[$0] as? T } }, nil)
    }

    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        state.withLock { state in
            state.calls.append("set \(cacheKey)")
            state.models[cacheKey] = model
        }
    }

    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) {
        completion(
            state.withLock { state in cacheKey.flatMap { state.collections[$0] as? [T] } }, nil)
    }

    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {
        state.withLock { state in
            state.calls.append("set all \(cacheKey)")
            state.collections[cacheKey] = collection
            state.store(collection)
        }
    }

    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        state.withLock { state in
            state.calls.append("delete \(cacheKey ?? "nil")")
            guard let key = cacheKey ?? model.modelIdentifier else { return }
            state.models[key] = nil
            for (name, list) in state.collections {
                state.collections[name] = list.filter { $0.modelIdentifier != key }
            }
        }
    }
}

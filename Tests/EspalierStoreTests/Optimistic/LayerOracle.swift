import EspalierRecords

@testable import EspalierStore

/// What a cache has, as dictionaries: the oracle of optimistic changes. References are names.
struct LayerState: Equatable {
    var memos: [Int: MemoPart] = [:]
    /// The memos of boards.
    var boards: [Int: [Int]] = [:]
    /// The memos of collections.
    var lists: [String: [Int]] = [:]
    /// The memo that a key names.
    var keys: [String: Int] = [:]

    /// What a read of a board returns.
    func board(_ id: Int) -> [MemoPart]? { boards[id]?.compactMap { memos[$0] } }

    /// What a read of a collection returns.
    func list(_ key: String) -> [MemoPart]? { lists[key]?.compactMap { memos[$0] } }

    /// Removes all references to a memo: it is deleted, and a new one has nothing to do with it.
    mutating func forget(_ id: Int) {
        for board in boards.keys { boards[board]?.removeAll { $0 == id } }
        for list in lists.keys { lists[list]?.removeAll { $0 == id } }
        keys = keys.filter { $0.value != id }
    }
}

/// A write of the walk.
enum LayerWrite {
    case memo(MemoPart, WritePolicy)
    case board(Int, [MemoPart])
    case delete(Int)
    case list(String, [MemoPart])
    case append(String, [MemoPart])
    case appendNew(String, [MemoPart])
    case insert(String, MemoPart, Int)
    /// Only changes have it.
    case insertNew(String, MemoPart, Int)
    case remove(String, Range<Int>)
    case deleteList(String)
    case key(String, MemoPart)
    case deleteKey(String)

    func add(to batch: inout WriteBatch) {
        switch self {
        case .memo(let memo, let policy): batch.set(memo, policy: policy)
        case .board(let id, let memos): batch.set(BoardPart(id: id, memos: memos))
        case .delete(let id): batch.delete("Memo:\(id)")
        case .list(let key, let memos): batch.setCollection(memos, forKey: key)
        case .append(let key, let memos): batch.append(memos, toCollection: key)
        case .appendNew(let key, let memos): batch.appendNew(memos, toCollection: key)
        case .insert(let key, let memo, let index), .insertNew(let key, let memo, let index):
            batch.insert([memo], at: index, inCollection: key)
        case .remove(let key, let range): batch.remove(range, fromCollection: key)
        case .deleteList(let key): batch.deleteCollection(forKey: key)
        case .key(let key, let memo): batch.setModel(memo, forKey: key)
        case .deleteKey(let key): batch.deleteModel(forKey: key)
        }
    }

    /// The memos that the write has or deletes.
    var memos: [Int] {
        switch self {
        case .memo(let memo, _), .insert(_, let memo, _), .insertNew(_, let memo, _),
            .key(_, let memo):
            [memo.id]
        case .board(_, let memos), .list(_, let memos), .append(_, let memos),
            .appendNew(_, let memos):
            memos.map(\.id)
        case .delete(let id): [id]
        case .remove, .deleteList, .deleteKey: []
        }
    }

    /// Whether the write ends a part of a batch whose models are one tree.
    var isDelete: Bool {
        switch self {
        case .delete, .deleteList, .deleteKey: true
        default: false
        }
    }

    var policy: WritePolicy? {
        if case .memo(_, let policy) = self { policy } else { nil }
    }

    /// Returns the write as a change keeps it: what its list has not yet is inserted only as long
    /// as the list does not have it.
    func kept(in state: LayerState) -> LayerWrite {
        switch self {
        case .append(let key, let memos):
            let ids = Set(memos.map(\.id))
            let isNew = ids.isDisjoint(with: state.lists[key] ?? []) && ids.count == memos.count
            return isNew ? .appendNew(key, memos) : self
        case .insert(let key, let memo, let index):
            return state.lists[key]?.contains(memo.id) == true
                ? self : .insertNew(key, memo, index)
        default: return self
        }
    }

    /// Applies the write. Returns false if it fails, which it never does where it `clamps`.
    private func apply(to state: inout LayerState, _ tree: inout Tree, clamps: Bool) -> Bool {
        switch self {
        case .memo(let memo, _): tree.set([memo], in: &state)
        case .board(let id, let memos):
            tree.set(memos, in: &state)
            state.boards[id] = memos.map(\.id)
        case .delete(let id): state.memos[id] = nil
        case .list(let key, let memos):
            tree.set(memos, in: &state)
            state.lists[key] = memos.map(\.id)
        case .append(let key, let memos):
            tree.set(memos, in: &state)
            state.lists[key, default: []] += memos.map(\.id)
        case .appendNew(let key, let memos):
            tree.set(memos, in: &state)
            var known = Set(state.lists[key] ?? [])
            state.lists[key, default: []] += memos.map(\.id).filter { known.insert($0).inserted }
        case .insert(let key, let memo, let index), .insertNew(let key, let memo, let index):
            guard let list = state.lists[key] else {
                if clamps { tree.set([memo], in: &state) }
                return clamps
            }
            guard clamps || (0...list.count).contains(index) else { return false }
            tree.set([memo], in: &state)
            if case .insertNew = self, list.contains(memo.id) { return true }
            state.lists[key]?.insert(memo.id, at: min(index, list.count))
        case .remove(let key, let range):
            guard let list = state.lists[key] else { return clamps }
            guard clamps || range.upperBound <= list.count else { return false }
            state.lists[key]?.removeSubrange(range.clamped(to: 0..<list.count))
        case .deleteList(let key): state.lists[key] = nil
        case .key(let key, let memo):
            tree.set([memo], in: &state)
            state.keys[key] = memo.id
        case .deleteKey(let key): state.keys[key] = nil
        }
        return true
    }

    /// The models of neighbouring writes with the same policy: of a memo that occurs twice, the
    /// first counts, or the first for each field in a merge.
    private struct Tree {
        let policy: WritePolicy?
        let isDelete: Bool
        let before: LayerState
        var written: [Int: MemoPart] = [:]

        mutating func set(_ memos: [MemoPart], in state: inout LayerState) {
            for memo in memos {
                let first = written[memo.id]
                if first != nil, policy != .merge { continue }
                let known = policy == .merge ? first.map { $0.filled(from: memo) } ?? memo : memo
                written[memo.id] = known
                let old = policy == .merge ? before.memos[memo.id] : nil
                state.memos[memo.id] = old.map(known.filled) ?? known
            }
        }
    }

    /// Applies writes one after the other. Calls `before` before each one, and `deleted` for each
    /// memo that one deletes.
    /// Returns false if one fails.
    static func apply(
        _ writes: [LayerWrite], to state: inout LayerState, clamps: Bool,
        deleted: (Int, inout LayerState) -> Void = { _, _ in },
        before: (LayerWrite, LayerState) -> Void = { _, _ in }
    ) -> Bool {
        var tree: Tree?
        for write in writes {
            var open = tree ?? Tree(policy: write.policy, isDelete: write.isDelete, before: state)
            if open.policy != write.policy || open.isDelete != write.isDelete {
                open = Tree(policy: write.policy, isDelete: write.isDelete, before: state)
            }
            before(write, state)
            guard write.apply(to: &state, &open, clamps: clamps) else { return false }
            if case .delete(let id) = write { deleted(id, &state) }
            tree = open
        }
        return true
    }
}

extension MemoPart {
    func filled(from other: MemoPart) -> MemoPart {
        MemoPart(
            id: id, text: text ?? other.text, stars: stars ?? other.stars,
            likes: likes ?? other.likes)
    }
}

/// Layers over dictionaries.
struct LayerOracle {
    struct Layer {
        let id: String
        let writes: [LayerWrite]
        var memos: Set<Int> { Set(writes.flatMap(\.memos)) }
    }

    private(set) var confirmed = LayerState()
    private(set) var layers: [Layer] = []

    /// The state that readers see.
    var shown: LayerState {
        var state = confirmed
        for layer in layers { _ = LayerWrite.apply(layer.writes, to: &state, clamps: true) }
        return state
    }

    private func isLayered(_ memo: Int) -> Bool { layers.contains { $0.memos.contains(memo) } }

    /// Applies writes to what is confirmed. Returns false, and changes nothing, if one fails.
    mutating func write(_ writes: [LayerWrite]) -> Bool {
        var state = confirmed
        let isDone = LayerWrite.apply(writes, to: &state, clamps: false) { id, state in
            if !isLayered(id) { state.forget(id) }
        }
        guard isDone else { return false }
        confirmed = state
        return true
    }

    /// Adds a layer. Returns false if one of its writes fails.
    mutating func add(_ id: String, _ writes: [LayerWrite]) -> Bool {
        var state = shown
        var kept: [LayerWrite] = []
        let isDone = LayerWrite.apply(
            writes, to: &state, clamps: false,
            before: { write, state in kept.append(write.kept(in: state)) })
        guard isDone else { return false }
        layers.append(Layer(id: id, writes: kept))
        return true
    }

    /// Ends a layer, and applies writes in its place; its own if there are none. Returns false if
    /// one of them fails.
    mutating func end(_ id: String, with answer: [LayerWrite]?) -> Bool {
        guard let index = layers.firstIndex(where: { $0.id == id }) else { return false }
        let layer = layers[index]
        let known = self
        layers.remove(at: index)
        // The memos are under layers until the end of the step.
        var state = confirmed
        let isDone = LayerWrite.apply(
            answer ?? layer.writes, to: &state, clamps: answer == nil
        ) { id, state in
            if !isLayered(id), !layer.memos.contains(id) { state.forget(id) }
        }
        guard isDone else {
            self = known
            return false
        }
        for memo in layer.memos where !isLayered(memo) && state.memos[memo] == nil {
            state.forget(memo)
        }
        confirmed = state
        return true
    }
}

struct BoardPart: IdentifiedModel, Equatable, Codable {
    var id: Int
    var memos: [MemoPart]
    var modelIdentifier: String? { "Board:\(id)" }
}

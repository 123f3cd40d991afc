import EspalierConfinement

/// Keeps the models of one read, so that a later read need not decode again what has not changed.
///
/// A `TreeReader` tells its recorder of each record that it enters and leaves. The result is a
/// ``RecordedTree``. If the recorder has an older tree of the same entry, it hands out those of its
/// models whose subtrees have not changed, and takes their nodes over.
///
/// Rules, so that a read with a recorder gives what a read without one gives:
///
/// - A model is kept only if its subtree was read whole: not if a reference in it was cut, nor if
///   a failure was swallowed in it.
/// - A subtree is not used if one of its records is being decoded: there, a read would cut the
///   reference. Nor is a model used that this read has made from a part of the older tree: the
///   reader does not know its records.
/// - An open subtree is not used, see ``RecordedTree``.
/// - If a type is not cacheable, the whole tree is not kept.
///
/// Confined to the thread of the read.
@usableFromInline
package final class TreeRecorder {
    /// A record that is being decoded.
    fileprivate struct Frame {
        let node: Int32
        /// What the read had counted before it entered the record.
        let before: ReadCounts
        /// The next child of this record in the older tree, and the end of its subtree there.
        var next: Int32
        let end: Int32
        /// Bits for the low bits of the handles of this record and of those above it, if there is
        /// an older tree.
        let mask: UInt64
        /// Whether the read has met the record before.
        let isRepeated: Bool
        /// Whether the model depends on more than the records below.
        var isTainted = false
    }

    /// The older tree, whose models the read has claimed; nil if there is none.
    @usableFromInline package let olderTree: RecordedTree?
    /// By node of the older tree: whether its subtree has changed.
    private let isStale: [Bool]
    /// Whether the models of the tree's parts are kept, and not only which records it has.
    @usableFromInline let keepsModels: Bool

    // confined to the thread of the read
    fileprivate struct State {
        fileprivate var frames: [Frame] = []
        fileprivate var nodes: [RecordedTree.Node] = []
        fileprivate var lists: [ModelList] = []
        fileprivate var entries: [Handle] = []
        /// The types of the models, if models are not kept.
        fileprivate var types: [ObjectIdentifier] = []
        fileprivate var lastType: ObjectIdentifier?
        /// Where the next record of the top level stands in the older tree.
        fileprivate var next = 0
        /// The place in the older tree of the record about to be entered.
        fileprivate var place: Int?
        /// Whether a record was read more than once.
        fileprivate var hasRepeats = false
        /// Whether a type was met whose models must not be kept.
        fileprivate var isUncacheable = false
        /// The memory of models beyond the estimate from the bytes of their records.
        fileprivate var moreBytes = 0
        /// Whether a part of the older tree was used.
        fileprivate var hasReused = false
        /// The smallest and the largest handle that were noted, those of the older tree aside.
        fileprivate var (low, high) = (UInt64.max, UInt64.min)
    }
    private let state = Confined(State())

    /// Whether a part of the older tree was used.
    package var hasReused: Bool { state.value.hasReused }

    /// - Parameter keepsModels: Whether to keep the models of the tree's parts, which takes a third
    ///   of the time of the read.
    package init(older: StaleTree? = nil, keepsModels: Bool) {
        olderTree = older?.tree
        isStale = older?.isStale ?? []
        self.keepsModels = keepsModels
        guard keepsModels else { return }
        state.value.lists = older?.tree.lists ?? []
        state.value.nodes.reserveCapacity(older?.tree.nodes.count ?? 64)
        state.value.frames.reserveCapacity(8)
    }

    /// Notes a record that the read depends on and that has no model of its own: that of a key, a
    /// collection or a segment.
    func depend(on handle: Handle) {
        state.value.entries.append(handle)
        state.value.extendRange(to: handle)
    }

    /// Notes a record that the read is about to decode, if models are not kept.
    @usableFromInline
    func note(_ handle: Handle, as type: ObjectIdentifier, _ isCacheable: () -> Bool) {
        depend(on: handle)
        guard type != state.value.lastType else { return }
        state.value.lastType = type
        if !state.value.types.contains(type) {
            state.value.types.append(type)
            if !isCacheable() { state.value.isUncacheable = true }
        }
    }

    /// Notes that a model of a type was made whose instances must not be shared by reads.
    @usableFromInline
    func noteUncacheable() { state.value.isUncacheable = true }

    /// Adds memory that models take beyond the estimate from the bytes of their records.
    func note(moreBytes count: Int) { state.value.moreBytes += count }

    /// Notes that a reference in the record being decoded was cut: its model, and those above,
    /// depend on the way that led here.
    func noteCut() { state.value.taint() }

    // MARK: Entering and leaving

    func enter(_ handle: Handle, isRepeated: Bool, _ counts: ReadCounts) {
        state.value.enter(handle, isRepeated: isRepeated, counts, olderTree)
    }

    /// Notes that the record entered last was decoded, where its model stands, and what the whole
    /// read has counted by now. Returns its node if the read has met it before.
    func leave(list: Int, position: Int, _ total: ReadCounts) -> Int? {
        state.value.leave(list: list, position: position, total)
    }

    /// Notes that the record entered last could not be decoded. `isDeletion` tells whether the
    /// reason is that a record in it was deleted, which the models above take into account. Returns
    /// its node if the read has met it before.
    func leaveFailed(isDeletion: Bool, _ total: ReadCounts) -> Int? {
        state.value.leaveFailed(isDeletion: isDeletion, total)
    }

    /// How many nodes the read had counted when it entered the record being decoded.
    var logicalNodesBefore: Int { state.value.frames.last?.before.logicalNodes ?? 0 }

    /// Notes a model that the read has made before and uses again.
    ///
    /// - Parameter isLeaf: Whether it was made of one record only.
    func addRepeat(_ handle: Handle, isCut: Bool, isLeaf: Bool) {
        state.value.addRepeat(handle, isLeaf: isLeaf)
        if isCut { state.value.taint() }
    }

    /// Returns whether the model of a node of this read may be used again here, as far as its parts
    /// are those of the older tree.
    func mayRepeat(_ node: Int) -> Bool {
        guard state.value.hasReused else { return true }
        let size = Int(state.value.nodes[node].size)
        return (node..<node + size).allSatisfy { index in
            let node = state.value.nodes[index]
            return !node.isRepeat && !state.value.isDecoding(node.handle)
        }
    }

    // MARK: Lists of models

    /// Returns the list for models of a type, which it makes if necessary.
    @inlinable
    func list<Model>(of type: Model.Type, _ isCacheable: () -> Bool) -> TypedModelList<Model> {
        if let known = list(of: ObjectIdentifier(type)) { return known.typed() }
        if !isCacheable() { noteUncacheable() }
        let list = TypedModelList<Model>(number: listCount)
        add(list)
        return list
    }

    @usableFromInline
    func list(of type: ObjectIdentifier) -> ModelList? {
        for list in state.value.lists where list.type == type { return list }
        return nil
    }

    @usableFromInline var listCount: Int { state.value.lists.count }

    @usableFromInline
    func add(_ list: ModelList) { state.value.lists.append(list) }

    // MARK: The older tree

    /// How many siblings are searched for a record that has moved.
    private static let siblings = 64

    /// Looks for the record in the older tree, among the children of the record being decoded. If
    /// its subtree has not changed, takes it over, and returns where its model stands and what
    /// the subtree counts.
    func reuse(
        _ handle: Handle, list: Int, within limits: ReadCounts
    ) -> (position: Int, counts: ReadCounts)? {
        guard let tree = olderTree else { return nil }
        var (candidate, end) = state.value.siblingsLeft(in: tree)
        var searched = 0
        while candidate < end, tree.nodes[candidate].handle != handle {
            candidate += Int(tree.nodes[candidate].size)
            searched += 1
            guard searched < Self.siblings else { return nil }
        }
        guard candidate < end else { return nil }
        let node = tree.nodes[candidate]
        state.value.advance(to: candidate + Int(node.size))
        var subtree = ReadCounts()
        subtree.add(node.counts)
        guard isUsable(candidate, of: tree, list: list), subtree.fits(limits) else {
            state.value.place = candidate
            return nil
        }
        state.value.copy(candidate..<candidate + Int(node.size), of: tree)
        return (Int(node.position), subtree)
    }

    /// Takes over a run of siblings that follow each other in the older tree as well. Returns their
    /// nodes there, and what they count.
    ///
    /// - Parameters:
    ///   - isNext: Returns whether the next sibling is the record.
    ///   - take: Moves past the next sibling, which is the record.
    func reuseRun(
        list: Int, within limits: ReadCounts, isNext: (Handle) -> Bool, take: (Handle) -> Void
    ) -> (nodes: Range<Int>, counts: ReadCounts)? {
        guard let tree = olderTree else { return nil }
        let (start, end) = state.value.siblingsLeft(in: tree)
        var run = start
        var counts = ReadCounts()
        // The nodes of the subtree are looked at last: there may be many.
        while run < end, isNext(tree.nodes[run].handle), isUsable(run, of: tree, list: list) {
            var sum = counts
            sum.add(tree.nodes[run].counts)
            guard sum.fits(limits) else { break }
            take(tree.nodes[run].handle)
            counts = sum
            run += Int(tree.nodes[run].size)
        }
        guard run > start else { return nil }
        state.value.advance(to: run)
        state.value.copy(start..<run, of: tree)
        return (start..<run, counts)
    }

    /// Returns whether the subtree of a node of the older tree can be taken over, as a model of a
    /// list: it has not changed, and none of its records is being decoded.
    @inline(__always)
    private func isUsable(_ node: Int, of tree: RecordedTree, list: Int) -> Bool {
        let root = tree.nodes[node]
        guard !isStale[node], Int(root.list) == list, !root.isOpen else { return false }
        let mask = state.value.frames.last?.mask ?? 0
        for index in node..<node + Int(root.size)
        where mask & (1 << (tree.nodes[index].handle.rawValue & 63)) != 0 {
            if state.value.isDecoding(tree.nodes[index].handle) { return false }
        }
        return true
    }

    // MARK: The result

    /// Returns the tree of a read that has succeeded; nil if it must not be kept.
    package func finish(_ treeReader: TreeReader) -> RecordedTree? {
        guard !state.value.isUncacheable, RecordedTree.Counts.hold(treeReader.total) else {
            return nil
        }
        var (low, high) = (state.value.low, state.value.high)
        if state.value.hasReused, let older = olderTree?.range {
            (low, high) = (min(low, older.lowerBound), max(high, older.upperBound))
        }
        return RecordedTree(
            entries: state.value.entries, nodes: state.value.nodes, lists: state.value.lists,
            hasRepeats: state.value.hasRepeats, total: treeReader.total,
            moreBytes: state.value.moreBytes + (olderTree?.moreBytesOfModels ?? 0),
            range: low <= high ? low...high : 0...0)
    }
}

extension TreeRecorder.State {
    /// Where the record being decoded has its next child in the older tree, and the end of them.
    fileprivate func siblingsLeft(in tree: RecordedTree) -> (next: Int, end: Int) {
        guard let frame = frames.last else { return (next, tree.nodes.count) }
        return (Int(frame.next), Int(frame.end))
    }

    /// Notes that the model of the record being decoded depends on more than the records below.
    fileprivate mutating func taint() {
        if let last = frames.indices.last { frames[last].isTainted = true }
    }

    @inline(__always)
    fileprivate mutating func enter(
        _ handle: Handle, isRepeated: Bool, _ counts: ReadCounts, _ older: RecordedTree?
    ) {
        let node = Int32(truncatingIfNeeded: nodes.count)
        if let older {
            let first = place.map { Int32($0) }
            let size = place.map { older.nodes[$0].size } ?? 0
            frames.append(
                TreeRecorder.Frame(
                    node: node, before: counts, next: first.map { $0 + 1 } ?? 0,
                    end: (first ?? 0) + size,
                    mask: (frames.last?.mask ?? 0) | 1 << (handle.rawValue & 63),
                    isRepeated: isRepeated))
            place = nil
        } else {
            frames.append(
                TreeRecorder.Frame(
                    node: node, before: counts, next: 0, end: 0, mask: 0, isRepeated: isRepeated))
        }
        nodes.append(RecordedTree.Node(handle))
        extendRange(to: handle)
        if isRepeated { hasRepeats = true }
    }

    @inline(__always)
    fileprivate mutating func extendRange(to handle: Handle) {
        low = min(low, handle.rawValue)
        high = max(high, handle.rawValue)
    }

    @inline(__always)
    fileprivate mutating func leave(list: Int, position: Int, _ total: ReadCounts) -> Int? {
        let frame = close(total)
        if frame.isTainted {
            taint()
        } else {
            nodes[Int(frame.node)].list = Int16(truncatingIfNeeded: list)
            nodes[Int(frame.node)].position = Int32(truncatingIfNeeded: position)
        }
        return frame.isRepeated ? Int(frame.node) : nil
    }

    fileprivate mutating func leaveFailed(isDeletion: Bool, _ total: ReadCounts) -> Int? {
        let frame = close(total)
        if frame.isTainted || !isDeletion { taint() }
        return frame.isRepeated ? Int(frame.node) : nil
    }

    @inline(__always)
    private mutating func close(_ total: ReadCounts) -> TreeRecorder.Frame {
        let frame = frames.removeLast()
        let node = Int(frame.node)
        nodes[node].size = Int32(truncatingIfNeeded: nodes.count) - frame.node
        nodes[node].counts = RecordedTree.Counts(from: frame.before, to: total)
        return frame
    }

    fileprivate mutating func addRepeat(_ handle: Handle, isLeaf: Bool) {
        hasRepeats = true
        place = nil
        var node = RecordedTree.Node(handle)
        node.isRepeat = !isLeaf
        nodes.append(node)
        extendRange(to: handle)
    }

    fileprivate func isDecoding(_ handle: Handle) -> Bool {
        frames.contains { nodes[Int($0.node)].handle == handle }
    }

    fileprivate mutating func advance(to place: Int) {
        if let last = frames.indices.last {
            frames[last].next = Int32(place)
        } else {
            next = place
        }
    }

    /// Copies subtrees of the older tree.
    fileprivate mutating func copy(_ range: Range<Int>, of tree: RecordedTree) {
        nodes.append(contentsOf: tree.nodes[range])
        hasRepeats = hasRepeats || tree.hasRepeats
        hasReused = true
    }
}

/// What a read has counted, or may still count.
struct ReadCounts {
    var depth = 0
    var logicalNodes = 0
    var bytes = 0
    var records = 0

    /// Adds a subtree that stands beside what was counted.
    mutating func add(_ subtree: RecordedTree.Counts) {
        depth = max(depth, Int(subtree.depth))
        logicalNodes += Int(subtree.logicalNodes)
        bytes += Int(subtree.bytes)
        records += Int(subtree.records)
    }

    /// Returns whether a read that may still count `limits` may count so much.
    fileprivate func fits(_ limits: ReadCounts) -> Bool {
        depth <= limits.depth && logicalNodes <= limits.logicalNodes && bytes <= limits.bytes
    }
}

// MARK: - Models

/// The models of one type in a tree.
///
/// A tree that takes the place of an older one has the same lists, to which its read has appended
/// what it has decoded. So nothing is copied. Models that no node of the newer tree has stay in the
/// list; `RecordedTree.isWasteful` limits their number.
@usableFromInline
package class ModelList: @unchecked Sendable {
    @usableFromInline let type: ObjectIdentifier
    /// The number of the list in its tree.
    @usableFromInline let number: Int

    @usableFromInline
    init(type: ObjectIdentifier, number: Int) {
        self.type = type
        self.number = number
    }

    /// Returns the list, whose `type` is that of the models.
    @inlinable
    final func typed<Model>() -> TypedModelList<Model> {
        // A cast that is checked looks up the metadata of the generic class: 1,000 instructions for
        // each record. The list of a type is the only one with the type's identifier.
        unsafe unsafeDowncast(self, to: TypedModelList<Model>.self)
    }

    var count: Int { 0 }
    /// The bytes of the list itself.
    var byteCount: Int { 0 }
}

// Unchecked, because the compiler can't check a class that is not final. One read at a time uses a
// list: the one that has claimed its tree, see `RecordedTree.claim`.
@usableFromInline
final class TypedModelList<Model>: ModelList, @unchecked Sendable {
    @usableFromInline var models: ContiguousArray<Model> = []

    @usableFromInline
    init(number: Int) { super.init(type: ObjectIdentifier(Model.self), number: number) }

    override var count: Int { models.count }
    override var byteCount: Int { models.capacity * MemoryLayout<Model>.stride }
}

/// Where a read is and has been: the records being decoded, their children, and all records met.
///
/// One value, which the treeReader holds without checks of exclusive access.
struct DecodingPath {
    /// One record being decoded.
    private struct Step {
        let handle: Handle
        /// Tells this decoding from others of the same record.
        let serial: Int
        /// Whether a reference below was cut at this step.
        var isCutAt = false
    }

    /// What the use of a subtree depends on.
    struct Anchor {
        /// The steps that references in the subtree were cut at, and the serial of the deepest.
        /// While that is under way, the same references are cut.
        fileprivate let cuts: [Int]
        fileprivate let serial: Int
        /// When the subtree was made.
        fileprivate let made: Int
    }

    /// What stepping into a record came to.
    enum Visit {
        case first, again
        /// It is being decoded.
        case cut
    }

    /// Outermost first.
    private var path: [Step] = []
    private var serial = 0
    /// The children of the records being decoded, each record's as a run.
    var children: [Handle] = []
    private var visited = HandleSet()
    /// Records in memory of their own, each with the depth of the path it is lent at.
    private var owners: [(depth: Int, owner: RecordBuffer)] = []
    /// Cuts below steps of the path: the step, and the one further up where the reference was cut.
    /// Hardly ever any.
    private var cuts: [(step: Int, target: Int)] = []
    private var last: (isCutAt: Bool, cuts: [Int]) = (false, [])
    /// Records decoded as more than one type, and those of them on the path, with depth and serial.
    /// A subtree made earlier may hold such a record as a type that does not lead back here, and so
    /// look as if it did not hold this one.
    private var mixed: Set<Handle> = []
    private var barriers: [(depth: Int, serial: Int)] = []

    init() {
        // Room for most trees: what grows step by step is allocated anew at each.
        path.reserveCapacity(8)
        children.reserveCapacity(32)
    }

    /// The record being decoded: the innermost one.
    var current: Handle? { path.last?.handle }

    /// Steps into a record, unless it is being decoded.
    mutating func visit(_ handle: Handle, _ type: ObjectIdentifier) -> Visit {
        let insertion = visited.insert(handle, type)
        if insertion == .new {
            enter(handle)
            return .first
        }
        if let depth = path.firstIndex(where: { $0.handle == handle }) {
            cut(at: depth)
            return .cut
        }
        enter(handle)
        if insertion == .knownAsOther { mixed.insert(handle) }
        if !mixed.isEmpty, mixed.contains(handle) { barriers.append((path.count, serial)) }
        return .again
    }

    /// Steps into a record.
    mutating func enter(_ handle: Handle) {
        serial += 1
        path.append(Step(handle: handle, serial: serial))
    }

    private mutating func cut(at depth: Int) {
        path[depth].isCutAt = true
        let top = path.count - 1
        if depth < top { note(cutAt: depth, below: top) }
    }

    private mutating func note(cutAt target: Int, below step: Int) {
        if !cuts.contains(where: { $0.step == step && $0.target == target }) {
            cuts.append((step, target))
        }
    }

    /// Keeps the bytes of the record stepped into.
    mutating func keep(_ owner: RecordBuffer) { owners.append((path.count, owner)) }

    /// Steps out of a record that was not opened.
    mutating func turnBack() {
        if barriers.last?.depth == path.count { barriers.removeLast() }
        path.removeLast()
    }

    /// Steps out of the record whose children stand from `firstChild` on.
    mutating func leave(_ firstChild: Int) {
        if owners.last?.depth == path.count { owners.removeLast() }
        if barriers.last?.depth == path.count { barriers.removeLast() }
        let step = path.removeLast()
        dropChildren(from: firstChild)
        last.isCutAt = step.isCutAt
        if !cuts.isEmpty || !last.cuts.isEmpty { moveCutsUp() }
    }

    /// What was cut below the step just left was cut below the one above it, too, unless it was cut
    /// there.
    private mutating func moveCutsUp() {
        let left = path.count
        last.cuts = cuts.filter { $0.step == left }.map(\.target)
        cuts.removeAll { $0.step == left }
        for target in last.cuts where target < left - 1 { note(cutAt: target, below: left - 1) }
    }

    @inline(__always)
    mutating func dropChildren(from first: Int) {
        if children.count > first { children.removeLast(children.count - first) }
    }

    // MARK: Remembering

    /// Under what the subtree just left may be used where it is met again; nil for not at all.
    ///
    /// A subtree with a reference cut at its own root may not: below another of its records, that
    /// one would be cut. Any other cut is at a decoding that is still under way, and the subtree is
    /// the same as long as it is.
    func anchorOfLast() -> Anchor? {
        guard !last.isCutAt else { return nil }
        // While the deepest of them is under way, so are those above it.
        guard let deepest = last.cuts.max() else {
            return Anchor(cuts: [], serial: 0, made: serial)
        }
        return Anchor(cuts: last.cuts, serial: path[deepest].serial, made: serial)
    }

    /// Uses a subtree under `anchor` in place of the record stepped into, and steps out; false, and
    /// still inside, where it may not be used. Its cuts count here, too.
    mutating func use(_ anchor: Anchor) -> Bool {
        // The record itself is on the path, and may be a barrier: a subtree of its own says all
        // that stands in it.
        let outer = barriers.last(where: { $0.depth < path.count })
        if let outer, anchor.made <= outer.serial { return false }
        if let deepest = anchor.cuts.max() {
            guard deepest < path.count - 1, path[deepest].serial == anchor.serial else {
                return false
            }
        }
        turnBack()
        for depth in anchor.cuts { cut(at: depth) }
        return true
    }
}

/// The records being decoded, their children, and all records that the read has met.
struct DecodingPath {
    /// One record being decoded.
    private struct Step {
        let handle: Handle
        /// Distinguishes this decoding from others of the same record.
        let serial: Int
        /// Whether a reference below was cut at this step.
        var isCutAt = false
    }

    /// The condition under which a subtree may be used again.
    struct Anchor {
        /// The steps at which references in the subtree were cut, and the serial of the deepest of
        /// them. While that step is on the path, the same references are cut.
        fileprivate let cuts: [Int]
        fileprivate let serial: Int
        /// The last serial when the subtree was made.
        fileprivate let made: Int

        /// Whether a reference in the subtree was cut.
        var hasCuts: Bool { !cuts.isEmpty }
    }

    /// The result of stepping into a record.
    enum Visit {
        case first, again
        /// The record is being decoded, so the reference is cut.
        case cut
    }

    /// Outermost first.
    private var path: [Step] = []
    private var serial = 0
    /// The children of the records being decoded, one run for each record.
    var children: [Handle] = []
    var visited = HandleSet()
    /// Records in memory of their own, each with the depth of the path at which it is in use.
    private var owners: [(depth: Int, owner: RecordBuffer)] = []
    /// Cuts below steps of the path: the step, and the outer step at which the reference was cut.
    /// Nearly always empty.
    private var cuts: [(step: Int, target: Int)] = []
    /// The cuts of the record just left.
    private var last: (isCutAt: Bool, cuts: [Int]) = (false, [])
    /// Records decoded as more than one type, and those of them on the path, with depth and serial.
    /// A subtree made before such a record was entered may contain it as a type that does not lead
    /// back here, and so appear not to contain the current record.
    private var mixed: Set<Handle> = []
    private var barriers: [(depth: Int, serial: Int)] = []

    init() {
        // Room for most trees: an array that grows step by step is allocated again at each step.
        path.reserveCapacity(8)
        children.reserveCapacity(32)
    }

    /// The innermost record being decoded.
    var current: Handle? { path.last?.handle }

    /// Returns whether the record is being decoded.
    func contains(_ handle: Handle) -> Bool { path.contains { $0.handle == handle } }

    /// The outermost record being decoded.
    var outermost: Handle? { path.first?.handle }

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

    /// Notes a record whose model the read takes from an older tree. A later reference to it is a
    /// repeat, or makes it a record of several types.
    mutating func pass(_ handle: Handle, _ type: ObjectIdentifier) {
        if visited.insert(handle, type) == .knownAsOther { mixed.insert(handle) }
    }

    /// Steps into a record.
    mutating func enter(_ handle: Handle) {
        serial += 1
        path.append(Step(handle: handle, serial: serial))
    }

    private mutating func cut(at depth: Int) {
        path[depth].isCutAt = true
        let top = path.count - 1
        if depth < top { addCut(at: depth, below: top) }
    }

    private mutating func addCut(at target: Int, below step: Int) {
        if !cuts.contains(where: { $0.step == step && $0.target == target }) {
            cuts.append((step, target))
        }
    }

    /// Keeps the bytes of the record stepped into until it is left.
    mutating func keep(_ owner: RecordBuffer) { owners.append((path.count, owner)) }

    /// Steps out of a record that was not opened.
    mutating func turnBack() {
        if barriers.last?.depth == path.count { barriers.removeLast() }
        path.removeLast()
    }

    /// Steps out of the record whose children start at `firstChild`.
    mutating func leave(_ firstChild: Int) {
        if owners.last?.depth == path.count { owners.removeLast() }
        if barriers.last?.depth == path.count { barriers.removeLast() }
        let step = path.removeLast()
        dropChildren(from: firstChild)
        last.isCutAt = step.isCutAt
        if !cuts.isEmpty || !last.cuts.isEmpty { moveCutsUp() }
    }

    /// Moves the cuts below the step just left to the step above it, except those at that step.
    private mutating func moveCutsUp() {
        let left = path.count
        last.cuts = cuts.filter { $0.step == left }.map(\.target)
        cuts.removeAll { $0.step == left }
        for target in last.cuts where target < left - 1 { addCut(at: target, below: left - 1) }
    }

    @inline(__always)
    mutating func dropChildren(from first: Int) {
        if children.count > first { children.removeLast(children.count - first) }
    }

    // MARK: Subtrees used again

    /// Returns the condition under which the subtree just left may be used again; nil if it may
    /// not.
    ///
    /// A subtree with a reference cut at its own root may not be used again: below another of its
    /// records, that record would be cut. Any other cut was made at a decoding that is still on the
    /// path, and the subtree stays the same as long as that is so.
    func anchorOfLast() -> Anchor? {
        guard !last.isCutAt else { return nil }
        // While the deepest step is on the path, so are those above it.
        guard let deepest = last.cuts.max() else {
            return Anchor(cuts: [], serial: 0, made: serial)
        }
        return Anchor(cuts: last.cuts, serial: path[deepest].serial, made: serial)
    }

    /// Steps out of the record because a subtree under `anchor` takes its place, and adds the
    /// subtree's cuts to the path. Returns false, without stepping out, if the subtree may not be
    /// used here.
    mutating func use(_ anchor: Anchor) -> Bool {
        // The record itself is on the path and may be a barrier, but its own subtree contains
        // everything that stands in it.
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

/// The handles met, each with the type it was first met as, by open addressing: the test for a
/// repeated node costs a multiplication and a probe.
struct HandleSet {
    enum Insertion { case new, known, knownAsOther }

    private struct Slot {
        // Zero is no handle, so it marks an empty slot.
        var handle: UInt64 = 0
        // The bits of an `ObjectIdentifier`: an optional one would be half as large again.
        var type: UInt = 0
    }

    private var slots: [Slot] = []
    private var count = 0
    /// How large the first table is: a power of two.
    var firstTable = 64
    // Most reads meet few records, which are compared one by one, without a table.
    private static let listed = 8

    mutating func insert(_ handle: Handle, _ type: ObjectIdentifier) -> Insertion {
        let new = Slot(handle: handle.rawValue, type: UInt(bitPattern: type))
        if count < Self.listed, slots.count <= Self.listed {
            if slots.isEmpty { slots.reserveCapacity(Self.listed) }
            for slot in slots where slot.handle == new.handle {
                return slot.type == new.type ? .known : .knownAsOther
            }
            slots.append(new)
            count += 1
            return .new
        }
        if slots.count <= Self.listed || count * 4 >= slots.count * 3 { grow() }
        return place(new)
    }

    private mutating func place(_ new: Slot) -> Insertion {
        let mask = slots.count - 1
        var index = Int(truncatingIfNeeded: (new.handle &* 0x9E37_79B9_7F4A_7C15) >> 20) & mask
        while slots[index].handle != 0 {
            if slots[index].handle == new.handle {
                return slots[index].type == new.type ? .known : .knownAsOther
            }
            index = (index + 1) & mask
        }
        slots[index] = new
        count += 1
        return .new
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(), count: max(firstTable, old.count * 4))
        count = 0
        for slot in old where slot.handle != 0 { _ = place(slot) }
    }
}

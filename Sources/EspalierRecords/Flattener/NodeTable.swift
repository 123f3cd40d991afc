/// The positions of a tree's nodes by identifier: open addressing, with a part of the hash beside
/// each index.
///
/// The table holds no identifiers, because the tree's entries do. A node costs one hash and one
/// probe, where a dictionary took three of each and a reference to the text.
package struct NodeTable: Sendable {
    /// Where an identifier is found, or goes.
    package struct Place {
        /// The identifier's node; nil where it has none.
        package let node: Int?
        fileprivate let slot: Int
        fileprivate let hash: UInt32
    }

    /// The hash in the upper half and index + 1 in the lower; 0 for a free slot.
    private var slots: [UInt64]
    private var count = 0

    /// Makes a table with room for `capacity` nodes before it grows.
    package init(capacity: Int = 31) {
        // A power of two, of which at most half of the slots are in use.
        slots = Array(
            repeating: 0, count: 2 << (Int.bitWidth - max(capacity, 31).leadingZeroBitCount))
    }

    /// Returns the place of `identifier`, which is valid until the next insertion.
    @inline(__always)
    mutating func place(of identifier: String, in nodes: [FlattenedTree.Entry]) -> Place {
        place(of: identifier) { nodes[$0].identifier.hasSameBytes(as: identifier) }
    }

    /// Returns the place of `identifier`, which is valid until the next insertion.
    ///
    /// - Parameter isNode: Whether the identifier is that of a node.
    @inline(__always)
    package mutating func place(of identifier: String, isNode: (Int) -> Bool) -> Place {
        if count * 2 >= slots.count { grow() }
        return search(for: identifier, isNode)
    }

    /// Returns the node of `identifier`; nil if there is none.
    func node(of identifier: String, in nodes: [FlattenedTree.Entry]) -> Int? {
        search(for: identifier) { nodes[$0].identifier.hasSameBytes(as: identifier) }.node
    }

    @inline(__always)
    private func search(for identifier: String, _ isNode: (Int) -> Bool) -> Place {
        let hash = UInt32(truncatingIfNeeded: identifier.bytesHash >> 32)
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot] != 0 {
            if slots[slot] >> 32 == hash {
                let node = Int(UInt32(truncatingIfNeeded: slots[slot])) - 1
                if isNode(node) {
                    return Place(node: node, slot: slot, hash: hash)
                }
            }
            slot = (slot + 1) & mask
        }
        return Place(node: nil, slot: slot, hash: hash)
    }

    /// Inserts the nodes of another table, which have other identifiers.
    ///
    /// - Parameter node: Returns the new index of a node; nil to leave it out.
    mutating func insert(_ other: NodeTable, _ node: (Int) -> Int?) {
        for entry in other.slots where entry != 0 {
            guard let new = node(Int(UInt32(truncatingIfNeeded: entry)) - 1) else { continue }
            if count * 2 >= slots.count { grow() }
            let hash = UInt32(truncatingIfNeeded: entry >> 32)
            insert(new, at: Place(node: nil, slot: freeSlot(for: hash), hash: hash))
        }
    }

    private func freeSlot(for hash: UInt32) -> Int {
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        return slot
    }

    var byteCount: Int { slots.count * 8 }

    @inline(__always)
    package mutating func insert(_ node: Int, at place: Place) {
        slots[place.slot] = UInt64(place.hash) << 32 | UInt64(UInt32(node + 1))
        count += 1
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: 0, count: old.count * 4)
        for entry in old where entry != 0 {
            slots[freeSlot(for: UInt32(truncatingIfNeeded: entry >> 32))] = entry
        }
    }
}

/// The nodes that a record refers to, each once. The ordinal of a child is its position here.
struct ChildList {
    /// Memory that the next list uses again; valid up to `count`.
    private var room: [Int] = []
    private var count = 0
    private var largest = -1
    /// The ordinals of the first of many nodes. The rest is entered when one is searched for.
    private var ordinals: [Int: Int] = [:]

    /// Returns the ordinal of `node`, and adds the node if it is referred to for the first time.
    mutating func ordinal(of node: Int) -> Int {
        // Nodes are numbered as they are met: a new one comes after all others and needs no search.
        guard node <= largest else {
            largest = node
            return append(node)
        }
        if count <= 8 {
            if let ordinal = room[..<count].firstIndex(of: node) { return ordinal }
        } else {
            for ordinal in ordinals.count..<count { ordinals[room[ordinal]] = ordinal }
            if let ordinal = ordinals[node] { return ordinal }
        }
        return append(node)
    }

    @inline(__always)
    private mutating func append(_ node: Int) -> Int {
        if count < room.count { room[count] = node } else { room.append(node) }
        count += 1
        return count - 1
    }

    var nodes: [Int] { Array(room[..<count]) }

    /// Appends the nodes to `array`.
    func copy(to array: inout [Int]) {
        guard count > 0 else { return }
        array.append(contentsOf: room[..<count])
    }

    mutating func removeAll() {
        guard count > 0 else { return }
        count = 0
        largest = -1
        if !ordinals.isEmpty { ordinals.removeAll(keepingCapacity: true) }
    }
}

/// Where the nodes of a tree stand, by identifier: open addressing, with a part of the hash beside
/// each index.
///
/// It holds no identifiers, the drafts do. A node costs one hash and one probe, where a dictionary
/// took three of each and a reference to the text.
struct NodeTable {
    /// Where an identifier is found, or goes.
    struct Place {
        /// Its node; nil where it has none.
        let node: Int?
        fileprivate let slot: Int
        fileprivate let hash: UInt32
    }

    /// Hash and index + 1 in the upper and the lower half; 0 where the slot is free.
    private var slots: [UInt64]
    private var count = 0

    /// Has room for `capacity` nodes before it grows.
    init(capacity: Int = 31) {
        // A power of two; at most half of the slots are taken.
        slots = Array(
            repeating: 0, count: 2 << (Int.bitWidth - max(capacity, 31).leadingZeroBitCount))
    }

    /// The place of `identifier`; of use until another one is taken.
    @inline(__always)
    mutating func place(of identifier: String, in nodes: [FlattenedTree.Entry]) -> Place {
        if count * 2 >= slots.count { grow() }
        let hash = UInt32(truncatingIfNeeded: identifier.bytesHash >> 32)
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot] != 0 {
            if slots[slot] >> 32 == hash {
                let node = Int(UInt32(truncatingIfNeeded: slots[slot])) - 1
                if nodes[node].identifier.hasSameBytes(as: identifier) {
                    return Place(node: node, slot: slot, hash: hash)
                }
            }
            slot = (slot + 1) & mask
        }
        return Place(node: nil, slot: slot, hash: hash)
    }

    @inline(__always)
    mutating func take(_ place: Place, for node: Int) {
        slots[place.slot] = UInt64(place.hash) << 32 | UInt64(UInt32(node + 1))
        count += 1
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: 0, count: old.count * 4)
        let mask = slots.count - 1
        for entry in old where entry != 0 {
            var slot = Int(entry >> 32) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = entry
        }
    }
}

import EspalierRecords

/// The names that a transaction has added to the index or removed from it, until they are applied.
///
/// A hash table over one array of bytes: a feed adds some 650 names, and a dictionary would
/// allocate memory for each.
struct PendingNames {
    private struct Name {
        let start: Int
        let count: Int
        let hash: UInt64
        var handle: Handle
        var mayBeCut: Bool
        /// Whether the name is still to be added.
        var isAdded: Bool
    }

    private var bytes: [UInt8] = []
    private var names: [Name] = []
    /// The positions in `names` plus 1; 0 for a free slot. Their number is a power of two, at least
    /// one and a half times that of the names.
    private var slots: [UInt32] = []
    /// The keys of stored entries that are to be removed, by their handles.
    private var removed: [Handle: [[UInt8]]] = [:]
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Returns what a name that was added leads to.
    func added(_ key: [UInt8]) -> IndexGroup.Match? {
        guard !names.isEmpty, let position = position(of: key, Self.hash(key)).name else {
            return nil
        }
        let name = names[position]
        return name.isAdded ? IndexGroup.Match(handle: name.handle, isWhole: true) : nil
    }

    /// Returns whether a stored entry that leads to `handle` is to be removed.
    func isRemoved(_ handle: Handle) -> Bool { !removed.isEmpty && removed[handle] != nil }

    mutating func add(_ key: [UInt8], _ handle: Handle, mayBeCut: Bool) {
        count += 1
        if slots.count * 2 <= names.count * 3 + 3 { grow() }
        let hash = Self.hash(key)
        let found = position(of: key, hash)
        if let position = found.name {
            names[position].handle = handle
            names[position].mayBeCut = mayBeCut
            names[position].isAdded = true
            return
        }
        names.append(
            Name(
                start: bytes.count, count: key.count, hash: hash, handle: handle,
                mayBeCut: mayBeCut, isAdded: true))
        bytes += key
        slots[found.slot] = UInt32(names.count)
    }

    /// Removes the name that leads to `handle`, whether it is stored or was added.
    mutating func remove(_ key: [UInt8], _ handle: Handle) {
        count += 1
        if !names.isEmpty, let position = position(of: key, Self.hash(key)).name,
            names[position].isAdded, names[position].handle == handle
        {
            names[position].isAdded = false
        }
        // The name may be stored as well: a repair adds names that may be there.
        removed[handle, default: []].append(key)
    }

    /// Returns all changes in the order of their keys, and forgets them.
    mutating func take() -> (removals: [IndexChange], additions: [IndexChange]) {
        var additions: [IndexChange] = []
        additions.reserveCapacity(names.count)
        for position in sortedPositions() where names[position].isAdded {
            let name = names[position]
            additions.append(
                IndexChange(
                    key: Array(bytes[name.start..<name.start + name.count]), handle: name.handle,
                    mayBeCut: name.mayBeCut))
        }
        var removals = removed.flatMap { handle, keys in
            keys.map { IndexChange(key: $0, handle: handle) }
        }
        removals.sort { $0.key.precedes($1.key) }
        self = PendingNames()
        return (removals, additions)
    }

    /// Returns the positions of all names, in the order of their keys.
    ///
    /// Sorts numbers made of the first 16 bytes of each key, because moving and comparing arrays
    /// took a twelfth of the time of a new feed.
    private func sortedPositions() -> [Int] {
        struct Head {
            var first: UInt64 = 0
            var second: UInt64 = 0
            let position: Int
        }
        var heads = names.indices.map { position -> Head in
            var head = Head(position: position)
            let (start, count) = (names[position].start, names[position].count)
            for offset in 0..<16 {
                let byte = offset < count ? UInt64(bytes[start + offset]) : 0
                if offset < 8 {
                    head.first = head.first << 8 | byte
                } else {
                    head.second = head.second << 8 | byte
                }
            }
            return head
        }
        heads.sort { a, b in
            if a.first != b.first { return a.first < b.first }
            if a.second != b.second { return a.second < b.second }
            return precedes(names[a.position], names[b.position])
        }
        return heads.map(\.position)
    }

    private func precedes(_ a: Name, _ b: Name) -> Bool {
        let limit = min(a.count, b.count)
        let common = bytes.commonCount(from: a.start, with: bytes, from: b.start, atMost: limit)
        guard common < limit else { return a.count < b.count }
        return bytes[a.start + common] < bytes[b.start + common]
    }

    // MARK: - The hash table

    /// Random in each process, so that an attacker can't choose names with equal hashes.
    private static let seed = UInt64.random(in: .min ... .max)

    private static func hash(_ key: [UInt8]) -> UInt64 { XXHash64.hash(key, seed: seed) }

    /// Returns the position of a name, and the slot in which it stands or belongs.
    private func position(of key: [UInt8], _ hash: UInt64) -> (name: Int?, slot: Int) {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            let position = Int(slots[slot]) - 1
            let name = names[position]
            if name.hash == hash, bytes[name.start..<name.start + name.count].elementsEqual(key) {
                return (position, slot)
            }
            slot = (slot + 1) & mask
        }
        return (nil, slot)
    }

    private mutating func grow() {
        slots = Array(repeating: 0, count: max(16, slots.count * 2))
        let mask = slots.count - 1
        for (position, name) in names.enumerated() {
            var slot = Int(truncatingIfNeeded: name.hash) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(position + 1)
        }
    }
}

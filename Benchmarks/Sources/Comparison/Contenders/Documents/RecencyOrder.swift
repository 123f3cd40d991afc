/// Names in the order in which they were used.
///
/// Uses are a queue, in which earlier uses of a name stay until they come to the front: a use costs
/// an entry, and the search for the least recently used name costs the entries that it skips.
struct RecencyOrder {
    private var lastUses: [String: Int] = [:]
    private var uses: [(name: String, use: Int)] = []
    private var front = 0
    private var clock = 0

    var count: Int { lastUses.count }

    func contains(_ name: String) -> Bool { lastUses[name] != nil }

    /// Makes a name the most recently used one, whether it is new or not.
    mutating func use(_ name: String) {
        clock += 1
        lastUses[name] = clock
        uses.append((name, clock))
        if uses.count - front > 2 * lastUses.count + 64 { forgetEarlierUses() }
    }

    /// Removes and returns the least recently used name.
    mutating func removeLeastRecentlyUsed() -> String? {
        while front < uses.count {
            let (name, use) = uses[front]
            front += 1
            guard lastUses[name] == use else { continue }
            lastUses[name] = nil
            if front > lastUses.count + 64 { forgetEarlierUses() }
            return name
        }
        return nil
    }

    private mutating func forgetEarlierUses() {
        uses = uses[front...].filter { lastUses[$0.name] == $0.use }
        front = 0
    }
}

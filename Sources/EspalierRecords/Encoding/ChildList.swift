/// The nodes that a record refers to, each once; a child's ordinal is its place here.
struct ChildList {
    /// Memory that is used again for the next list: of use up to `count`.
    private var room: [Int] = []
    private var count = 0
    private var largest = -1
    /// Of the first of many nodes; the rest is entered when one is looked for.
    private var ordinals: [Int: Int] = [:]

    /// The ordinal of `node`, given out now if it is referred to for the first time.
    mutating func ordinal(of node: Int) -> Int {
        // Nodes are numbered as they are met: one that has just been met comes after all others,
        // and needs no search.
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

    /// Puts the nodes at the end of `array`.
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

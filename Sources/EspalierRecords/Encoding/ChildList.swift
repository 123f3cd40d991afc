/// The nodes that a record refers to, each once; a child's ordinal is its place here.
struct ChildList {
    private(set) var nodes: [Int] = []
    private var largest = -1
    /// Of the first of many nodes; the rest is entered when one is looked for.
    private var ordinals: [Int: Int] = [:]

    /// The ordinal of `node`, given out now if it is referred to for the first time.
    mutating func ordinal(of node: Int) -> Int {
        // Nodes are numbered as they are met: one that has just been met comes after all others, and needs no search.
        guard node <= largest else {
            largest = node
            return append(node)
        }
        if nodes.count <= 8 {
            if let ordinal = nodes.firstIndex(of: node) { return ordinal }
        } else {
            for ordinal in ordinals.count..<nodes.count { ordinals[nodes[ordinal]] = ordinal }
            if let ordinal = ordinals[node] { return ordinal }
        }
        return append(node)
    }

    @inline(__always)
    private mutating func append(_ node: Int) -> Int {
        nodes.append(node)
        return nodes.count - 1
    }

    /// Puts the nodes at the end of `array`.
    func copy(to array: inout [Int]) {
        for index in nodes.indices { array.append(nodes[index]) }
    }

    mutating func removeAll() {
        guard !nodes.isEmpty else { return }
        nodes.removeAll(keepingCapacity: true)
        largest = -1
        if !ordinals.isEmpty { ordinals.removeAll(keepingCapacity: true) }
    }
}

/// Where a read is and has been: the records being decoded, their children, and all records met.
///
/// One value behind one property, so that a node costs few checks of exclusive access at run time.
struct Trail {
    /// The records being decoded, outermost first.
    private var path: [Handle] = []
    /// The children of the records being decoded, each record's as a run.
    var children: [Handle] = []
    private var visited = HandleSet()
    /// Records in memory of their own, each with the depth of the path it is lent at.
    private var owners: [(depth: Int, owner: RecordBuffer)] = []

    /// Whether the record was met before; nil if it is being decoded.
    mutating func visit(_ handle: Handle) -> Bool? {
        path.contains(handle) ? nil : visited.insert(handle)
    }

    /// Steps into a record. Returns where its children will stand.
    mutating func enter(_ handle: Handle, _ owner: RecordBuffer?) -> Int {
        path.append(handle)
        if let owner { owners.append((path.count, owner)) }
        return children.count
    }

    /// Steps out of the record whose children stand from `firstChild` on.
    mutating func leave(_ firstChild: Int) {
        if owners.last?.depth == path.count { owners.removeLast() }
        path.removeLast()
        dropChildren(from: firstChild)
    }

    mutating func dropChildren(from first: Int) { children.removeLast(children.count - first) }
}

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

    /// Steps into a record, unless it is being decoded: then the answer is nil. Tells whether it was met before.
    mutating func visit(_ handle: Handle) -> Bool? {
        if path.contains(handle) { return nil }
        path.append(handle)
        return visited.insert(handle)
    }

    /// Steps into a record that no record refers to.
    mutating func enter(_ handle: Handle) { path.append(handle) }

    /// Keeps the bytes of the record stepped into.
    mutating func keep(_ owner: RecordBuffer) { owners.append((path.count, owner)) }

    /// Steps out of a record that was not opened.
    mutating func turnBack() { path.removeLast() }

    /// Steps out of the record whose children stand from `firstChild` on.
    mutating func leave(_ firstChild: Int) {
        if owners.last?.depth == path.count { owners.removeLast() }
        path.removeLast()
        dropChildren(from: firstChild)
    }

    mutating func dropChildren(from first: Int) { children.removeLast(children.count - first) }
}

import EspalierRecords

/// The records that can be reached from one and lead back to it.
struct Cycle: Equatable {
    /// Its records, each with the references to it from among them. Empty when the record leads
    /// nowhere back.
    var references: [Handle: UInt64] = [:]

    /// Nil when more than `limit` records can be reached.
    static func through(
        _ start: Handle, limit: Int, children: (Handle) throws -> [Handle]
    ) rethrows -> Cycle? {
        var parents: [Handle: [Handle]] = [start: []]
        var open = [start]
        while let record = open.popLast() {
            for child in try children(record) {
                if parents[child] == nil {
                    guard parents.count < limit else { return nil }
                    open.append(child)
                }
                parents[child, default: []].append(record)
            }
        }
        var cycle = Cycle()
        open = [start]
        // Backwards, along what was reached: whatever is met leads to `start`.
        while let record = open.popLast() {
            guard cycle.references[record] == nil, let referring = parents[record],
                !referring.isEmpty
            else { continue }
            cycle.references[record] = UInt64(referring.count)
            open += referring
        }
        return cycle
    }
}

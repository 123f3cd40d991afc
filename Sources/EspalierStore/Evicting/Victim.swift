import EspalierRecords

/// What was evicted as one: a root, or the records of a cycle.
struct Victim: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let nameSpace: NameSpace
        let identifier: String
    }

    /// The time of its last access.
    let stamp: Stamp
    let reason: Eviction.Reason
    private(set) var entries: [Entry] = []
    private(set) var bytes = 0

    init(stamp: Stamp, reason: Eviction.Reason) {
        self.stamp = stamp
        self.reason = reason
    }

    mutating func add(_ record: Record) {
        if record.nameSpace != .segment {
            entries.append(Entry(nameSpace: record.nameSpace, identifier: record.identifier))
        }
        bytes += record.storedByteCount
    }
}

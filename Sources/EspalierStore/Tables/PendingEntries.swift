import EspalierRecords

/// What a transaction changes, by handle.
///
/// The handles of the transaction's new records are consecutive. Most entries of most writes are
/// theirs, and each is looked up twice, so they are kept in an array.
struct PendingEntries<Entry> {
    /// The handle of the first entry of `new`.
    private var first: UInt64 = 0
    private var new: [Entry?] = []
    private var others: [Handle: Entry] = [:]

    var isEmpty: Bool { new.isEmpty && others.isEmpty }

    mutating func reserveCapacity(_ count: Int) { new.reserveCapacity(new.count + count) }

    /// Adds the entry of a new record.
    mutating func insert(_ entry: Entry, at handle: Handle) {
        if new.isEmpty { first = handle.rawValue }
        if handle.rawValue == first &+ UInt64(new.count) {
            new.append(entry)
        } else {
            self[handle] = entry
        }
    }

    private func position(of handle: Handle) -> Int? {
        let offset = handle.rawValue &- first
        return offset < UInt64(new.count) ? Int(offset) : nil
    }

    subscript(handle: Handle) -> Entry? {
        get {
            if let position = position(of: handle) { return new[position] }
            return others.isEmpty ? nil : others[handle]
        }
        _modify {
            if let position = position(of: handle) {
                yield &new[position]
            } else {
                yield &others[handle]
            }
        }
    }

    /// Calls `body` with each entry, in no particular order.
    func forEach(_ body: (Handle, Entry) throws -> Void) rethrows {
        for (handle, entry) in others { try body(handle, entry) }
        for (offset, entry) in new.enumerated() {
            if let entry { try body(Handle(first + UInt64(offset)), entry) }
        }
    }

    /// The entries, in no particular order.
    var all: [(handle: Handle, entry: Entry)] {
        var all: [(handle: Handle, entry: Entry)] = []
        all.reserveCapacity(others.count + new.count)
        forEach { all.append(($0, $1)) }
        return all
    }

    mutating func removeAll() {
        new.removeAll(keepingCapacity: true)
        others.removeAll(keepingCapacity: true)
    }
}

import EspalierRecords

/// What a transaction has changed of one record's state.
struct CountsPage {
    /// What the keyspace holds; nil for the default.
    let stored: StateEntry?
    var entry: StateEntry
    let isNew: Bool
    var isRemoved = false
    /// What is stored can't be read: it has to be written anew, whatever it says.
    var isDamaged = false
}

/// The pages of a counts, by handle. Those of records made in the transaction stand in a row,
/// because their handles do: most pages of most writes, and looked up twice each.
struct CountsPages {
    /// The handle of the first of `new`.
    private var first: UInt64 = 0
    private var new: [CountsPage?] = []
    private var others: [Handle: CountsPage] = [:]

    mutating func reserveCapacity(_ count: Int) { new.reserveCapacity(new.count + count) }

    /// A record made in this transaction.
    mutating func insert(_ handle: Handle) {
        if new.isEmpty { first = handle.rawValue }
        let page = CountsPage(stored: nil, entry: .unreferenced, isNew: true)
        if handle.rawValue == first + UInt64(new.count) {
            new.append(page)
        } else {
            others[handle] = page
        }
    }

    private func place(of handle: Handle) -> Int? {
        let offset = handle.rawValue &- first
        return offset < UInt64(new.count) ? Int(offset) : nil
    }

    subscript(handle: Handle) -> CountsPage? {
        get {
            if let place = place(of: handle) { return new[place] }
            return others.isEmpty ? nil : others[handle]
        }
        _modify {
            if let place = place(of: handle) { yield &new[place] } else { yield &others[handle] }
        }
    }

    var all: [(handle: Handle, page: CountsPage)] {
        var all = others.map { (handle: $0.key, page: $0.value) }
        for (offset, page) in new.enumerated() {
            if let page { all.append((Handle(first + UInt64(offset)), page)) }
        }
        return all
    }

    mutating func removeAll() {
        new.removeAll(keepingCapacity: true)
        others.removeAll(keepingCapacity: true)
    }
}

import Synchronization

/// What records name by number, in memory: for readers of one generation a growing table.
///
/// A number never gets another meaning, so an entry is right for ever; what is missing, because
/// another process wrote it or the commit was a moment ago, is read from the reader's own snapshot.
/// Nothing enters before its commit.
final class NumberedTable<Element: Sendable>: Sendable {
    /// Numbers are dense at first; a cache that has gone through more than these reads the later
    /// ones anew.
    private let capacity: Int
    private let elements = Mutex<[Element?]>([])

    init(capacity: Int) { self.capacity = capacity }

    /// The table as it is, by number: a read takes it once and needs no lock for a record.
    var all: [Element?] { elements.withLock { $0 } }

    func add(_ element: Element, number: UInt64) {
        guard number < capacity else { return }
        elements.withLock { elements in
            let missing = Int(number) + 1 - elements.count
            if missing > 0 { elements.append(contentsOf: repeatElement(nil, count: missing)) }
            elements[Int(number)] = element
        }
    }

    func remove(_ number: UInt64) {
        elements.withLock { elements in
            if number < elements.count { elements[Int(number)] = nil }
        }
    }
}

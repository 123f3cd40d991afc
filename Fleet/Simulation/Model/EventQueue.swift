/// Events in the order of their times: a binary heap. Events of one time come in the order in which
/// they were added, so that a simulation always runs in the same way.
struct EventQueue<Event> {
    private struct Entry {
        let time: Int
        let number: Int
        let event: Event
    }
    private var heap: [Entry] = []
    private var added = 0

    var isEmpty: Bool { heap.isEmpty }

    mutating func add(_ event: Event, at time: Int) {
        added += 1
        let entry = Entry(time: time, number: added, event: event)
        heap.append(entry)
        var place = heap.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard Self.isBefore(entry, heap[parent]) else { break }
            heap[place] = heap[parent]
            place = parent
        }
        heap[place] = entry
    }

    /// Removes the earliest event, and returns it with its time in nanoseconds.
    mutating func next() -> (time: Int, event: Event)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return (first.time, first.event) }
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, Self.isBefore(heap[child + 1], heap[child]) { child += 1 }
            guard Self.isBefore(heap[child], last) else { break }
            heap[place] = heap[child]
            place = child
        }
        heap[place] = last
        return (first.time, first.event)
    }

    private static func isBefore(_ a: Entry, _ b: Entry) -> Bool {
        (a.time, a.number) < (b.time, b.number)
    }
}

/// Counts of times, in classes that differ by 3 %: millions of times take the memory of one page.
public struct TimeCounts: Sendable, Hashable {
    private var counts: [Int] = []
    /// The number of times.
    public private(set) var count = 0
    /// The longest time, in nanoseconds.
    public private(set) var longest = 0

    /// Makes counts without times.
    public init() {}

    /// Counts a time in nanoseconds.
    mutating func add(_ time: Int, count added: Int = 1) {
        // Each power of two has 32 classes.
        let exponent = max(5, Int.bitWidth - 1 - max(time, 1).leadingZeroBitCount)
        let index = (exponent - 5) * 32 + (max(time, 0) >> (exponent - 5))
        if index >= counts.count {
            counts += [Int](repeating: 0, count: index + 1 - counts.count)
        }
        counts[index] += added
        count += added
        longest = max(longest, time)
    }

    /// Returns the time below which a share of the times is, in nanoseconds; 0 without times.
    ///
    /// - Parameter share: From 0 to 1.
    public func time(at share: Double) -> Int {
        var rest = Int(Double(count) * share)
        for (index, number) in counts.enumerated() {
            rest -= number
            guard rest < 0 else { continue }
            let shift = max(0, index / 32 - 1)
            return (index - shift * 32) << shift
        }
        return longest
    }
}

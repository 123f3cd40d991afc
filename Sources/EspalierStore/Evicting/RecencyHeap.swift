import EspalierRecords

/// A place in `recency`: what it is ordered by.
struct RecencyEntry: Hashable, Comparable {
    let stamp: Stamp
    let handle: Handle

    static func < (a: RecencyEntry, b: RecencyEntry) -> Bool {
        (a.stamp, a.handle) < (b.stamp, b.handle)
    }
}

/// Listings, the oldest first: a binary heap.
struct RecencyHeap {
    private var listings: [RecencyEntry] = []

    var first: RecencyEntry? { listings.first }

    mutating func insert(_ listing: RecencyEntry) {
        listings.append(listing)
        var child = listings.count - 1
        while child > 0, case let parent = (child - 1) / 2, listings[child] < listings[parent] {
            listings.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() {
        listings.swapAt(0, listings.count - 1)
        listings.removeLast()
        var parent = 0
        while case let left = 2 * parent + 1, left < listings.count {
            let right = left + 1
            let child = right < listings.count && listings[right] < listings[left] ? right : left
            guard listings[child] < listings[parent] else { return }
            listings.swapAt(child, parent)
            parent = child
        }
    }
}

import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The heap of listings")
struct RecencyHeapTests {
    private func listing(_ random: inout SeededGenerator) -> RecencyEntry {
        // Few enough that stamps, and whole listings, come up more than once.
        RecencyEntry(stamp: Stamp(random.next() % 50), handle: Handle(random.next() % 20))
    }

    @Test(
        "always has the oldest first, as a sorted array would, equal ones as often as they were put in"
    )
    func order() {
        var random = SeededGenerator(quietly: 1)
        for round in 0..<200 {
            var heap = RecencyHeap()
            var sorted: [RecencyEntry] = []
            for _ in 0..<200 {
                // Some rounds fill it, some keep it nearly empty.
                if sorted.isEmpty || random.next() % 10 < 3 + UInt64(round % 5) {
                    let listing = listing(&random)
                    heap.insert(listing)
                    sorted.insert(
                        listing, at: sorted.firstIndex { listing < $0 } ?? sorted.endIndex)
                } else {
                    heap.removeFirst()
                    sorted.removeFirst()
                }
                guard heap.first == sorted.first else {
                    Issue.record("\(sorted)")
                    return
                }
            }
            while !sorted.isEmpty {
                guard heap.first == sorted.removeFirst() else {
                    Issue.record("\(sorted)")
                    return
                }
                heap.removeFirst()
            }
            #expect(heap.first == nil)
        }
    }

    @Test("orders by stamp and then by handle, as the keyspace does")
    func ties() {
        var heap = RecencyHeap()
        for (stamp, handle) in [(2, 1), (1, 300), (1, 2), (0, 9), (1, 256)] as [(UInt64, UInt64)] {
            heap.insert(RecencyEntry(stamp: Stamp(stamp), handle: Handle(handle)))
        }
        var handles: [UInt64] = []
        while let first = heap.first {
            handles.append(first.handle.rawValue)
            heap.removeFirst()
        }
        #expect(handles == [9, 2, 256, 300, 1])
    }
}

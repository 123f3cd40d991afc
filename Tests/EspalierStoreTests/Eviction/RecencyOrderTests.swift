import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The heap of recency entries")
struct RecencyHeapTests {
    private func entry(_ random: inout SeededGenerator) -> RecencyEntry {
        // Few enough values that stamps, and whole entries, occur more than once.
        RecencyEntry(stamp: Stamp(random.next() % 50), handle: Handle(random.next() % 20))
    }

    @Test("A recency heap has the same entry first as a sorted array, and keeps duplicates")
    func order() {
        var random = SeededGenerator(quietly: 1)
        for round in 0..<200 {
            var heap = RecencyHeap()
            var sorted: [RecencyEntry] = []
            for _ in 0..<200 {
                // Some rounds fill the heap, and some keep it nearly empty.
                if sorted.isEmpty || random.next() % 10 < 3 + UInt64(round % 5) {
                    let entry = entry(&random)
                    heap.insert(entry)
                    sorted.insert(
                        entry, at: sorted.firstIndex { entry < $0 } ?? sorted.endIndex)
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

    @Test("A recency heap orders by stamp and then by handle, as the keyspace does")
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
